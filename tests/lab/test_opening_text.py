"""What `arena schedule` says of openings."""

import math
import time

import pytest

from arena.definition import Definition, GameChoice, GameOpenings
from arena.enums import OpeningChoice
from arena.errors import KernelError
from arena.games import make_game
from arena.lab import opening_worth
from arena.lab.kernels import slips
from arena.lab.opening_text import opening_sentence
from arena.lab.opening_worth import OpeningBalance, opening_balance
from arena.lab.oracle import Oracle
from arena.lab.worth import Outcome
from arena.tournament.openings import openings

FOUR = GameChoice(game="differences", options={"size": 4}, players=2)


@pytest.fixture(autouse=True)
def without_kernels(monkeypatch):
    monkeypatch.setattr(slips, "load", lambda name: KernelError("none in this test"))
    monkeypatch.setattr(opening_worth, "is_built", lambda game: False)


@pytest.mark.processes
@pytest.mark.parametrize(
    ("name", "options", "plies", "count"),
    [("multiplication", {"size": 7}, 5, 6), ("plusminus", {"size": 3}, 2, 4), ("differences", {"size": 4}, 2, 20)],
)
def test_openings_are_counted_as_they_end_with_best_play(name, options, plies, count):
    game = make_game(name, **options)
    coming = openings(game, plies, 1)
    drawn = [next(coming) for _ in range(count)]
    oracle = Oracle(game, name)
    outcomes = []
    for opening in drawn:
        state = game.initial_state()
        for action in opening:
            state = game.apply(state, action)
        outcomes.append(oracle.worth(state).outcome)
    found = opening_balance(game, name, drawn, math.inf)
    won, drawn, lost = map(outcomes.count, (Outcome.WIN, Outcome.DRAW, Outcome.LOSS))
    assert found == OpeningBalance(openings=count, won=won, drawn=drawn, lost=lost)


def test_what_there_is_no_time_for_is_not_known():
    game = make_game("differences", size=4)
    found = opening_balance(game, "differences", [((1, 1),), ((1, 2),)], time.monotonic())
    assert (found.openings, found.known) == (2, 0)


def said(found, games=(FOUR,), chosen=()):
    return opening_sentence(Definition(name="t", games=games, entrants=(), openings=chosen), 0, found)


def test_the_sentence_has_the_share_of_decided_openings_and_n():
    found = OpeningBalance(openings=60, won=40, drawn=8, lost=2)
    assert said(found) == (
        "openings: 84 % are won before the bots begin (n = 50 of 60: 40 by seat 0, 2 by seat 1; 8 are draws)"
    )
    whole = OpeningBalance(openings=3, won=2, drawn=1, lost=0)
    assert "(n = 3: 2 by seat 0, 0 by seat 1; 1 is a draw)" in said(whole, games=(FOUR, FOUR))
    assert said(whole, games=(FOUR, FOUR)).startswith("openings in differences: 67 % are won")
    chosen = (GameOpenings(choose=OpeningChoice.INFORMATION, lines=("a1",)),)
    assert said(whole, chosen=chosen).startswith("openings: 67 % of those that tell most are won")
    unknown = OpeningBalance(openings=1, won=0, drawn=0, lost=0)
    assert said(unknown) == "openings: who wins 1 opening is not found out in time (--within)"
