import json

import pytest

from tests.browser.conftest import built

pytestmark = pytest.mark.slow

SEEN = """() => ({
  board: [...document.querySelectorAll("#board > *")].map((one) => one.outerHTML.replaceAll("></use>", "/>")),
  label: document.querySelector("#board").getAttribute("aria-label"),
  box: document.querySelector("#board").getAttribute("viewBox"),
  seats: [...document.querySelectorAll("[data-seat]")].map((one) => [one.className, one.innerText]),
  current: [...document.querySelectorAll("#actions [aria-current]")].map((one) => one.innerText),
  links: [...document.querySelectorAll("#controls a")].map((one) => [one.getAttribute("href"), one.ariaDisabled]),
  said: document.querySelector("#said").innerText,
  note: document.querySelector("#note").textContent,
  lines: document.querySelector("#lines").textContent,
  text: document.querySelector("#text-board").textContent,
  ply: document.querySelector("#ply").innerText,
  cursor: document.querySelector("#scores .cursor")?.getAttribute("x1"),
  polylines: [...document.querySelectorAll("#scores polyline")].map((one) => one.getAttribute("points")),
  worth: document.querySelector("#worth").textContent,
  worths: [...document.querySelectorAll("#worths line")].map((one) =>
    ["class", "x1", "x2", "y1", "y2"].map((name) => one.getAttribute(name))),
  choices: [...document.querySelectorAll("#choices tr")].map((one) => one.textContent.replace(/\\s+/g, " ")),
  hidden: ["worth", "worth-chart", "choices", "chart"].map((name) => document.getElementById(name).hidden),
  here: document.querySelector("#here").getAttribute("href"),
})"""


