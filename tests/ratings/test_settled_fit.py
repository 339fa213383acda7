"""Fields that are treated as sparse, against the dense way and known truths; fits that begin with an earlier one."""

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings

from arena.ratings.field_fit import DRAWS, draws_of, fit_encounters
from arena.ratings.large_field import LARGE_FIELD_DRAWS
from arena.ratings.pair_graph import PairGraph, SparseGaussian
from arena.ratings.result_arrays import DistinctResults, EncounterArrays
from arena.ratings.set_fit import SetFit
from arena.ratings.settled_fit import Start, estimated_width
from benchmarks.coverage import SimulatedField, free_for_all, round_robin
from tests.ratings.test_field_fit import assert_order_makes_no_difference, field, held, within
from tests.ratings.test_set_fit import RESULTS


@pytest.fixture
def all_sparse(monkeypatch):
    """Treat every field as large."""
    monkeypatch.setattr("arena.ratings.set_fit.MAX_DENSE_BOTS", 1)


def fits(encounters, monkeypatch):
    """Return the dense fit and the sparse one."""
    counted = Counter(encounters)
    dense = fit_encounters(counted.items())
    monkeypatch.setattr("arena.ratings.set_fit.MAX_DENSE_BOTS", 1)
    return dense, fit_encounters(counted.items())


def chain():
    """Bots that only meet those next to them, so that the errors of neighbours are much alike."""
    made = SimulatedField(random.Random(3), bots=80)
    return [made.encounter(k, k + step) for k in range(77) for step in (1, 2, 3) for _ in range(5)]


@pytest.mark.slow(sample=("pairs",))
@pytest.mark.parametrize("kind", ["pairs", "chain", "four players"])
def test_both_ways_agree(kind, monkeypatch):
    rng = random.Random(1)
    encounters = {
        "pairs": lambda: round_robin(SimulatedField(rng, bots=40), 2),
        "chain": chain,
        "four players": lambda: free_for_all(SimulatedField(rng, bots=30), 4, 300),
    }[kind]()
    dense, sparse = fits(encounters, monkeypatch)
    assert sparse.draw_probability == pytest.approx(dense.draw_probability, rel=0.02)
    assert sparse.prior_width == pytest.approx(dense.prior_width, rel=0.03)
    for ours, theirs in zip(sparse.ratings, dense.ratings, strict=True):
        assert ours.mu == pytest.approx(theirs.mu, abs=0.1 * theirs.sigma)
        assert ours.sigma == pytest.approx(theirs.sigma, rel=0.02)
    ratio = sparse.margins() / dense.margins()
    assert ratio.mean() == pytest.approx(1.0, abs=0.03)
    assert ((ratio > 0.87) & (ratio < 1.13)).mean() >= 0.9  # 19 in 20 of independent ones; neighbours are alike
    gap = np.std(sparse.draws[:, :-1] - sparse.draws[:, 1:], axis=0)
    expected = np.std(dense.draws[:, :-1] - dense.draws[:, 1:], axis=0)
    assert (gap / expected).mean() == pytest.approx(1.0, abs=0.04)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say(all_sparse):
    assert within(sum(held(*field(seed)) for seed in range(40)), 320)


def test_the_order_of_encounters_makes_no_difference_to_the_sparse_way(all_sparse):
    assert_order_makes_no_difference()


def random_gaussian(size, edges):
    """Return a sparse Gaussian, and the same precision matrix as an array."""
    rng = np.random.default_rng(4)
    pairs = np.array(sorted(rng.choice(list(combinations(range(size), 2)), edges, replace=False).tolist()))
    results = DistinctResults(members=pairs, ranks=np.tile([0, 1], (edges, 1)), counts=np.ones(edges, dtype=np.int64))
    graph = PairGraph([results], size)
    weight = rng.uniform(0.01, 3.0, edges)
    matrix = 0.02 * np.eye(size)
    for (a, b), own in zip(pairs, weight, strict=True):
        matrix[[a, b], [a, b]] += own
        matrix[[a, b], [b, a]] -= own
    return SparseGaussian(graph, graph.rows(), 0.02, weight, rng.standard_normal(size)), matrix


def test_conjugate_gradients_solve_what_numpy_solves():
    gaussian, matrix = random_gaussian(60, 150)
    right = np.random.default_rng(0).standard_normal((60, 3))
    assert gaussian.solve(right, 1e-5) == pytest.approx(np.linalg.solve(matrix, right), abs=1e-3)
    start = np.linalg.solve(matrix, right)
    assert gaussian.solve(right, 1e-5, start) == pytest.approx(start, abs=1e-3)


def test_noise_has_the_precision_matrix_as_its_covariance():
    gaussian, matrix = random_gaussian(12, 30)
    noise = gaussian.noise(80_000, np.random.default_rng(0))
    assert np.cov(noise) == pytest.approx(matrix, abs=0.15)


