"""Ladders that somebody enters while they are played: what was counted is not counted again."""

import random
from dataclasses import replace

import pytest

from arena.definition import Absence
from arena.store.store import Store
from arena.store.tournament_reader import TournamentReader
from arena.tournament.control import Order, RunControl
from arena.tournament.director import run_tournament
from arena.tournament.formats import field_of, format_of
from benchmarks.ladder_shares import Clock, SimulatedExecutor, ladder_of
from tests.tournament.test_formats import played

NAMES = tuple(f"e{k}" for k in range(10))
SECONDS = {f"{name}@1": 1.0 for name in NAMES}


@pytest.fixture
def rows_read(monkeypatch):
    """Counts the rows that are read of tournaments."""
    counted = [0]
    read = TournamentReader._rows

    def counting(self, query):
        rows = read(self, query)
        counted[0] += len(rows)
        return rows

    monkeypatch.setattr(TournamentReader, "_rows", counting)
    return lambda: counted[0]


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "arena.sqlite3")
    yield opened
    opened.close()


class Rounds(RunControl):
    """Lets a run play some rounds; ``entering`` says with how many entrants each of them begins."""

    def __init__(self, rows_read):
        self._rows_read = rows_read
        self.left = 0
        self.rows = []

    def order(self):
        return Order.PLAY if self.left else Order.DRAIN

    def play(self, store, entrants, rounds):
        """Play rounds with so many entrants; return the rows that were read before each."""
        self.left, self.rows = rounds, []

        def refresh():
            self.left -= 1
            self.rows.append(self._rows_read())
            return ladder_of(NAMES[:entrants]) if len(self.rows) == 1 else None

        executor = SimulatedExecutor(Clock(), SECONDS, 1)
        before = ladder_of(NAMES[: entrants - 1])
        run_tournament(before, store, executor=executor, refresh=refresh, control=self)
        return [after - before for before, after in zip(self.rows, self.rows[1:], strict=False)]


@pytest.mark.slow
def test_who_enters_costs_no_row_of_earlier_matches(store, rows_read):
    """The first of each list is of the round in which somebody entered, the others of those in which nobody did."""
    control = Rounds(rows_read)
    early = control.play(store, 5, rounds=4)
    control.play(store, 6, rounds=120)
    assert store.tournament("t").recorded > 400
    late = control.play(store, 7, rounds=4)
    assert max(late) <= 2 * max(early)


@pytest.mark.slow(sample=True)
def test_a_run_after_another_counts_nothing_again(store, rows_read):
    control = Rounds(rows_read)
    before = rows_read()
    control.play(store, 5, rounds=2)
    early = rows_read() - before
    control.play(store, 6, rounds=120)
    before = rows_read()
    control.play(store, 7, rounds=2)
    assert rows_read() - before <= 2 * early


def random_meeting(pairing, rng):
    meeting = played(pairing, rng)
    results = (one._replace(bots=tuple(f"{name}@1" for name in one.bots)) for one in meeting.results)
    return meeting._replace(results=tuple(results))


def test_a_ladder_that_has_grown_pairs_as_one_that_is_resumed():
    rng = random.Random(3)
    definition = replace(ladder_of(NAMES[:5]), absences=(Absence(entrant=2, first_round=3, last_round=9),))
    grown, history = format_of(definition), []
    for number in range(30):
        if number % 6 == 5:
            entrants = len(definition.entrants) + 1
            active = frozenset(range(entrants)) - {number // 6}
            absences = definition.absences
            definition = replace(ladder_of(NAMES[:entrants]), active=active, absences=absences)
            grown.field = field_of(definition)
        resumed = format_of(definition)
        for meetings in history:
            resumed.add_results(meetings)
        upcoming = grown.next_round()
        assert resumed.next_round() == upcoming, number
        assert resumed.stop_limits() == grown.stop_limits()
        history.append([random_meeting(pairing, rng) for pairing in upcoming.pairings])
        grown.add_results(history[-1])
