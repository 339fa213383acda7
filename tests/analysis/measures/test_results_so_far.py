"""Results of a tournament that is being played: what was read before, with what has come since."""

import random

import numpy as np
import pytest

from arena.analysis.measures import result_pieces as results_so_far
from arena.analysis.measures.result_table import read_results
from arena.analysis.measures.schedule import seatings_of
from arena.store.home import ArenaHome
from arena.store.results.record_reader import RecordReader
from arena.tournament.corrections.corrected_tournament import void_matches
from arena.tournament.corrections.undoing import undo_correction
from tests.site.duels import bot
from tests.store.results.samples import definition, line, record

MATCHES = 120
LATEST = 8


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(results_so_far, "MIN_STEADY_MATCHES", 10)
    monkeypatch.setattr(results_so_far, "LATEST_MATCHES", LATEST)
    with ArenaHome(tmp_path / "home") as opened:
        entrants = tuple(bot(f"{letter}@1") for letter in "ab")
        opened.store.create_tournament(definition(entrants=entrants), map(line, range(1, MATCHES + 1)))
        yield opened


@pytest.fixture
def read_after(monkeypatch):
    """After which match results were read, each time."""
    columns, found = RecordReader.result_columns, []

    def reading(self, *args, after_match=0, **options):
        found.append(after_match)
        return columns(self, *args, after_match=after_match, **options)

    monkeypatch.setattr(RecordReader, "result_columns", reading)
    return found


def play(home, numbers, rng):
    rows = []
    for match in numbers:
        bots = rng.sample(["a@1", "b@1"], 2)
        ranks = rng.choice([[1, 2], [2, 1], [1, 1]])
        rows.append(record(match, encounter=(match + 1) // 2, bots=bots, ranks=ranks, actions=[[0, (match, 1)]]))
    home.store.record(home.store.tournament("t"), rows)


def values(table):
    arrays = (table.game, table.bots, table.ranks, table.rated, table.starts, table.occurrences)
    return (table.labels, table.games, *(np.asarray(array).tolist() for array in arrays))


def assert_right(home, game=None):
    """Compare with what is read by a store that has kept nothing."""
    with ArenaHome(home.directory) as fresh:
        assert values(read_results(home.store, "t", game)) == values(read_results(fresh.store, "t", game))


@pytest.mark.parametrize("seed", range(4))
def test_results_are_those_that_are_read_afresh(home, seed):
    """Matches end in any order, some of them long after later ones."""
    rng = random.Random(seed)
    to_play = list(range(1, MATCHES + 1))
    while to_play:
        chosen = [match for match in to_play[: 2 * LATEST] if rng.random() < 0.7]
        play(home, chosen, rng)
        to_play = [match for match in to_play if match not in chosen]
        assert_right(home, rng.choice([None, "differences", "plaid"]))


def test_only_later_matches_are_read_again(home, read_after):
    rng = random.Random(1)
    for first in range(1, MATCHES, 20):
        play(home, range(first, first + 20), rng)
        read_results(home.store, "t")
    assert read_after == [0, *(first - 1 - LATEST for first in range(21, MATCHES, 20))]


def test_a_correction_has_all_read_again(home, read_after):
    rng = random.Random(2)
    play(home, range(1, MATCHES + 1), rng)
    assert_right(home)
    void_matches(home.store, "t", [3, 4], reason="a test")
    assert_right(home)
    play(home, [3, 4], rng)
    assert_right(home)
    undo_correction(home.store, "t", 1, reason="a test")
    assert_right(home)


def test_seatings_are_those_of_the_schedule(home):
    assert home.store.seatings_counted("t") == seatings_of(home.store.schedule("t"))
