import json
from urllib.parse import urlsplit

import html5lib
import pytest

from arena.site.links import ServedLinks, address_of
from arena.site.page_table import PAGE_BY_NAME
from arena.site.render import Setting, asset_digests, render_template
from tests.browser.conftest import built, expect, wait_until
from tests.browser.visit import SCHEMES, WIDTHS, Visit, barriers

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


def last_ply(page):
    return int(page.locator("#ply").inner_text().split()[-1])


def ply(page):
    return int(page.locator("#ply").inner_text().split()[1])


@pytest.mark.parametrize("match", ["league/matches/1", "three/matches/2", "forfeits/matches/7"])
def test_scripts_show_of_each_ply_what_the_server_shows(page, chromium, site, match):
    address = f"{site}/tournaments/{match}"
    plain = chromium.new_page(java_script_enabled=False)
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


LEAGUE = {"tournament": "league"}

EXAMPLES = {
    "overview": [{}],
    "tournament": [LEAGUE, *({"tournament": name} for name in ("forfeits", "swiss", "cup", "three"))],
    "matches": [{"tournament": "forfeits", "fault": "protocol"}, {**LEAGUE, "bot": "alpha", "rival": "beta"}],
    "match": [{**LEAGUE, "match": 1}, {"tournament": "three", "match": 2}, {"tournament": "forfeits", "match": 7}],
    "puzzles": [LEAGUE, {"tournament": "cup"}],
    "puzzle": [{**LEAGUE, "puzzle": 1, "action": "c3"}, {**LEAGUE, "puzzle": 2, "action": "b2", "answer": True}],
    "today": [{}],
    "games": [{}],
    "game": [{"game": "differences", "options": "size=5", "actions": "b3 d4"}, {"game": "plaid", "actions": "v20"}],
    "why": [{**LEAGUE, "bot": "alpha@1"}, {"tournament": "forfeits", "bot": "<b>bold</b>@1"}],
    "bots": [{}],
    "bot": [{"bot": "alpha"}, {"bot": "beta@1"}, {"bot": "<b>bold</b>"}],
    "person": [{"person": "ada"}],
    "versus": [{"bot": "<b>bold</b>", "rival": "100%? #1 & so"}],
    "leaderboards": [{}],
    "leaderboard": [{"game": "differences"}],
    "health": [{}],
}
"""Parameters of pages of the home that the fixtures make, by the name of the page."""

PAGES = [
    pytest.param(address_of(PAGE_BY_NAME[name], values), id=f"{name}-{number}")
    for name, examples in EXAMPLES.items()
    for number, values in enumerate(examples)
]


def test_every_page_has_an_example():
    assert set(EXAMPLES) == set(PAGE_BY_NAME)


def window_of(**options):
    @pytest.fixture(scope="module")
    def window(chromium):
        context = chromium.new_context(**options)
        yield context.new_page()
        context.close()

    return window


window, window_of_visits, window_without_scripts = window_of(), window_of(), window_of(java_script_enabled=False)


@pytest.fixture(params=PAGES, scope="module")
def visit(request, window_of_visits, site):
    built(site + request.param)
    visit = Visit(window_of_visits, site + request.param)
    yield visit
    visit.end()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_nothing_bars_anybody(visit, scheme):
    assert barriers(visit.page, scheme) == []


def test_a_page_fits_every_width(visit):
    assert visit.too_narrow() == []
    assert visit.width_on_paper() == 718
    assert visit.spills() == []
    blocks = "[...document.querySelectorAll('summary > *')].filter(one => getComputedStyle(one).display === 'block')"
    assert visit.page.evaluate(f"{blocks}.length") == 0, "the mark of a summary is in a line of its own"
    if visit.page.evaluate("[...document.querySelectorAll('details.folded')].filter(one => one.open = true).length"):
        assert visit.too_narrow() == []
        visit.page.evaluate("document.querySelectorAll('details.folded').forEach(one => one.open = false)")


@pytest.mark.parametrize("width", WIDTHS[::2])
def test_a_table_says_how_many_columns_are_out_of_sight(window, site, width):
    address = f"{site}/tournaments/league"
    built(address)
    window.set_viewport_size({"width": width, "height": 900})
    window.goto(address)
    table = window.locator("#standings .scroll")
    box = table.bounding_box()
    boxes = [heading.bounding_box() for heading in table.locator("thead th").all()]
    count = sum(one["x"] + one["width"] > box["x"] + box["width"] + 1 for one in boxes)
    assert (count > 0) == (width <= 768)
    hint_text = f"scroll for {count} more column{'s' * (count > 1)} →" if count else ""
    expect(table).to_have_attribute("data-hidden", hint_text)
    assert hint_text in table.evaluate("(table) => getComputedStyle(table, '::after').content")
    table.evaluate("(table) => table.scrollTo(table.scrollWidth, 0)")
    expect(table).to_have_attribute("data-hidden", "")
    assert table.bounding_box()["height"] == box["height"]


def test_the_marks_of_actions_are_explained_where_there_are_any(window, site):
    address = f"{site}/tournaments/league/matches/1"
    built(address)
    window.goto(address)
    legend = window.locator(".actions + .marks")
    expect(legend).to_be_hidden()
    window.evaluate("document.querySelector('#actions b').insertAdjacentHTML('afterend', '<em>??</em>')")
    expect(legend).to_be_visible()
    expect(legend).to_contain_text("?? changes the outcome")


def test_a_page_is_valid_html_asks_for_nothing_elsewhere_and_complains_of_nothing(visit, site):
    html5lib.HTMLParser(strict=True).parse(visit.text)
    assert {urlsplit(url).netloc for url in visit.asked} == {urlsplit(site).netloc}
    assert visit.console == []
    assert visit.requests <= 10


def test_a_page_says_the_same_without_scripts(visit, window_without_scripts):
    window_without_scripts.goto(visit.page.url)
    shown, plain = (
        [" ".join(text.split()) for text in page.locator("h1, h2, p.verdict, table caption").all_inner_texts()]
        for page in (visit.page, window_without_scripts)
    )
    assert shown == plain != []


def test_a_page_that_is_being_computed_outlives_its_server(site, chromium):
    pending = render_template("pending", Setting(links=ServedLinks(asset_digests())), room="", twin=None)
    answers, is_looked_at = ["pending", "away", "away", "pending"], []

    def answer(route):
        match answers.pop(0) if answers else "there" if is_looked_at else "pending":
            case "pending":
                route.fulfill(status=202, body=pending, content_type="text/html", headers={"retry-after": "1"})
            case "away":
                route.abort("connectionrefused")
            case _:
                route.continue_()

    page = chromium.new_page()
    page.route(f"{site}/games", answer)
    page.goto(f"{site}/games")
    page.evaluate("window.isFirst = true")
    wait_until(page, lambda: not answers)
    assert page.evaluate("window.isFirst"), "it is still there, and not the browser's page of errors"
    is_looked_at.append(True)
    expect(page.locator("h1")).to_have_text("Games")
    page.close()
