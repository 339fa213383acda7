import html
import json
import re

import pytest

from arena.base.names import is_name
from arena.site.publish.one_file import report_file
from tests.analysis.text.test_tables import HOSTILE
from tests.analysis.text.tournaments import play
from tests.browser.conftest import a_browser, expect
from tests.browser.visit import Visit

WIDTHS = (320, 390, 768, 1280, 2560)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def window():
    with a_browser() as browser:
        yield browser.new_page(viewport={"width": 2700, "height": 1200})


def result(window, tmp_path, text, probe, fragment=""):
    path = tmp_path / "page.html"
    open_page = re.sub(r"<meta http-equiv[^>]*>", "", text)
    path.write_text(open_page.replace("</body>", f"<pre id=probe></pre><script>{probe}</script></body>"))
    window.goto(f"{path.as_uri()}{fragment}")
    window.wait_for_function("document.getElementById('probe').textContent")
    return json.loads(window.locator("#probe").text_content())


@pytest.fixture(scope="module")
def page(home):
    return report_file(home, play(home, "league", ["alpha", "beta", "gamma"], encounters=2))


OPEN = """
const at = (id) => document.getElementById(id);
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const numbers = JSON.parse(at("match-index").textContent).matches;
const open = async (number) => {
  location.hash = `#match-${number}`;
  for (let tries = 0; at("viewer").dataset.match !== String(number) && tries < 200; tries += 1) await wait(10);
};
"""

SHAPES = f"""{OPEN}
(async () => {{
  const out = [];
  for (const number of numbers) {{
    await open(number);
    const board = at("board"), inside = board.getBBox(), box = board.viewBox.baseVal;
    const fits = inside.x >= box.x && inside.y >= box.y && inside.x + inside.width <= box.x + box.width;
    const last = board.querySelector(".last")?.tagName ?? null;
    out.push([number, at("ply").textContent, board.querySelectorAll("polygon").length, last, fits]);
    for (const name of ["first", "next", "back", "last"]) document.querySelector(`[data-go=${{name}}]`).click();
  }}
  document.querySelector("#list a[href='#match-3']").click();
  await wait(500);
  document.querySelector("[data-go=first]").click();
  at("actions").children[2].firstChild.click();
  out.push(at("viewer-title").textContent, at("ply").textContent);
  const filter = document.querySelector("[data-filters]");
  filter.value = "GAMMA"; filter.dispatchEvent(new Event("input")); out.push(at("found").textContent);
  at("probe").textContent = JSON.stringify(out);
}})().catch((error) => {{ at("probe").textContent = JSON.stringify(String(error)); }});
"""
GAMES = {
    "hex:Hex": ({"size": 4}, 4 * 4 + 4, "circle"),
    "reversi:Reversi": ({"size": 4}, 0, "rect"),
    "dots_and_boxes:DotsAndBoxes": ({"columns": 2, "rows": 2}, 0, "line"),
    "domineering:Domineering": ({"width": 4, "height": 4}, 0, None),
}
"""Their options, how many polygons there are on a board, and what outlines the last action."""


def test_every_match_can_be_opened_with_its_polygons_and_the_last_action_outlined(window, home, tmp_path):
    """Also one that ended before its first action. tests/browser/test_viewer.py tries keys and clocks of the script."""
    games = [(game, options) for game, (options, *_) in GAMES.items()]
    played = play(home, "games", ["alpha", "beta", "gamma"], games, failing=["beta"], opening_plies=0, encounters=4)
    expected = []
    for one in home.store.records(played):
        (_, polygons, outline), plies = GAMES[one.game], len(one.actions)
        expected.append([one.match, f"ply {plies} of {plies}", polygons, outline if plies else None, True])
    assert any(text == "ply 0 of 0" for _, text, *_ in expected)
    *opened, title, ply, found = result(window, tmp_path, report_file(home, played), SHAPES)
    assert opened == expected
    assert title.startswith("Match 3: ") and ply.startswith("ply 3 of ")
    assert found == f"{len(expected) * 2 // 3} of {len(expected)}"


SORT = """
const table = document.querySelector("#standings-table"), probe = document.getElementById("probe");
const heading = (text) => [...table.tHead.rows[0].cells].find((cell) => cell.textContent.startsWith(text));
const column = (text) => [...table.tBodies[0].rows].map((row) => row.cells[heading(text).cellIndex].textContent);
const out = [];
for (const text of ["bot", "bot", "score", "score", "rank"]) {
  const button = heading(text).querySelector("button");
  button.focus();
  document.activeElement.click();
  out.push([heading(text).getAttribute("aria-sort"), column(text), table.querySelectorAll("[aria-sort]").length]);
}
probe.textContent = JSON.stringify(out);
"""


