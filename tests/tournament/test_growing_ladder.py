"""Ladders that somebody enters while they are played: what was counted is not counted again."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.definition import Absence
from arena.store.results.connection import Database
from arena.tournament.director import run_tournament
from arena.tournament.formats.format import FORMATS, Field, field_of, format_of
from arena.tournament.formats.knockout import DecidedBy
from arena.tournament.formats.swiss import CardLine
from arena.tournament.run import Order, RunControl
from benchmarks.ladder_shares import Clock, SimulatedExecutor, ladder_of
from tests.tournament.test_formats import first_wins, played, settings_for

NAMES = tuple(f"e{k}" for k in range(10))
SECONDS = {f"{name}@1": 1.0 for name in NAMES}


@pytest.fixture
def rows_read(monkeypatch):
    counted = [0]
    read = Database.rows

    def counting(self, query):
        rows = read(self, query)
        counted[0] += len(rows)
        return rows

    monkeypatch.setattr(Database, "rows", counting)
    return lambda: counted[0]


class Rounds(RunControl):
    """Lets a run play some rounds; ``entering`` says with how many entrants each of them begins."""

    def __init__(self, rows_read):
        self._rows_read = rows_read
        self.left = 0
        self.rows = []

    def order(self):
        return Order.PLAY if self.left else Order.DRAIN

    def play(self, store, entrants, rounds):
        self.left, self.rows = rounds, []

        def refresh():
            self.left -= 1
            self.rows.append(self._rows_read())
            return ladder_of(NAMES[:entrants]) if len(self.rows) == 1 else None

        executor = SimulatedExecutor(Clock(), SECONDS, 1)
        before = ladder_of(NAMES[: entrants - 1])
        run_tournament(before, store, executor=executor, refresh=refresh, control=self)
        return [after - before for before, after in zip(self.rows, self.rows[1:], strict=False)]


@pytest.mark.slow(sample=True)
def test_neither_who_enters_nor_a_run_after_another_reads_a_row_of_earlier_matches(store, rows_read):
    """The first of each list is of the round in which somebody entered, the others of those in which nobody did."""
    control = Rounds(rows_read)
    before = rows_read()
    early = control.play(store, 5, rounds=4)
    in_first_run = rows_read() - before
    control.play(store, 6, rounds=120)
    assert store.tournament("t").recorded > 400
    before = rows_read()
    late = control.play(store, 7, rounds=4)
    assert max(late) <= 2 * max(early)
    assert rows_read() - before <= 2 * in_first_run


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


# who has withdrawn or is disqualified, in the formats whose rounds depend on results


def made(name, entrants, absences, **settings_):
    kind = FORMATS[name]
    names = tuple(f"e{k}" for k in range(entrants))
    fields = ("entrant", "first_round", "last_round")
    found = tuple(Absence(**dict(zip(fields, absence, strict=False))) for absence in absences)
    return kind(Field(bots=names, names=names, players=2, settings=kind.Settings(**settings_), absences=found))


@pytest.mark.slow(only=("ladder",))
@pytest.mark.parametrize("name", ["swiss", "knockout", "ladder"])
@settings(deadline=None, max_examples=40)
@given(entrants=st.integers(2, 12), data=st.data(), seed=st.integers(0, 10**6))
def test_nobody_is_paired_while_absent_and_every_tournament_ends(name, entrants, data, seed):
    rounds = st.tuples(st.integers(0, entrants - 1), st.integers(1, 6))
    absences = data.draw(st.lists(rounds, max_size=entrants, unique_by=lambda absence: absence[0]))
    planned, rng = made(name, entrants, absences, **settings_for(name, entrants)), random.Random(seed)
    for number in range(1, 100):
        upcoming = planned.next_round()
        if upcoming is None:
            break
        paired = [k for pairing in upcoming.pairings for k in pairing]
        assert len(paired) == len(set(paired))
        absent = {k for k, first in absences if first <= number}
        assert not absent & set(paired)
        if name != "knockout":  # where byes are also those who wait for their next rival
            assert not absent & set(upcoming.byes)
        planned.add_results([played(pairing, rng) for pairing in upcoming.pairings])
    else:
        pytest.fail("it does not end")


@pytest.mark.parametrize(("absent", "winner"), [([3], 0), ([0], 3), ([0, 3], 0)], ids=["worse", "better", "both"])
def test_the_rival_of_an_absent_entrant_advances_and_the_better_seed_if_both_are_absent(absent, winner):
    knockout = made("knockout", 4, [(k, 1) for k in absent], seeding="entrants")
    assert knockout.next_round().pairings == ((1, 2),)
    first = knockout.stages()[0][0]
    assert (first.entrants, first.winner, first.decided_by) == ((0, 3), winner, DecidedBy.WALKOVER)


def test_a_final_of_two_absent_entrants_has_a_winner_without_a_match():
    knockout = made("knockout", 2, [(0, 1), (1, 1)], seeding="entrants")
    assert knockout.next_round() is None
    assert [placing.entrant for placing in knockout.ranking() if placing.rank == 1] == [0]


def test_an_absence_is_no_bye_and_the_rival_of_who_left_in_the_middle_has_the_point():
    """By the FIDE Handbook, C.04.1, it is a point without a game that rules out a bye."""
    swiss = made("swiss", 4, [(3, 1, 1), (0, 2)], rounds=3)
    upcoming = swiss.next_round()
    assert 3 not in {k for pairing in upcoming.pairings for k in pairing}
    swiss.add_results([first_wins(pairing) for pairing in upcoming.pairings])
    assert swiss.cards()[3] == (CardLine(None, 0.0),)
    assert swiss.next_round().byes == (3,)  # of the three who are left the lowest
    swiss = made("swiss", 4, [(0, 1)], rounds=2)
    meetings = [first_wins((0, 2)), first_wins((1, 3))]  # some of their matches were played
    swiss.add_results(meetings)
    assert [swiss.cards()[k][0].score for k in range(4)] == [0.0, 1.0, 1.0, 0.0]


def test_a_small_rest_of_a_large_swiss_is_paired_to_its_end():
    """Six of twenty are left, and five rounds: three rounds without look-ahead may leave two triangles."""
    for seed in range(20):
        swiss, rng = made("swiss", 20, [(k, 1) for k in range(6, 20)], rounds=5), random.Random(seed)
        for number in range(1, 6):
            upcoming = swiss.next_round()
            assert upcoming is not None, (seed, number)
            swiss.add_results([played(pairing, rng) for pairing in upcoming.pairings])
