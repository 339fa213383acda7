import math
import random
import time
from unittest.mock import Mock

import pytest

from arena.base.definition import Definition, GameChoice, GameOpenings
from arena.base.enums import OpeningChoice
from arena.base.errors import KernelError, UsageError
from arena.games import make_game
from arena.games.kernels import slips
from arena.games.kernels.playouts import PlayoutMargin
from arena.lab import openings as lab_openings
from arena.lab.openings import (
    Explorer,
    OpeningBalance,
    PlayedMatch,
    Results,
    judged_margins,
    judged_sentence,
    opening_balance,
    opening_sentence,
)
from arena.lab.oracle import Oracle
from arena.lab.solving.limits import Limits
from arena.lab.solving.positions import symmetries_of
from arena.lab.solving.state_graph import Retrograde, explore
from arena.lab.solving.worth import Outcome, value_of_margin
from arena.tournament.openings import openings
from tests.lab.games import after

FOUR = GameChoice(game="differences", options={"size": 4}, players=2)


@pytest.fixture
def without_kernels(monkeypatch):
    monkeypatch.setattr(slips, "load", lambda name: KernelError("none in this test"))
    monkeypatch.setattr(lab_openings, "is_built", lambda game: False)


@pytest.mark.slow(only=("multiplication-options0-5-6",))
@pytest.mark.parametrize(
    ("name", "options", "plies", "count"),
    [("multiplication", {"size": 7}, 5, 6), ("plusminus", {"size": 3}, 2, 4), ("differences", {"size": 4}, 2, 20)],
)
def test_openings_are_counted_as_they_end_with_best_play(without_kernels, name, options, plies, count):
    game = make_game(name, **options)
    coming = openings(game, plies, 1)
    drawn = [next(coming) for _ in range(count)]
    oracle = Oracle(game, name)
    outcomes = [oracle.worth(after(game, opening)).outcome for opening in drawn]
    found = opening_balance(game, name, drawn, math.inf)
    won, drawn, lost = map(outcomes.count, (Outcome.WIN, Outcome.DRAW, Outcome.LOSS))
    assert found == OpeningBalance(openings=count, won=won, drawn=drawn, lost=lost)


def sentence_of(found, games=(FOUR,), chosen=()):
    return opening_sentence(Definition(name="t", games=games, entrants=(), openings=chosen), 0, found)


def test_the_sentence_has_the_share_of_decided_openings_and_what_playouts_say_its_error():
    assert sentence_of(OpeningBalance(openings=60, won=40, drawn=8, lost=2)) == (
        "openings: 84 % are won before the bots begin (n = 50 of 60: 40 by seat 0, 2 by seat 1; 8 are draws)"
    )
    whole = OpeningBalance(openings=3, won=2, drawn=1, lost=0)
    assert "(n = 3: 2 by seat 0, 0 by seat 1; 1 is a draw)" in sentence_of(whole, games=(FOUR, FOUR))
    assert sentence_of(whole, games=(FOUR, FOUR)).startswith("openings in differences: 67 % are won")
    chosen = (GameOpenings(choose=OpeningChoice.INFORMATION, lines=("a1",)),)
    assert sentence_of(whole, chosen=chosen).startswith("openings: 67 % of those that tell most are won")
    unknown = OpeningBalance(openings=1, won=0, drawn=0, lost=0)
    assert sentence_of(unknown) == "openings: who wins 1 opening is not found out in time (--within)"
    # The error of the mean of two is hypot(0.3, 0.4) / 2; Student's t with 19 degrees of freedom is 2.093.
    margins = [PlayoutMargin(mean=3.0, error=0.3), PlayoutMargin(mean=-1.0, error=0.4)]
    assert judged(2, margins) == (
        "openings: chosen by random playouts, as too many states follow them to be solved; in 4,000 playouts from each"
        " (n = 2) seat 0 is ahead by +1.00 (± 0.52) points in the mean, from single openings by -1.00 (± 0.84) to"
        " +3.00 (± 0.63); this is judged, and not what they are worth with best play"
    )
    assert "(n = 2 of 9) seat 0" in judged(9, margins)
    assert judged(9, [], games=(FOUR, FOUR)).startswith("openings in differences: chosen by random playouts")
    assert judged(9, []).endswith("how far those end apart is not found out in time (--within)")


def judged(openings, margins, games=(FOUR,)):
    return judged_sentence(Definition(name="t", games=games, entrants=()), 0, openings, margins)


def test_without_a_kernel_or_time_nothing_is_known(without_kernels, monkeypatch):
    found = opening_balance(make_game("differences", size=4), "differences", [((1, 1),), ((1, 2),)], time.monotonic())
    assert (found.openings, found.known) == (2, 0)
    game = make_game("multiplication", size=11)
    assert judged_margins(game, [((1, 1),)], math.inf) == []
    monkeypatch.setattr(lab_openings, "is_built", lambda game: True)
    monkeypatch.setattr(lab_openings, "playout_margin", lambda *_: pytest.fail("asked"))
    assert judged_margins(game, [((1, 1),)], time.monotonic()) == []
    monkeypatch.setattr(lab_openings, "playout_margin", lambda _game, opening, seed: (opening, seed))
    assert judged_margins(game, "ab", math.inf) == [("a", 0), ("b", 1)]


