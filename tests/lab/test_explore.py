import random

import pytest

from arena.base.errors import KernelError, UsageError
from arena.games import make_game
from arena.lab import openings as reach
from arena.lab.openings import Explorer, PlayedMatch, Results
from arena.lab.oracle import Oracle
from arena.lab.solving.limits import Limits
from arena.lab.solving.positions import symmetries_of
from arena.lab.solving.state_graph import Retrograde, explore
from arena.lab.solving.worth import value_of_margin


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
    corner = [PlayedMatch(actions=[(1, 1), (2, 3), (3, 2)], ranks=(1, 2))]
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


def no_kernel(_game):
    raise KernelError("none in this test")


@pytest.mark.parametrize(("name", "options", "plies", "is_beyond"), BEYOND)
def test_what_cannot_be_solved_is_known_from_numbers(name, options, plies, is_beyond, monkeypatch):
    monkeypatch.setattr(reach, "solver_of", no_kernel)
    reason = reach.beyond_reach_reason(make_game(name, **options), name, plies, 2**34)
    assert bool(reason) is is_beyond
    if reason:
        assert f"follow {plies} actions, a table of them takes " in reason
        assert reason.endswith(", and 1.0 GiB may be used")


@pytest.mark.parametrize(("needed_bytes", "is_beyond"), [(2**30, False), (2**30 + 1, True)])
def test_a_kernel_says_what_the_table_of_plusminus_takes(needed_bytes, is_beyond, monkeypatch):
    monkeypatch.setattr(reach, "_table_bytes", lambda _game, _state: needed_bytes)
    assert bool(reach.beyond_reach_reason(make_game("plusminus", size=10), "plusminus", 2, 2**34)) is is_beyond


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