@pytest.mark.slow
def test_a_field_beyond_the_bound_is_sparse_without_being_asked(monkeypatch):
    assert (draws_of(2000), draws_of(2001)) == (DRAWS, LARGE_FIELD_DRAWS)
    monkeypatch.setattr("arena.ratings.set_fit.MAX_DENSE_BOTS", 600)
    made = SimulatedField(random.Random(2), bots=601)
    encounters = Counter(made.encounter(k, (k + step) % 601) for k in range(601) for step in (1, 70))
    fitted = fit_encounters(encounters.items())
    assert fitted.draws.shape == (LARGE_FIELD_DRAWS, 601) == (LARGE_FIELD_DRAWS, len(fitted.ratings))
    means = np.array([rating.mu for rating in fitted.ratings])
    truth = np.array([made.strengths[int(name[1:])] for name in fitted.names])
    off = means - means.mean() - truth + truth.mean()
    assert 0.9 < (np.abs(off) < fitted.margins()).mean() < 0.98
    assert fitted.los_between(0, 1) == pytest.approx(float(fitted.los([0, 1])[0, 1]))


def counted(encounters):
    return list(Counter(encounters).items())


def start_of(fitted):
    means, sigmas = np.array(fitted.ratings).T
    return Start(fitted.names, means, sigmas**-2, fitted.draw_probability, fitted.prior_width)


def assert_equal_to_nine_digits(fitted, other):
    assert fitted.names == other.names
    assert np.array(fitted.ratings) == pytest.approx(np.array(other.ratings), rel=1e-9)
    assert (fitted.draw_probability, fitted.prior_width) == pytest.approx(
        (other.draw_probability, other.prior_width), rel=1e-9
    )
    scale = np.abs(other.draws).max()
    assert fitted.draws / scale == pytest.approx(other.draws / scale, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(RESULTS, RESULTS, RESULTS)
def test_where_a_fit_begins_makes_no_difference_to_nine_digits(both, before, after):
    """Some results are new, and some are there no more, as after a correction."""
    results, earlier = [(one,) for one in both + after], [(one,) for one in both + before]
    afresh = fit_encounters(counted(results))
    begun = fit_encounters(counted(earlier))
    assume(afresh.is_settled and begun.is_settled)
    assert_equal_to_nine_digits(fit_encounters(counted(results), start=start_of(begun)), afresh)


LARGER = {
    "two players": lambda rng: field(1, bots=130, encounters=2)[1],
    "four players": lambda rng: free_for_all(SimulatedField(rng, bots=30), 4, 200),
    "twelve": lambda rng: field(1, bots=12, encounters=60)[1],
}


@pytest.mark.slow(sample=("twelve",))
@pytest.mark.parametrize("kind", LARGER)
def test_a_larger_field_that_grows(kind, monkeypatch):
    encounters = LARGER[kind](random.Random(1))
    begun = fit_encounters(counted(encounters[: len(encounters) * 95 // 100]))
    sweeps, sweep = [], SetFit.sweep
    monkeypatch.setattr(SetFit, "sweep", lambda *arguments: sweeps.append(1) or sweep(*arguments))
    afresh = fit_encounters(counted(encounters))
    of_afresh = len(sweeps)
    continued = fit_encounters(counted(encounters), start=start_of(begun))
    if kind == "two players":  # in fields that are not small the width is right from the first sweep on
        assert of_afresh <= 15
    assert afresh.is_settled and continued.is_settled
    assert len(sweeps) - of_afresh < of_afresh
    assert_equal_to_nine_digits(continued, afresh)
    assert continued.rank_intervals() == afresh.rank_intervals()
    assert continued.margins() == pytest.approx(afresh.margins(), rel=1e-8)


def test_draw_probability_and_width_are_those_that_the_fit_itself_gives():
    arrays = EncounterArrays.of(counted(field(1, bots=5, encounters=3)[1]))
    fitted = fit_encounters(arrays)
    fit = SetFit(arrays.names, arrays.results)
    fit.run(fitted.draw_probability, fitted.prior_width, 1e-12)
    assert fit.matching_draw_probability() == pytest.approx(fitted.draw_probability, rel=1e-9)
    trace = np.trace(np.linalg.inv(fit.joint().precision))
    assert estimated_width(fit, trace) == pytest.approx(fitted.prior_width, rel=1e-9)


def test_a_start_that_leads_nowhere_is_given_up():
    encounters = counted(field(2, bots=6)[1])
    afresh = fit_encounters(encounters)
    far = Start(afresh.names, np.array([-9e3, 9e3] * 3), np.full(6, 1e8), 0.9, 1e4)
    assert_equal_to_nine_digits(fit_encounters(encounters, start=far), afresh)
