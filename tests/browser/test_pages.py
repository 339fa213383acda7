from urllib.parse import urlsplit

import html5lib
import pytest

from arena.site.links import ServedLinks, address_of
from arena.site.page_table import PAGE_BY_NAME
from arena.site.render import Setting, asset_digests, render_template
from tests.browser.conftest import built, expect, wait_until
from tests.browser.visit import SCHEMES, WIDTHS, Visit, barriers

pytestmark = pytest.mark.slow

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