@pytest.fixture
def page(chromium):
    context = chromium.new_context(reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture
def plain(chromium):
    context = chromium.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()


def last_ply(page):
    return int(page.locator("#ply").inner_text().split()[-1])


def ply(page):
    return int(page.locator("#ply").inner_text().split()[1])


@pytest.mark.parametrize("match", ["league/matches/1", "three/matches/2", "forfeits/matches/7"])
def test_scripts_show_of_each_ply_what_the_server_shows(page, plain, site, match):
    address = f"{site}/tournaments/{match}"
    built(address)
    page.goto(address)
    page.locator("[data-go=first]").click()
    for number in range(last_ply(page) + 1):
        assert ply(page) == number
        plain.goto(f"{address}?ply={number}")
        by_script, by_server = page.evaluate(SEEN), plain.evaluate(SEEN)
        by_server["links"] = [link for link in by_server["links"] if link]
        assert by_script == by_server
        if number < last_ply(page):
            page.locator("[data-go=next]").click()


def test_keys_step_wherever_the_viewer_has_the_focus(page, site):
    built(f"{site}/tournaments/league/matches/1")
    page.goto(f"{site}/tournaments/league/matches/1")
    end = last_ply(page)
    page.keyboard.press("ArrowLeft")
    assert ply(page) == end - 1
    page.locator("#viewer").focus()
    for key, expected in (("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", end)):
        page.keyboard.press(key)
        assert ply(page) == expected
    page.keyboard.press("ArrowRight")
    assert ply(page) == end


def test_every_control_is_reached_and_used_by_the_tab_key_and_the_address_follows(page, site):
    page.goto(f"{site}/tournaments/league/matches/1?ply=2")
    page.locator("#viewer").focus()
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.dataset.go || document.activeElement.id"))
    expected = ["first", "back", "play", "next", "last", "slider", "here", "actions"]
    assert [one for one in seen if one][:8] == expected
    page.locator("[data-go=next]").focus()
    page.keyboard.press("Enter")
    assert ply(page) == 3
    page.locator("#actions [data-ply='1']").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/matches/1?ply=1")
    assert page.locator("#here").get_attribute("href") == "/tournaments/league/matches/1?ply=1"
    page.reload()
    assert ply(page) == 1


def test_space_plays_and_the_live_region_is_silent_meanwhile(page, site):
    page.clock.install()
    page.goto(f"{site}/tournaments/league/matches/1?ply=0")
    page.locator("#viewer").focus()
    page.keyboard.press(" ")
    assert page.locator("#play").inner_text() == "pause"
    assert page.locator("#said").get_attribute("aria-live") == "off"
    page.clock.run_for(1500)
    assert ply(page) == 2
    page.keyboard.press(" ")
    page.clock.run_for(5000)
    assert (ply(page), page.locator("#play").inner_text()) == (2, "play")
    assert page.locator("#said").get_attribute("aria-live") == "polite"


def test_a_swipe_and_the_slider_step(chromium, site):
    context = chromium.new_context(has_touch=True, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(f"{site}/tournaments/league/matches/1?ply=2")
    page.locator("#board").wait_for()  # a busy site first answers that the page loads
    swipe = """([from, to]) => {
      const board = document.querySelector("#board");
      const touch = (x) => new Touch({ identifier: 1, target: board, clientX: x, clientY: 300 });
      board.dispatchEvent(new TouchEvent("touchstart", { touches: [touch(from)], changedTouches: [touch(from)] }));
      board.dispatchEvent(new TouchEvent("touchend", { touches: [], changedTouches: [touch(to)] }));
    }"""
    page.evaluate(swipe, [300, 100])
    assert ply(page) == 3
    page.evaluate(swipe, [100, 300])
    page.evaluate(swipe, [100, 110])
    assert ply(page) == 2
    page.locator("#slider").fill("4")
    assert ply(page) == 4
    context.close()


def test_new_plies_appear_at_the_end_unless_the_visitor_has_stepped_back(page, site):
    """As when live.js replaces the data of a match that is being played."""
    page.goto(f"{site}/tournaments/league/matches/1")
    whole = json.loads(page.locator("#match-data").text_content())
    replace = """(data) => {
      const old = document.querySelector("#match-data"), next = old.cloneNode();
      next.textContent = JSON.stringify(data);
      old.replaceWith(next);
    }"""

    def cut(count):
        board = {**whole["board"], "frames": whole["board"]["frames"][: count + 1]}
        return {**whole, "plies": count, "positions": whole["positions"][: count + 1], "board": board}

    page.evaluate(replace, cut(2))
    page.wait_for_function("document.querySelector('#ply').textContent === 'ply 2 of 2'")
    page.evaluate(replace, cut(3))
    page.wait_for_function("document.querySelector('#ply').textContent === 'ply 3 of 3'")
    page.locator("[data-go=back]").click()
    page.evaluate(replace, whole)
    page.wait_for_function(f"document.querySelector('#ply').textContent === 'ply 2 of {whole['plies']}'")
    assert page.locator("#actions li").count() == whole["plies"]


def test_a_page_of_another_site_may_frame_only_the_embedded_one(page, site):
    headers = {}
    for query in ("", "?embed=1"):
        headers[query] = page.goto(f"{site}/tournaments/league/matches/1{query}").headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers[""]
    assert "frame-ancestors 'none'" not in headers["?embed=1"]
    assert page.locator("header, footer").count() == 0


BOTTOM = """() => Math.max(...["#board", "#controls", "#slide", ".seats:last-of-type"].map((one) =>
  document.querySelector(`#viewer ${one}`).getBoundingClientRect().bottom))"""

OWNED = """() => { for (const one of document.querySelectorAll(".seats .bot small")) one.append(" of quentin") }"""


@pytest.mark.parametrize(("width", "height"), [(1366, 657), (390, 664), (1920, 1080)])
def test_board_clocks_and_controls_are_in_view_and_keys_work_at_once(chromium, site, width, height):
    page = chromium.new_context(viewport={"width": width, "height": height}).new_page()
    for match in ("three/matches/2", "league/matches/1"):
        built(f"{site}/tournaments/{match}")
        page.goto(f"{site}/tournaments/{match}")
        page.evaluate(OWNED)
        assert page.evaluate(BOTTOM) <= height, match
    page.keyboard.press("Home")
    assert ply(page) == 0
    page.keyboard.press("ArrowRight")
    assert ply(page) == 1
    assert page.evaluate("scrollY") == 0
    page.context.close()
