from math import gcd

import pytest

from arena.base.bot_text import OPERATOR
from arena.base.enums import Termination
from arena.base.errors import GameError
from arena.base.records import TimeControl
from arena.games import Drawing
from arena.games.checked_game import checked_game
from arena.games.differences import Differences
from arena.site.matches import viewed_match as match_boards
from arena.site.matches.match_model import Asked
from arena.site.matches.viewed_match import viewed_match
from tests.lab.played import at_random, random_record, record_of
from tests.site.matches import FULL, fault, record


def test_every_ply_is_there_with_its_scores_and_a_sentence_also_while_it_is_played():
    noted = record(FULL, notes=([2, {"depth": 9}],))
    shown = viewed_match(noted, {"alpha@1": "alpha", "beta@2": "beta"}, audience=OPERATOR)
    assert (shown.plies, shown.first_ply, shown.problem, shown.names) == (4, 0, "", ("alpha", "beta"))
    assert [position.text for position in shown.positions] == ["", "a1", "c2", "b4", "d3"]
    assert [position.due for position in shown.positions] == [0, 1, 0, 1, None]
    # heights 1 4 2 3 differ by 3 2 1; from the bottom row up the columns 1 3 4 2 by 2 1 2
    assert [position.scores for position in shown.positions] == [(0, 0), (0, 0), (0, 1), (2, 1), (3, 2)]
    assert [position.said for position in shown.positions] == [
        "The beginning; scores 0 : 0; alpha is to act.",
        "alpha plays a1; scores 0 : 0; beta is to act.",
        "beta plays c2; scores 0 : 1; alpha is to act.",
        "alpha plays b4; scores 2 : 1; beta is to act.",
        "beta plays d3; scores 3 : 2.",
    ]
    assert [position.notes for position in shown.positions] == [(), (), (), ("depth 9",), ()]
    asked = Asked(seat=0, since="2026-01-01T00:00:00+00:00", allowed_seconds=1.0)
    shown = viewed_match(record(FULL[:2]), {}, unfinished="This match is being played.", asked=asked)
    assert (shown.termination, shown.scores, shown.ranks) == (None, (), ())
    assert shown.result == "This match is being played."
    assert shown.asked.seat == 0


def test_marks_come_one_by_one_and_of_long_matches_and_large_boards_few_are_there(monkeypatch):
    board = viewed_match(record(FULL), {}).board
    come = [[board.shapes[number] for number in frame.come] for frame in board.frames[1:]]
    places = [(0.5, 0.5), (2.5, 1.5), (1.5, 3.5), (3.5, 2.5)]
    assert come == [[("mark", x, y, 0.34, ply % 2, str(ply + 1))] for ply, (x, y) in enumerate(places)]
    assert [frame.gone for frame in board.frames] == [()] * 5
    assert board.outlines[0] is None
    assert board.outlines[2] == pytest.approx(("rect", 2.03, 1.03, 0.94, 0.94, "last"))
    monkeypatch.setattr(match_boards, "MAX_POSITIONS", 3)
    shown = viewed_match(record(FULL), {}, ply=2)
    assert (shown.first_ply, [position.ply for position in shown.positions]) == (1, [1, 2, 3])
    marks = [board_marks(shown.board, index) for index in range(3)]
    assert marks == [["1"], ["1", "2"], ["1", "2", "3"]]
    assert [clock.wall_seconds for clock in shown.clocks] == [0.5, 0.0]
    too_much = Drawing(1, 1, (("disc", 0, 0, 1, "mark"),) * 20_001)
    monkeypatch.setattr(Differences, "drawing", lambda game, state: too_much)
    shown = viewed_match(record(FULL), {}, ply=2)
    assert [position.ply for position in shown.positions] == [2]
    assert "no board" in shown.board.shapes[0][4]


def test_clocks_count_up_and_banks_down():
    rules = TimeControl(per_action_seconds=None, bank_seconds=3.0, increment_seconds=0.1)
    shown = viewed_match(record(FULL, time_control=rules, wall_seconds=(None, 0.5, 1.0, 0.25)), {})
    seats = [(position.seat, position.clock and position.clock.wall_seconds) for position in shown.positions]
    assert seats == [(None, None), (0, 0.0), (1, 0.5), (0, 1.0), (1, 0.75)]
    banks = [position.clock.bank_seconds for position in shown.positions[1:]]
    assert banks == pytest.approx([3.0, 2.6, 2.1, 2.45])
    assert [clock.bank_seconds for clock in shown.clocks] == [3.0, 3.0]


@pytest.mark.parametrize(
    ("changed", "result"),
    [
        ({}, "beta wins 3 : 2."),
        ({"scores": (2, 2), "ranks": (1, 1)}, "alpha and beta tie 2 : 2."),
        (
            {"termination": Termination.FORFEIT, "faults": (fault(),), "ranks": (1, 2)},
            "alpha wins: beta forfeits (timeout at ply 2).",
        ),
        (
            {"termination": Termination.FORFEIT, "faults": (fault(0), fault(1))},
            "No bot played it to the end: alpha forfeits (timeout at ply 2) and beta forfeits (timeout at ply 2).",
        ),
        ({"termination": Termination.ADJUDICATION, "ply_limit": 4}, "beta wins 3 : 2, at the limit of 4 plies."),
    ],
)
def test_how_it_ended_is_a_sentence(changed, result):
    assert viewed_match(record(FULL, **changed), {"alpha@1": "alpha", "beta@2": "beta"}).result == result


