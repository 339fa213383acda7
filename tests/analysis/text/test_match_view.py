import re
from itertools import pairwise
from math import dist, inf, nan
from xml.etree import ElementTree

import pytest

from arena.analysis.text.board import Board
from arena.analysis.text.match_view import match_view
from arena.base.errors import GameError
from arena.games import Drawing, Game, hexagon, make_game
from arena.games.differences import Differences
from arena.games.drawing import drawing_problem, shape_problem
from arena.site.matches.boards import board_svg
from arena.site.matches.viewed_match import viewed_match
from tests.lab.played import record_of


def played(game, options, texts):
    rest = iter(texts)

    def choose(rules, state):
        text = next(rest, None)
        return rules.parse_action(text) if text else rules.legal_actions(state)[0]

    return record_of(game, options, choose)


def assert_no_board(message):
    ((_, _, _, _, text, _),) = match_view(played("differences", {"size": 3}, ()))["boards"][0]
    assert re.search(rf"^\(no board: the game 'differences' is at fault: drawing returned .*({message})", text)


def outlines(game, options, *texts):
    return viewed_match(played(game, options, texts), {}).board.outlines[1:]


def last_board(game, options):
    match = viewed_match(played(game, options, ()), {})
    return board_svg(match, match.plies)


def corners(shape):
    return list(zip(shape[1:-1:2], shape[2:-1:2], strict=True))


def test_hexagons_are_regular_and_share_their_sides():
    here, right, above = (corners(hexagon(x, y, "board")) for x, y in ((0, 0), (1, 0), (0.5, 0.866)))
    assert [dist(a, b) for a, b in pairwise([*here, here[0]])] == pytest.approx([1 / 3**0.5] * 6, abs=0.002)
    assert max(x for x, _ in here) - min(x for x, _ in here) == 1
    for neighbour in (right, above):
        assert len([(a, b) for a in here for b in neighbour if dist(a, b) < 0.003]) == 2


def test_a_swapped_stone_of_hex_is_a_mark_of_the_seat_that_swapped():
    view = match_view(played("hex:Hex", {"size": 3}, ("a3", "swap", "b2")))
    marks = [[shape for shape in view["boards"][ply] if shape[0] == "mark"] for ply in range(4)]
    assert [[(seat, label) for *_, seat, label in there] for there in marks] == [
        *([], [(0, "")], [(1, "")], [(1, ""), (0, "")])
    ]
    assert marks[1][0][:3] == marks[2][0][:3], "a3 is on the long diagonal"
    (_, x, y, radius, *_) = marks[3][1]
    assert outlines("hex:Hex", {"size": 3}, "a3", "swap", "b2")[2] == ("disc", x, y, 1.25 * radius, "last")


@pytest.mark.parametrize(
    ("game", "options", "action", "outline"),
    [
        ("reversi:Reversi", {"size": 4}, "d2", ("rect", 3.03, 1.03, 0.94, 0.94, "last")),
        ("dots_and_boxes:DotsAndBoxes", {}, "vc2", ("line", 2, 1, 2, 2, "last")),
        ("differences", {"size": 4}, "b3", ("rect", 1.03, 2.03, 0.94, 0.94, "last")),
        ("domineering:Domineering", {}, "b3", None),
    ],
)
def test_the_last_action_is_outlined_where_the_drawing_shows_it(game, options, action, outline):
    assert outlines(game, options, action)[0] == (outline and pytest.approx(outline))


