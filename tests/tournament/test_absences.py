"""Entrants who have withdrawn or are disqualified, in the formats whose rounds depend on results."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.definition import Absence
from arena.tournament.formats import Field
from arena.tournament.formats.knockout import DecidedBy
from arena.tournament.formats.table import FORMATS
from arena.tournament.formats.tie_breaks import CardLine
from tests.tournament.test_formats import first_wins, played, settings_for


def made(name, entrants, absences, **settings_):
    """A format for entrants e0, e1, …, with absences as (entrant, first round) or (entrant, first, last)."""
    kind = FORMATS[name]
    names = tuple(f"e{k}" for k in range(entrants))
    found = tuple(
        Absence(entrant=k, first_round=first, last_round=last[0] if last else None) for k, first, *last in absences
    )
    return kind(Field(bots=names, names=names, players=2, settings=kind.Settings(**settings_), absences=found))


@pytest.mark.slow(only=("ladder",), sample=True)
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


def test_who_was_absent_from_a_round_may_still_have_the_bye():
    """By the FIDE Handbook, C.04.1, it is a point without a game that rules out a bye."""
    swiss = made("swiss", 4, [(3, 1, 1), (0, 2)], rounds=3)
    upcoming = swiss.next_round()
    assert 3 not in {k for pairing in upcoming.pairings for k in pairing}
    swiss.add_results([first_wins(pairing) for pairing in upcoming.pairings])
    assert swiss.cards()[3] == (CardLine(None, 0.0),)
    assert swiss.next_round().byes == (3,)  # of the three who are left the lowest


def test_the_rival_of_who_left_in_the_middle_of_a_meeting_has_the_point():
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