def test_among_three_the_winner_is_named_with_the_others_and_since_when_it_was_ahead():
    """By the scores that the positions show."""
    names = {"alpha@1": "alpha", "beta@2": "beta", "gamma@3": "gamma"}
    played = record_of("multiplication", {"players": 3, "size": 10}, at_random(9), bots=tuple(names))
    scores, ranks = played.scores, played.ranks
    assert len(set(scores)) == 3
    shown = viewed_match(played, names)
    winner, second, third = sorted(range(3), key=lambda seat: ranks[seat])
    called = list(names.values())
    leads = [max(range(3), key=position.scores.__getitem__) for position in shown.positions]
    tied = [position.scores.count(max(position.scores)) > 1 for position in shown.positions]
    behind = [ply for ply, leader in enumerate(leads) if leader != winner or tied[ply]]
    assert shown.decided_ply == behind[-1] + 1
    assert shown.result == (
        f"{called[winner]} wins with {scores[winner]}, before {called[second]} {scores[second]} and {called[third]}"
        f" {scores[third]}. The winner was ahead from ply {behind[-1] + 1} on."
    )


@pytest.mark.parametrize(
    ("ranks", "said"), [((2, 2, 3), " wins 1 : 2 : 3."), ((3, 2, 1), "gamma wins with 3, before beta 2 and alpha 1.")]
)
def test_a_record_of_three_with_no_first_or_with_more_bots_than_seats_is_shown(ranks, said):
    names = {"alpha@1": "alpha", "beta@2": "beta", "gamma@3": "gamma"}
    shown = viewed_match(record(FULL, bots=tuple(names), scores=(1, 2, 3), ranks=ranks), names)
    assert (shown.result, shown.decided_ply) == (said, None)


class GoesOut(Differences):
    """A game of strangers that says wrong seats are out."""

    out = ()

    def seats_out(self, state):
        return self.out


@pytest.mark.parametrize("out", [{0}, 1, (51,), (True,), "ab"])
def test_seats_that_there_are_not_are_a_mistake_of_the_game(out, monkeypatch):
    monkeypatch.setattr(GoesOut, "out", out)
    path = f"{__name__}:GoesOut"
    assert viewed_match(record(FULL, game=path), {}).result == "beta@2 wins 3 : 2."
    game = checked_game(GoesOut(size=4), path)
    with pytest.raises(GameError, match="returned no tuple of seats from 0 to 1"):
        game.seats_out(game.initial_state())


def test_a_record_that_breaks_the_rules_is_shown_up_to_there():
    shown = viewed_match(record([*FULL[:2], [0, [1, 4]], [1, [4, 3]]]), {})
    assert [position.text for position in shown.positions] == ["", "a1", "c2"]
    assert "ply 2" in shown.problem
    assert shown.unplayed == ("[1, 4]", "[4, 3]")
    assert len(shown.board.frames) == 3
    for game in ("chess", "no.such.module:Game"):  # which is not here
        shown = viewed_match(record(FULL, game=game), {})
        assert shown.board is None
        assert game.partition(":")[0].partition(".")[0] in shown.problem
        assert (shown.plies, len(shown.positions), len(shown.unplayed)) == (4, 1, 4)


@pytest.mark.parametrize(("coming", "drawn"), [(17, 1000), (40, 17)])
def test_boards_that_are_too_large_are_fewer(monkeypatch, coming, drawn):
    """A board of four by four has 15 shapes, and one more with each mark."""
    monkeypatch.setattr(match_boards, "MAX_COMING_SHAPES", coming)
    monkeypatch.setattr(match_boards, "MAX_DRAWN_SHAPES", drawn)
    shown = viewed_match(record(FULL), {}, ply=2)
    assert [position.ply for position in shown.positions] == [1, 2]
    assert len(shown.board.frames) == len(shown.board.outlines) == 2


def board_marks(board, index):
    there = set()
    for frame in board.frames[: index + 1]:
        there = (there | set(frame.come)) - set(frame.gone)
    return sorted(board.shapes[number][-1] for number in there if board.shapes[number][0] == "mark")


@pytest.mark.parametrize("seed", range(4))
def test_it_says_who_was_eliminated_when_and_by_whom(seed):
    """The first number beside one that it shares a factor with, found here by the squares alone."""
    played = random_record("coprimality", seed, size=6)
    numbers = {(1, 6): 1}
    for ply, (seat, (x, y)) in enumerate(played.actions, 1):
        numbers[x, y] = number = len(numbers) + 1
        beside = [numbers.get(square, 1) for square in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))]
        if any(gcd(number, other) > 1 for other in beside):
            expected = f"{('alpha', 'beta')[seat]} was eliminated at ply {ply}, by its own {'abcdef'[x - 1]}{y}."
            break
    shown = viewed_match(played, {"a@1": "alpha", "b@1": "beta"}).result
    assert shown.endswith(f". {expected}")
