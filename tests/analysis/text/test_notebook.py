import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from arena import Board, crosstable_of, make_game, standings_of, states_of
from arena.analysis.text import notebook
from arena.analysis.text.board import NEUTRAL, SEAT_COLOURS
from arena.analysis.text.notebook import BAD, GOOD
from arena.games import Drawing
from tests.analysis.text.test_tournament_page import NAMES, Page
from tests.analysis.text.tournaments import FOUR, play
from tests.site.test_parts import contrast, mixed, rgb

GAMES = {
    "plusminus": {"size": 5},
    "plaid": {"lines": 6},
    "coprimality": {"size": 7, "players": 3},
    "differences": {"size": 5},
    "multiplication": {"size": 7},
}


def values(home, name):
    records = home.store.records(name)
    return [standings_of(home.store, name), crosstable_of(home.store, name), records, records.first(1)[0]]


def shown(value):
    page = Page(value._repr_html_())
    assert page.mismatches == [] and page.open == []
    return page


class Printer:
    """What IPython gives to ``_repr_pretty_``."""

    def __init__(self):
        self.written = ""

    def text(self, text):
        self.written += text


def printed(value):
    printer = Printer()
    value._repr_pretty_(printer, False)
    return printer.written


def test_print_shows_what_a_console_shows(home, league):
    """The ``repr`` stays that of the class, without the thousands of numbers that ratings are made of."""
    for value in values(home, "league"):
        assert str(value) == printed(value) != repr(value)
    assert 0 < len(repr(standings_of(home.store, "league"))) < 5000
    standings, crosstable, records, record = (printed(value) for value in values(home, "league"))
    assert re.search(r"^rank +bot +exposure", standings, re.MULTILINE)
    assert re.search(r"^1 +\w+ +-", crosstable, re.MULTILINE)
    assert records.startswith("36 records\n") and len(records.splitlines()) == 12
    assert record.startswith("league/1: differences, ") and "\n" not in record


def test_standings_have_their_verdict_a_crosstable_is_shaded_and_of_records_the_ends_are_shown(home, league):
    table = standings_of(home.store, "league")
    page = shown(table)
    assert page.texts[0].endswith("told apart.") or "clearly" in page.texts[0]
    assert len(page.all("svg")) == 4
    assert all(name in page.text for name in FOUR)
    assert f"{table.lines[0].rating.mu:.1f}" in page.text
    assert "36 of 36 matches." in page.text
    table = crosstable_of(home.store, "league")
    page = shown(table)
    cells = [attributes for tag, attributes in page.elements if tag == "td" and "title" in attributes]
    assert len(cells) == 12
    best, *_, last = table.shown_names
    score = table.scores[best, last]
    assert f"{score.points:g} of {score.matches}" in {cell["title"] for cell in cells}
    for cell in cells:
        red, opacity = re.search(r"background:rgba\((\d+),.*,([\d.]+)\)", cell["style"]).groups()
        points, matches = map(float, cell["title"].split(" of "))
        assert float(opacity) == round(abs(points / matches - 0.5), 2)
        assert int(red) == rgb(GOOD if points / matches > 0.5 else BAD)[0]
    page = shown(home.store.records("league"))
    assert "36 records" in page.text and "… 26 more" in page.text
    assert re.findall(r"league/(\d+)", page.text) == [*map(str, range(1, 6)), *map(str, range(32, 37))]
    assert shown(home.store.records("league", game="plaid")).text.startswith("match")


@pytest.mark.parametrize(
    ("count", "expected"), [(1, [1]), (10, [*range(1, 11)]), (11, [1, 2, 3, 4, 5, 7, 8, 9, 10, 11])]
)
def test_few_records_are_shown_once(home, count, expected, monkeypatch):
    name = f"few {count}"
    play(home, name, FOUR[:2], encounters=6)
    records = home.store.records(name)
    all_of_them = records.first(count)
    monkeypatch.setattr(type(records), "__len__", lambda _: count)
    monkeypatch.setattr(type(records), "last", lambda _, wanted: all_of_them[count - wanted :])
    monkeypatch.setattr(type(records), "first", lambda _, wanted: all_of_them[:wanted])
    assert [int(match) for match in re.findall(rf"{name}/(\d+)", shown(records).text)] == expected


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_a_board_and_a_match(home, game):
    options = GAMES[game]
    name = f"match of {game}"
    play(home, name, FOUR[: options.get("players", 2)], [(game, options)])
    record = home.store.record_of(name, 1)
    page = shown(record)
    found = len([svg for svg in page.all("svg") if svg.get("aria-label", "").startswith("board")])
    assert found == len(record.actions) + 1
    assert all(bot in page.text for bot in record.bots)
    board = Board(*list(states_of(record))[-1])
    assert ElementTree.fromstring(board._repr_svg_()).tag == "{http://www.w3.org/2000/svg}svg"
    assert shown(board).all("svg")
    assert printed(board) == board.game.render(board.state)


