from math import erf

import numpy as np
import pytest

from arena.analysis.measures.rank_explanation import RatedMatch, against_rivals, rated_matches_of, surprises
from arena.analysis.measures.result_table import read_results
from arena.analysis.measures.standings import standings
from arena.ratings import Rating
from arena.ratings.environment import BETA
from arena.ratings.field_fit import FittedEncounters
from arena.ratings.result_arrays import EncounterArrays
from arena.ratings.set_fit import SetFit
from tests.store.results.samples import definition, line, record

STRENGTHS = {"a@1": 0.8, "b@1": 0.6, "c@1": 0.45, "d@1": 0.3}


def fill(store, rows):
    tournament = store.create_tournament(definition(), [line(match) for match in range(1, len(rows) + 1)])
    store.record(tournament, rows)
    return store.tournament("t")


def field(players, rounds):
    chance = np.random.default_rng(players)
    rows = []
    labels = list(STRENGTHS)
    for _ in range(rounds):
        bots = [labels[k] for k in chance.choice(len(labels), players, replace=False)]
        shown = [round(STRENGTHS[bot] + chance.normal() * 0.4, 1) for bot in bots]
        ranks = [1 + sum(other > own for other in shown) for own in shown]
        match = len(rows) + 1
        rows.append(record(match, encounter=match, bots=bots, ranks=ranks, actions=[[0, (match, 1)], [1, (1, 2)]]))
    return rows


def refit(arrays, fitted):
    fit = SetFit(arrays.names, arrays.results)
    return {name: rating.mu for name, rating in fit.run(fitted.draw_probability, fitted.prior_width).items()}


@pytest.mark.parametrize("players", [2, 3])
def test_an_influence_is_what_a_fit_without_the_rival_says(store, players):
    tournament = fill(store, field(players, 120))
    results = read_results(store, tournament)
    fitted = standings(results, {}).fitted
    whole = {name: rating.mu for name, rating in zip(fitted.names, fitted.ratings, strict=True)}
    lines = against_rivals("b@1", rated_matches_of(store, tournament, "b@1"), fitted, results)
    assert {one.rival for one in lines} == {"a@1", "c@1", "d@1"}
    for one in lines:
        left = [
            ((tuple(result.bots), tuple(result.ranks)),)
            for result in store.results(tournament)
            if not {"b@1", one.rival} <= set(result.bots)
        ]
        without = refit(EncounterArrays.of((encounter, 1) for encounter in left), fitted)
        assert one.influence == pytest.approx(whole["b@1"] - without["b@1"], abs=0.12)
    assert max(abs(one.influence) for one in lines) > 0.3  # or the test could not fail


def test_points_are_counted_by_rival(store):
    rows = [
        record(1, encounter=1, bots=["a@1", "b@1", "c@1"], ranks=[1, 2, 3], actions=[[0, (1, 1)]]),
        record(2, encounter=1, bots=["b@1", "c@1", "a@1"], ranks=[1, 1, 3], actions=[[0, (2, 1)]]),
    ]
    tournament = fill(store, rows)
    results = read_results(store, tournament)
    lines = against_rivals("b@1", rated_matches_of(store, tournament, "b@1"), standings(results, {}).fitted, results)
    assert {one.rival: (one.matches, one.points) for one in lines} == {"a@1": (2, 1.0), "c@1": (2, 1.5)}


def test_only_matches_that_count_for_ratings_are_taken(store):
    same = {"bots": ["a@1", "b@1"], "ranks": [1, 2], "actions": [[0, (1, 1)]], "opening_plies": 0}
    tournament = fill(
        store,
        [
            record(1, encounter=1, **same),
            record(2, encounter=2, **same),  # a duplicate
            record(3, encounter=3, bots=["a@1", "a@1"], ranks=[1, 2], actions=[[0, (3, 1)]]),
            record(4, encounter=4, bots=["b@1", "c@1"], ranks=[1, 2], actions=[[0, (4, 1)]]),
        ],
    )
    assert [match.match for match in rated_matches_of(store, tournament, "a@1")] == [1]


def fitted_as(mus, draw_probability):
    names = tuple(sorted(mus))
    return FittedEncounters(
        names=names,
        ratings=tuple(Rating(mus[name], 1.0) for name in names),
        draw_probability=draw_probability,
        prior_width=5.0,
        draws=np.zeros((1, len(names))),
        encounters=1,
    )


def test_the_probability_of_an_encounter_is_that_of_its_points_or_worse():
    fitted = fitted_as({"a@1": 30.0, "b@1": 25.0}, 0.0)
    loss = (1 + erf(-5 / (2 * BETA))) / 2  # the normal distribution at -5 / (√2 β)
    seats = (("a@1", "b@1"), ("b@1", "a@1"))
    matches = [
        RatedMatch(match=number + 1, encounter=number // 2 + 1, bots=seats[number % 2], ranks=ranks)
        for number, ranks in enumerate([(2, 1), (1, 2), (2, 1), (2, 1), (2, 1), (1, 2)])
    ]
    both, one = surprises("a@1", matches, fitted, 5)
    assert (both.encounter, both.occurrences, both.points) == (1, 2, 0.0)
    assert both.probability == pytest.approx(loss**2)
    assert both.expected_points == pytest.approx(2 * (1 - loss))
    assert (one.encounter, one.occurrences, one.points) == (2, 1, 1.0)
    assert one.probability == pytest.approx(1 - (1 - loss) ** 2)


def test_a_draw_of_equal_bots_is_as_likely_as_is_said_and_of_three_each_is_last_in_a_third_of_the_matches():
    fitted = fitted_as({"a@1": 25.0, "b@1": 25.0}, 0.4)
    (drawn,) = surprises("a@1", [RatedMatch(match=1, encounter=1, bots=("a@1", "b@1"), ranks=(1, 1))], fitted, 5)
    assert drawn.expected_points == pytest.approx(0.5)
    assert drawn.probability == pytest.approx(0.4 + 0.3)  # a draw or a win
    fitted = fitted_as({"a@1": 25.0, "b@1": 25.0, "c@1": 25.0}, 0.0)
    match = RatedMatch(match=1, encounter=1, bots=("c@1", "a@1", "b@1"), ranks=(1, 3, 2))
    (last,) = surprises("a@1", [match], fitted, 5)
    assert last.points == 0.0
    assert last.expected_points == pytest.approx(0.5, abs=0.03)
    assert last.probability == pytest.approx(1 / 3, abs=0.03)


def test_rivals_of_equal_influence_and_equal_surprises_come_by_name_and_number(store):
    """What they differ by are rounding errors, which another machine makes otherwise."""
    rivals = [f"rival_{number}@1" for number in range(8)]
    games = [(rival, ranks) for rival in rivals for ranks in ([1, 2], [2, 1], [1, 2])]
    rows = [
        record(match, encounter=match, bots=["b@1", rival], ranks=ranks, actions=[[0, (match, 1)]])
        for match, (rival, ranks) in enumerate(games, 1)
    ]
    tournament = fill(store, rows)
    results = read_results(store, tournament)
    fitted, matches = standings(results, {}).fitted, rated_matches_of(store, tournament, "b@1")
    lines = against_rivals("b@1", matches, fitted, results)
    assert [one.rival for one in lines] == rivals
    assert len({round(one.influence, 9) for one in lines}) == 1
    encounters = [one.encounter for one in surprises("b@1", matches, fitted, 20)]
    assert encounters == [*range(2, 25, 3), *range(1, 25, 3)]