def percents(texts):
    return [float(text.removesuffix("%")) for text in texts]


def test_a_table_sorts_by_each_heading_with_a_button(window, page, tmp_path):
    seen = result(window, tmp_path, page, SORT)
    (up, names, _), (down, back, _), (score_down, most, _), (score_up, least, _), (rank_up, ranks, _) = seen
    assert (up, [name.strip()[:2] for name in names]) == ("ascending", ["al", "be", "ga"])
    assert (down, back) == ("descending", names[::-1])
    assert (score_down, percents(most)) == ("descending", sorted(percents(most), reverse=True))
    assert (score_up, percents(least)) == ("ascending", sorted(percents(least)))
    assert (rank_up, ranks) == ("ascending", sorted(ranks))
    assert {number for *_, number in seen} == {1}


def test_the_page_s_policy_lets_its_own_script_run(window, page, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(page)
    window.goto(path.as_uri())
    expect(window.locator("#ply")).to_have_text("ply 5 of 5")
    assert window.locator("th > button").count() > 30
    strange = '<pre id="probe">no</pre><script>document.getElementById("probe").textContent = 1</script>'
    path.write_text(page.replace("</body>", f"{strange}</body>"))
    window.goto(path.as_uri())
    expect(window.locator("#ply")).to_have_text("ply 5 of 5")
    expect(window.locator("#probe")).to_have_text("no")


MEASURE = """
const frames = [...document.querySelectorAll("iframe")];
const named = (element) => [element.tagName, element.className, element.id, element.textContent.slice(0, 30)].join(" ");
function measured(frame) {
  const page = frame.contentDocument, width = page.documentElement.scrollWidth, out = [];
  if (width > frame.contentWindow.innerWidth) out.push(`the page is ${width} wide`);
  for (const element of page.querySelectorAll("body *")) {
    const box = element.getBoundingClientRect(), scroll = element.closest(".scroll");
    if (!box.width || element.closest("defs, symbol, .skip") || (scroll && scroll !== element)) continue;
    const card = element.closest(".card") ?? page.body, around = card.getBoundingClientRect();
    if (box.right > around.right + 1 || box.left < around.left - 1) out.push(named(element));
  }
  for (const card of frame.width < 1280 ? [] : page.querySelectorAll(".scroll"))
    if (card.scrollWidth > card.clientWidth) out.push("cut: " + card.getAttribute("aria-label"));
  for (const cell of page.querySelectorAll("th.who")) {
    const text = page.createRange();
    text.selectNodeContents(cell);
    if (text.getBoundingClientRect().right > cell.getBoundingClientRect().right + 1) out.push("cut: " + named(cell));
  }
  return out;
}
const measure = () => {
  const sizes = Object.fromEntries(frames.map((frame) => [frame.width, measured(frame)]));
  document.getElementById("probe").textContent = JSON.stringify(sizes);
};
addEventListener("load", () => setTimeout(measure, 500));
"""


def stuck_out(window, text, tmp_path):
    inner = html.escape(re.sub("<meta http-equiv[^>]*>", "", text))
    frames = "".join(f'<iframe width="{width}" height="900" srcdoc="{inner}"></iframe>' for width in WIDTHS)
    return result(window, tmp_path, f"<!DOCTYPE html><body>{frames}</body>", MEASURE)


def test_nothing_is_cut_at_any_width(window, home, tmp_path):
    """With names as long as they may be, and faults and notes of any text."""
    names = [*[name for name in HOSTILE if is_name(name)][:6], "x" * 64, "猫と犬の戦い" * 10]
    hostile = play(home, "y" * 64, names, failing=names, note="/" * 300, encounters=2)
    assert stuck_out(window, report_file(home, hostile), tmp_path) == {str(width): [] for width in WIDTHS}


def test_24_bots_fit_into_1280_pixels_without_scrolling_aside(window, home, tmp_path):
    names = [f"bot_of_player_{k}" for k in range(24)]
    league = play(home, "24 bots", names, game=[("differences", {"size": 3})], failing=names[:2])
    assert stuck_out(window, report_file(home, league, 20), tmp_path) == {str(width): [] for width in WIDTHS}


def test_all_numbers_fit_on_paper(window, page, tmp_path):
    (tmp_path / "page.html").write_text(page)
    visit = Visit(window, (tmp_path / "page.html").as_uri())
    assert visit.width_on_paper() == 718
    visit.end()