def test_the_marks_of_a_match_have_owner_and_order_and_a_long_one_shows_its_ends(home, monkeypatch):
    play(home, "marks", FOUR[:2])
    record = home.store.record_of("marks", 1)
    end = record._repr_html_().partition("<details>")[0]
    circles, squares = (
        len(re.findall(f"<{tag}[^>]*{SEAT_COLOURS[seat]}", end)) for seat, tag in enumerate(("circle", "polygon"))
    )
    seats = [seat for seat, _ in record.actions]
    assert (circles, squares) == (1 + seats.count(0), 1 + seats.count(1)), "and one beside each bot's name"
    assert {str(number) for number in range(1, len(seats) + 1)} <= set(Page(end).texts)
    play(home, "long", FOUR[:2], [("differences", {"size": 9})])
    record = home.store.record_of("long", 1)
    monkeypatch.setattr(notebook, "MAX_FRAMES_CHARACTERS", 30_000)
    page = shown(record)
    assert "The board after the first and the last 2 of 9 actions" in page.text
    assert re.findall(r"board after action (\d+)", page.source) == ["1", "2", "8", "9"]


def test_a_game_that_is_not_here_leaves_the_result_and_its_name_is_nothing_but_text(home, league, monkeypatch):
    record = home.store.record_of("league", 1)
    page = shown(replace(record, game="gone:<b>Game"))
    assert "alpha@1" in page.text and "gone:<b>Game" in page.text and "can not be drawn" in page.text
    assert "(size 5, scoring distinct)" in page.text
    records = home.store.records("league")
    monkeypatch.setattr(type(records), "first", lambda _, count: [replace(record, game="gone:<b>Game")])
    for one in (page, shown(records)):
        assert "<b>Game" not in one.source


@pytest.mark.slow
def test_a_large_table_is_bounded(home, league):
    table = standings_of(home.store, "league")
    large = replace(table, lines=table.lines[:1] * 1000)
    assert "… 957 more" in shown(large).text
    assert len(large._repr_html_()) < 70_000
    assert "… 957 more" in printed(large) and len(printed(large)) < 10_000


def test_ipython_shows_the_html_and_the_short_text(home, league):
    formatters = pytest.importorskip("IPython.core.formatters", reason="needs ipykernel")
    for value in values(home, "league"):
        data, _ = formatters.DisplayFormatter().format(value)
        assert data == {"text/html": value._repr_html_(), "text/plain": printed(value)}


def test_nothing_that_a_bot_says_is_more_than_text(home):
    """The same tournament with plain names has the same elements with the same attributes."""
    play(home, "<b>&\"' ]]>", NAMES[:8], failing=NAMES[:4], note="</script><script>alert(1)</script><!--")
    play(home, "plain", [f"bot{k}" for k in range(8)], failing=[f"bot{k}" for k in range(4)], note="x")
    for hostile, plain in zip(values(home, "<b>&\"' ]]>"), values(home, "plain"), strict=True):
        kinds = [
            sorted({(tag, *sorted(attributes)) for tag, attributes in shown(value).elements})
            for value in (hostile, plain)
        ]
        assert kinds[0] == kinds[1]


def test_a_text_on_a_board_is_nothing_but_text_and_control_characters_are_escaped(home):
    game = make_game("differences", size=3)
    game.drawing = lambda state: Drawing(3, 3, (("text", 1, 1, 0.4, "</text><script>", "label"),), ("</pre><b>",))
    page = shown(Board(game, game.initial_state()))
    assert {tag for tag, _ in page.elements} == {"div", "svg", "text", "pre"}
    assert "</text><script>" in page.texts and "</pre><b>" in page.texts
    play(home, "controls", FOUR[:2], failing=["alpha"], note="\x1b[31m\u202eevil", encounters=6)
    faulty = next(record for record in home.store.records("controls") if record.faults)
    record = replace(faulty, bots=("\x1b[31m\u202eevil@1", "b@1"))
    for text in (record._repr_html_(), printed(record)):
        assert "\x1b" not in text and "\u202e" not in text and r"\x1b[31m\u202eevil" in text


def test_a_fragment_needs_nothing_from_elsewhere_and_leaves_nothing_behind(home, league):
    """No script, style sheet or id: a notebook may remove them, and ids of two outputs would clash."""
    for value in [*values(home, "league"), Board(make_game("plaid"), make_game("plaid").initial_state())]:
        page = shown(value)
        assert not {tag for tag, _ in page.elements} & {"script", "style", "link", "img", "iframe", "use"}
        assert not any("id" in attributes or "href" in attributes for _, attributes in page.elements)
        assert "url(" not in page.source


def test_colours_are_visible_on_light_and_dark_paper():
    """WCAG 2.2: graphics need 3 to 1 (1.4.11), text 4.5 (1.4.3), also on shaded cells; numbers on marks are white."""
    for paper, ink in (("#ffffff", "#000000"), ("#111111", "#ffffff")):
        assert all(contrast(rgb(colour), rgb(paper)) >= 4 for colour in (*SEAT_COLOURS, NEUTRAL, GOOD, BAD))
        assert all(contrast(rgb(ink), mixed(colour, paper, 0.5)) >= 4.5 for colour in (GOOD, BAD))
    assert all(contrast(rgb(colour), rgb("#ffffff")) >= 4 for colour in (*SEAT_COLOURS, NEUTRAL))