def tree(plies=2, matches=(), name="differences", within=60, **options):
    first_lines = Explorer(make_game(name, **({"size": 3} | options)), name, matches, plies, within).lines()
    return [line for first in first_lines for line in first.all_lines()]


@pytest.mark.parametrize(
    ("size", "first", "second"),
    [(3, 4, 9), (4, 4, 36)],  # Burnside: (9 + 3 + 3 + 1) / 4, 9 * 4 / 4; 16 / 4, 16 * 9 / 4
)
def test_there_is_one_line_for_all_that_are_the_same_by_symmetry(size, first, second):
    lines = tree(size=size)
    assert [sum(len(one.actions) == plies for one in lines) for plies in (1, 2)] == [first, second]
    assert len({one.actions for one in lines}) == len(lines)


def test_lines_are_worth_what_a_table_says_and_without_time_nothing():
    game = make_game("differences", size=3, scoring="once")
    table = Retrograde(explore(game, "differences", Limits()))
    for one in tree(3, scoring="once"):
        state = game.initial_state()
        for action in one.actions:
            before, state = state, game.apply(state, action)
        assert value_of_margin(one.worth.margin) == table.value(state)
        assert one.is_best == (table.value(state) == table.value(before))
    lines = tree(1, size=5, scoring="once", within=0.0)
    assert {(one.worth, one.is_best) for one in lines} == {(None, None)}


def test_matches_are_counted_up_to_symmetry():
    corner = [PlayedMatch(actions=[[1, 1], [2, 3], [3, 2]], ranks=(1, 2))]  # as in records
    other_corner = [PlayedMatch(actions=[(3, 1), (2, 3), (1, 2)], ranks=(2, 1))] * 2
    middle = [PlayedMatch(actions=[(2, 2), (1, 1), (3, 3)], ranks=(1, 1))]
    lines = {one.actions: one.results for one in tree(2, corner + other_corner + middle) if one.results.played}
    assert lines == {
        ((1, 1),): Results(played=3, won=1, lost=2),
        ((1, 1), (2, 3)): Results(played=3, won=1, lost=2),
        ((2, 2),): Results(played=1, drawn=1),
        ((2, 2), (1, 1)): Results(played=1, drawn=1),
    }
    assert next(iter(lines)) == ((1, 1),)  # what was played most comes first
    assert all(one.results.played or one.is_best for one in tree(2, corner))


def test_a_tree_that_is_too_large_and_a_game_for_three_are_refused(monkeypatch):
    monkeypatch.setattr("arena.lab.openings.MAX_LINES", 12)
    monkeypatch.setattr(Oracle, "actions", lambda *_: pytest.fail("asked"))
    with pytest.raises(UsageError, match="--plies 2: the tree has more than 12 lines; expected fewer plies"):
        tree(2)
    with pytest.raises(UsageError, match="players = 3: only a game for two"):
        tree(1, name="coprimality", players=3)


BEYOND = [
    ("plusminus", {"size": 12}, 2, True),
    ("plaid", {}, 9, False),  # three lines are left
    ("multiplication", {"size": 13}, 3, True),
    ("differences", {"size": 20}, 3, False),  # a strategy proves some of the lines
    ("differences", {"size": 3}, 7, False),
    ("coprimality", {"size": 40}, 1, False),  # a search ends there, however large the board
]


@pytest.mark.parametrize(("name", "options", "plies", "is_beyond"), BEYOND)
def test_what_cannot_be_solved_is_known_from_numbers(name, options, plies, is_beyond, monkeypatch):
    monkeypatch.setattr(lab_openings, "solver_of", Mock(side_effect=KernelError("none in this test")))
    reason = lab_openings.beyond_reach_reason(make_game(name, **options), name, plies, 2**34)
    assert bool(reason) is is_beyond
    if reason:
        assert f"follow {plies} actions, a table of them takes " in reason
        assert reason.endswith(", and 1.0 GiB may be used")


@pytest.mark.parametrize(("needed_bytes", "is_beyond"), [(2**30, False), (2**30 + 1, True)])
def test_a_kernel_says_what_the_table_of_plusminus_takes(needed_bytes, is_beyond, monkeypatch):
    monkeypatch.setattr(lab_openings, "_table_bytes", lambda _game, _state: needed_bytes)
    assert bool(lab_openings.beyond_reach_reason(make_game("plusminus", size=10), "plusminus", 2, 2**34)) is is_beyond


# a symmetric first action, and the symmetric rest of a match, give every seat the same score
GAMES = [
    ("differences", {"size": 6}, 3),
    ("multiplication", {"size": 7}, 1),
    ("multiplication", {"size": 10, "players": 3}, 1),
    ("coprimality", {"size": 5}, 1),
    ("plusminus", {"size": 4}, 0),
    ("plaid", {"width": 6, "height": 6, "lines": 5}, 0),
]


@pytest.mark.parametrize(("name", "options", "count"), GAMES, ids=str)
def test_a_mirrored_match_has_the_same_scores(name, options, count):
    game = make_game(name, **options)
    maps = symmetries_of(game, name)
    assert len(maps) == count
    rng = random.Random(5)
    for mirror in maps * 20:
        state = mirrored = game.initial_state()
        while not game.is_over(state):
            action = rng.choice(game.legal_actions(state))
            state, mirrored = game.apply(state, action), game.apply(mirrored, mirror(action))
            assert game.scores(state) == game.scores(mirrored)
        assert game.is_over(mirrored)