@pytest.mark.slow(only=("hex:Hex",))
@pytest.mark.parametrize("game", ["hex:Hex", "reversi:Reversi", "dots_and_boxes:DotsAndBoxes"])
def test_boards_without_scripts_contain_all_that_is_drawn(game):
    rules = make_game(game)
    for svg in (last_board(game, {}), Board(rules, rules.initial_state()).svg()):
        tree = ElementTree.fromstring(svg)
        left, top, width, height = map(float, tree.get("viewBox").split())
        for polygon in (shape for shape in tree.iter() if shape.tag.endswith("polygon")):
            for point in polygon.get("points").split():
                x, y = map(float, point.split(","))
                assert left <= x <= left + width
                assert top <= y <= top + height
    assert len(re.findall("<polygon", last_board(game, {}))) == (125 if game == "hex:Hex" else 0)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (["disc", 1, 1, 0.3, "mark"], "is not a tuple that begins with 'rect', 'line', 'disc', 'polygon' or 'text'"),
        ((), "is not a tuple"),
        (("polygon", *range(202), "board"), "x and y of 3 to 100 corners"),
        (("text", 1, 1, 0.3, "number"), "does not have|has no text"),
        (("disc", 1, 1, "mark"), "the disc .* does not have 3 numbers before its style"),
        (("disc", 1, nan, 0.3, "mark"), "does not have 3 numbers"),
        (("line", 1, 1, True, 1, "path"), "the line .* does not have 4 numbers"),
        (("polygon", 0, 0, 1, 0, "board"), "the polygon .* does not have x and y of 3 to 100 corners"),
        (("polygon", 0, 0, 1, 0, 1, "board"), "the polygon .* does not have x and y"),
        (("polygon", (0, 0), (1, 0), (1, 1), "board"), "x and y of 3 to 100 corners"),
        (("text", 1, 1, 0.3, 7, "number"), "has no text of up to 1,000 characters before its style"),
        (("rect", 0, 0, 1, 1, 'board"/><script>'), "unknown style: expected board, label, mark, number, path or seat0"),
        (("disc", 1, 1, 0.3, "seatA"), "unknown style"),
    ],
)
def test_a_shape_that_cannot_be_drawn_is_the_mistake_of_the_game(shape, message, monkeypatch):
    assert re.search(message, shape_problem(shape))
    monkeypatch.setattr(Differences, "drawing", lambda game, state: Drawing(1, 1, (shape,)))
    assert_no_board(message)
    with pytest.raises(GameError, match="drawing"):
        Board(Differences(size=3), Differences(size=3).initial_state()).svg()


@pytest.mark.parametrize(
    ("drawing", "message"),
    [
        (Drawing(inf, 1, ()), r"the size \(inf, 1\) is not two numbers above 0 and up to 1,000,000"),
        (Drawing("<b>", None, ()), "the size"),
        (Drawing(1, 1, None), "the shapes None are not a tuple of up to 20,000"),
        (Drawing(1, 1, (("disc", 0, 0, 1, "mark"),) * 20_001), "the shapes .* are not a tuple of up to 20,000"),
        (Drawing(1, 1, (), (7,)), r"the notes \(7,\) are not a tuple of texts"),
        (Drawing(1, 1, (("line", 0, 0, 10**400, 1, "path"),)), "the line .* does not have 4 numbers"),
        (Drawing(1, 1, (("text", 0, 0, 1, "x" * 1001, "label"),)), "has no text of up to 1,000 characters"),
    ],
)
def test_a_drawing_that_no_page_can_show_is_the_mistake_of_the_game(drawing, message, monkeypatch):
    monkeypatch.setattr(Differences, "drawing", lambda game, state: drawing)
    assert_no_board(message)


def test_a_wrong_shape_is_found_though_an_equal_one_is_right():
    assert drawing_problem(Drawing(1, 1, (("disc", 1, 1, 0.3, "mark"),) * 2)) is None
    for wrong in (True, [1]):
        assert "does not have 3 numbers" in drawing_problem(Drawing(1, 1, (("disc", wrong, 1, 0.3, "mark"),)))


@pytest.mark.parametrize("style", ["board", "label", "mark", "number", "path", "text", "seat0", "seat63"])
def test_shapes_of_every_style_can_be_drawn(style, monkeypatch):
    shapes = (
        ("rect", 0, 0, 1, 1.5, style),
        ("line", 0, 0, 1, 1, style),
        ("disc", 0.5, 0.5, 0.3, style),
        ("polygon", 0, 0, 1, 0, 1, 1, style),
        ("text", 0.5, 0.5, 0.3, "<b>", style),
    )
    assert list(map(shape_problem, shapes)) == [None] * 5
    monkeypatch.setattr(Game, "drawing", lambda game, state: Drawing(1, 1, shapes))
    monkeypatch.delattr(Differences, "drawing")
    for svg in (last_board("differences", {"size": 3}), Board(Differences(), None).svg()):
        assert len(list(ElementTree.fromstring(svg))) >= 5
