import re

import pytest

from arena.store.home import ArenaHome
from tests.browser.conftest import SMALL_LADDER, expect, served
from tests.browser.visit import barriers

pytestmark = pytest.mark.slow

SMALL = {"differences": {"size": 4}, "plaid": {"width": 8, "height": 8, "lines": 6}, "plusminus": {"size": 4}}
READY = "#match:not([data-waiting])"
MINE = f"{READY}:has(#typed)"
LONG_MS = 60_000
SEEN_AGAIN = """() => ["hidden", "visible"].forEach((state) => {
  Object.defineProperty(document, "visibilityState", {value: state, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
})"""
"""Leaves the window and comes back: the page follows again, and is asked for."""
HEAR = """() => {
  const status = [...document.querySelectorAll("p.sr[role=status]")].pop();
  window.heard = [];
  const observer = new MutationObserver(() => heard.push(status.textContent));
  observer.observe(status, {childList: true, characterData: true, subtree: true});
}"""
"""Keeps what screen readers are told."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    directory = tmp_path_factory.mktemp("play-home")
    with ArenaHome(directory):
        pass
    (directory / "ladder.toml").write_text(SMALL_LADDER)
    with served(directory, "--open-to", "authors", "--ladder", directory / "ladder.toml") as address:
        yield address


def begin(page, site, game, bot="random_legal@1", seat="first", **options):
    page.goto(f"{site}/play")
    while page.get_by_role("link", name=game, exact=True).count() == 0:  # the play host is starting
        page.wait_for_timeout(250)
        page.reload()
    page.get_by_role("link", name=game, exact=True).click()
    page.get_by_label("Your opponent").select_option(f"{bot}, an example")
    page.get_by_label("You play").select_option(seat)
    page.get_by_label("Its time for each action").select_option("5.0")  # it needs little, but may have to wait for it
    for name, value in (SMALL[game] | options).items():
        page.locator(f"[name=option_{name}]").fill(str(value))
    page.get_by_role("button", name="Play", exact=True).click()
    page.locator(READY).wait_for(timeout=LONG_MS)


@pytest.fixture
def window(chromium):
    """Return what opens a window; the matches in them are resigned at the end, so that others find places."""
    opened = []

    def open_window(**options):
        opened.append(chromium.new_context(**options).new_page())
        return opened[-1]

    yield open_window
    for page in {page.url: page for page in opened}.values():  # two windows of one match end it once
        if not page.locator("#match").count():
            continue  # it was not begun
        page.locator(READY).wait_for(timeout=LONG_MS)
        if not is_over(page):
            page.get_by_role("button", name="Resign").click()
            page.locator("#turn:has-text('resigned')").wait_for()
    for page in opened:
        page.context.close()


def plies(page):
    return int(page.locator("#match").get_attribute("data-plies"))


def settled(page, before):
    page.locator(f"{READY}:not([data-plies='{before}'])").wait_for(timeout=LONG_MS)


def is_over(page):
    return page.get_by_role("button", name="Play again", exact=True).count() > 0


def by_pointer(page):
    page.locator(".place[value]").first.click()


def by_keyboard(page):
    if page.evaluate("!document.activeElement.matches('.place')"):
        page.locator(".place[tabindex='0']").focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown") * 8:
        if page.evaluate("Boolean(document.activeElement.value)"):
            break
        page.keyboard.press(key)
        if page.evaluate("!document.activeElement.value") and key == "ArrowDown":
            page.locator(".place[value]").first.focus()
    page.keyboard.press("Enter")


NARROW = {"viewport": {"width": 320, "height": 800}}


def nothing_bars_anybody(page):
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    for scheme in ("light", "dark"):
        assert barriers(page, scheme) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.parametrize(
    ("game", "act", "has_scripts"),
    [("plaid", by_pointer, False), ("differences", by_keyboard, True), ("plaid", by_keyboard, True)],
)
def test_a_whole_match(window, site, game, act, has_scripts):
    page = window(java_script_enabled=has_scripts, **(NARROW if act is by_keyboard else {}))
    messages = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    begin(page, site, game)
    while not is_over(page):
        before = plies(page)
        act(page)
        settled(page, before)
        if act is by_keyboard and before == 0:
            nothing_bars_anybody(page)
    expect(page.locator("#turn")).to_have_text(re.compile("wins|tie"))
    assert messages == []


def test_signs_without_a_board_are_buttons(window, site):
    page = window(**NARROW)
    begin(page, site, "plusminus")
    before = plies(page)
    page.locator("#legal").get_by_role("button", name="+", exact=True).click()
    settled(page, before)
    expect(page.locator(".actions li").first).to_contain_text("+")
    nothing_bars_anybody(page)


@pytest.mark.parametrize("has_scripts", [True, False])
def test_hint_undo_resign_and_again(window, site, has_scripts):
    page = window(java_script_enabled=has_scripts)
    begin(page, site, "differences")
    expect(page.get_by_role("button", name="Take back")).to_be_disabled()
    above = page.locator("#board").bounding_box()
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#answer")).to_contain_text("random_legal@1 would play", timeout=LONG_MS)
    assert page.locator("#board").bounding_box() == above
    page.get_by_label("action", exact=True).fill("b2")
    page.get_by_role("button", name="Play it").click()
    settled(page, 0)
    assert plies(page) == 2
    page.get_by_role("button", name="Take back").click()
    page.locator(f"{READY}[data-plies='0']").wait_for(timeout=LONG_MS)
    page.get_by_label("action", exact=True).fill("z99")
    page.get_by_role("button", name="Play it").click()
    expect(page.locator("#answer")).to_contain_text("z99: ", timeout=LONG_MS)
    page.get_by_role("button", name="Resign").click()
    expect(page.locator("#turn")).to_have_text("You resigned.")
    first = page.url
    page.get_by_role("button", name="Play again in the other seat").click()
    page.locator(f"{READY}[data-plies='1']").wait_for(timeout=LONG_MS)
    assert page.url != first
    expect(page.locator(".seats li.seat1")).to_contain_text("you")


def test_which_of_two_variations_was_enjoyed_more_is_asked_after_both(window, site):
    page = window(java_script_enabled=False, **NARROW)
    begin(page, site, "differences", size=6)
    for is_variation in (False, True):
        while not is_over(page):
            before = plies(page)
            by_pointer(page)
            settled(page, before)
        if not is_variation:
            page.get_by_label("a variation").select_option("scoring=once")
            page.get_by_role("button", name="Play a variation").click()
            page.locator(READY).wait_for(timeout=LONG_MS)
    page.get_by_role("button", name="This one (scoring = once)").click()
    expect(page.locator(".notice", has_text="vote")).to_have_text("Your vote counts: this one. You can change it.")
    scripted = window(**NARROW)
    scripted.goto(page.url)
    nothing_bars_anybody(scripted)


def test_what_can_not_be_played_is_marked_and_says_why_when_it_is_pressed(window, site):
    page = window()
    begin(page, site, "differences")
    page.get_by_label("action", exact=True).fill("b2")
    page.keyboard.press("Enter")
    settled(page, 0)
    expect(page.get_by_label("action", exact=True)).to_be_focused()
    refused = page.get_by_role("button", name="b3: column 2, row 3, empty", exact=True)
    expect(refused).to_have_class("place off")
    expect(refused).to_have_attribute("title", "column b already has a mark (rule 3)")
    above = page.locator("#board").bounding_box()
    refused.click(force=True)  # it is disabled
    expect(page.locator("#answer")).to_have_text("b3: column b already has a mark (rule 3).")
    assert page.locator("#board").bounding_box() == above
    assert plies(page) == 2


def test_screen_readers_hear_what_the_bot_did_and_whose_turn_it_is(window, site):
    page = window()
    begin(page, site, "differences")
    page.evaluate(HEAR)
    page.get_by_role("button", name="b2: column 2, row 2, empty", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("button", name="c3: column 3, row 3, empty", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    settled(page, 0)
    page.wait_for_function("heard.join(' ').includes('It is your turn.')")
    heard = page.evaluate("heard")
    assert "random_legal@1 plays" in " ".join(heard)
    assert "" not in heard  # a screen reader may not have spoken yet
    taken = page.get_by_role("button", name="c3: column 3, row 3, your 1", exact=True)
    expect(taken).to_be_focused()
    expect(taken).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Enter")
    assert plies(page) == 2


def test_a_page_that_is_no_news_leaves_what_is_being_typed_and_was_said(window, site):
    page = window()
    begin(page, site, "differences")
    page.get_by_role("button", name="Hint").click()
    messages = page.locator("p.sr[role=status]").last
    expect(messages).to_contain_text("random_legal@1 would play", timeout=LONG_MS)
    page.get_by_label("action", exact=True).fill("c")
    with page.expect_response(lambda response: response.url == page.url), page.expect_response("**/events"):
        page.evaluate(SEEN_AGAIN)
    page.wait_for_function("new Promise((done) => setTimeout(() => done(true)))")  # what came has been looked at
    expect(messages).to_contain_text("random_legal@1 would play")
    expect(page.get_by_label("action", exact=True)).to_have_value("c")


def test_a_finger_chooses_a_line_and_the_button_plays_it(window, site):
    page = window(viewport={"width": 320, "height": 700}, has_touch=True)
    begin(page, site, "plaid", width=60, height=60)
    box = page.locator("#board").bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.5)
    expect(page.locator("#typed")).to_have_value(re.compile("^[vh]"))
    chosen = page.locator("#typed").input_value()
    assert plies(page) == 0
    page.get_by_role("button", name="Play it").tap()
    settled(page, 0)
    expect(page.locator(".actions li").first).to_contain_text(chosen)


def test_the_match_is_there_again_in_another_window_which_follows_it(window, site):
    page = window()
    begin(page, site, "differences", size=7)
    page.locator(".place[value='b2']").click()
    settled(page, 0)
    other = window()
    other.goto(page.url)
    expect(other.locator(".said")).to_have_text(page.locator(".said").inner_text())
    other.locator(".place[value]").first.click()
    settled(other, 2)
    expect(page.locator("#match")).to_have_attribute("data-plies", "4", timeout=LONG_MS)  # nothing was pressed here


def test_a_window_that_can_not_follow_asks_while_the_bot_thinks_and_is_rejected_what_is_stale(window, site):
    page = window()
    page.route("**/events", lambda route: route.fulfill(status=503))
    begin(page, site, "differences", size=7)
    page.locator(".place[value='b2']").click()
    settled(page, 0)
    other = window()
    other.goto(page.url)
    other.locator(".place[value]").first.click()
    settled(other, 2)
    page.locator(".place[value]").last.click()  # of a position that is over
    expect(page.locator(".notice.bad")).to_contain_text("The match has gone on", ignore_case=True)
    assert plies(page) == plies(other) == 4
