import math
import time

import pytest

from arena.base.definition import Definition, GameChoice, GameOpenings
from arena.base.enums import OpeningChoice
from arena.base.errors import KernelError
from arena.games import make_game
from arena.games.kernels import slips
from arena.games.kernels.playouts import PlayoutMargin
from arena.lab import openings as lab_openings
from arena.lab.openings import OpeningBalance, judged_margins, judged_sentence, opening_balance, opening_sentence
from arena.lab.oracle import Oracle
from arena.lab.solving.worth import Outcome
from arena.tournament.openings import openings
from tests.lab.games import after

FOUR = GameChoice(game="differences", options={"size": 4}, players=2)


@pytest.fixture(autouse=True)
def without_kernels(monkeypatch):
    monkeypatch.setattr(slips, "load", lambda name: KernelError("none in this test"))
    monkeypatch.setattr(lab_openings, "is_built", lambda game: False)


@pytest.mark.slow(only=("multiplication-options0-5-6",))
@pytest.mark.parametrize(
    ("name", "options", "plies", "count"),
    [("multiplication", {"size": 7}, 5, 6), ("plusminus", {"size": 3}, 2, 4), ("differences", {"size": 4}, 2, 20)],
)
def test_openings_are_counted_as_they_end_with_best_play(name, options, plies, count):
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
    found = OpeningBalance(openings=60, won=40, drawn=8, lost=2)
    assert sentence_of(found) == (
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


def test_without_a_kernel_or_time_nothing_is_known(monkeypatch):
    found = opening_balance(make_game("differences", size=4), "differences", [((1, 1),), ((1, 2),)], time.monotonic())
    assert (found.openings, found.known) == (2, 0)
    game = make_game("multiplication", size=11)
    assert judged_margins(game, [((1, 1),)], math.inf) == []
    monkeypatch.setattr(lab_openings, "is_built", lambda game: True)
    monkeypatch.setattr(lab_openings, "playout_margin", lambda *_: pytest.fail("asked"))
    assert judged_margins(game, [((1, 1),)], time.monotonic()) == []
    monkeypatch.setattr(lab_openings, "playout_margin", lambda _game, opening, seed: (opening, seed))
    assert judged_margins(game, "ab", math.inf) == [("a", 0), ("b", 1)]
