import random
from collections import Counter
from itertools import combinations, combinations_with_replacement
from math import log

import numpy as np
import pytest
from hypothesis import assume, given, settings

from arena.ratings import MU
from arena.ratings.field_fit import DRAWS, draws_of, fit_encounters
from arena.ratings.large_field import LARGE_FIELD_DRAWS
from arena.ratings.local_optimum import LocalOptimum, Sample
from arena.ratings.pair_graph import PairGraph, SparseGaussian
from arena.ratings.result_arrays import DistinctResults, EncounterArrays
from arena.ratings.set_fit import SetFit
from arena.ratings.settled_fit import Posterior, Start, estimated_width, inverse, settle
from benchmarks.coverage import SimulatedField, free_for_all, round_robin
from tests import needs
from tests.ratings.test_field_fit import assert_order_makes_no_difference, field, held, within
from tests.ratings.test_set_fit import RESULTS


@pytest.fixture
def all_sparse(monkeypatch):
    monkeypatch.setattr("arena.ratings.set_fit.MAX_DENSE_BOTS", 1)


def fits(encounters, monkeypatch):
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
    assert (gap / np.std(dense.draws[:, :-1] - dense.draws[:, 1:], axis=0)).mean() == pytest.approx(1.0, abs=0.04)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say(all_sparse):
    assert within(sum(held(*field(seed)) for seed in range(40)), 320)


def test_the_order_of_encounters_makes_no_difference_to_the_sparse_way(all_sparse):
    assert_order_makes_no_difference()


def test_a_fit_that_goes_to_and_fro_settles_as_well():
    arrays = EncounterArrays.of_results([((("a", "b"), (1, 2)), 18)])
    assert settle(SetFit(arrays.names, arrays.results), 12.0).is_settled


def random_gaussian(size, edges):
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


@pytest.mark.slow
def test_a_fit_that_is_continued_again_and_again_stays_the_one_from_nothing():
    """While matches arrive, then with a bot more, then without some results, as after a correction, then again."""
    encounters = field(1, bots=10, encounters=16)[1]
    last = encounters[-1][0][0][0]
    older = [encounter for encounter in encounters if all(last not in names for names, _ in encounter)]
    stages = [*(older[: len(older) * part // 8] for part in (5, 7, 8)), encounters, encounters[::2], encounters]
    assert len({name for encounter in older for names, _ in encounter for name in names}) == 9
    continued = fit_encounters(counted(stages[0]))
    for stage in stages[1:]:
        continued, afresh = fit_encounters(counted(stage), start=start_of(continued)), fit_encounters(counted(stage))
        assert continued.is_settled
        assert_equal_to_nine_digits(continued, afresh)


@pytest.mark.parametrize("size", [1, 128, 129, 301])
def test_a_matrix_that_is_inverted_in_parts(size):
    matrix = np.cov(np.random.default_rng(size).standard_normal((size, 2 * size))) + np.eye(size)
    assert np.abs(inverse(matrix) @ matrix - np.eye(size)).max() < 1e-12


def test_draw_probability_and_width_are_those_that_the_fit_itself_gives():
    arrays = EncounterArrays.of(counted(field(1, bots=5, encounters=3)[1]))
    fitted = fit_encounters(arrays)
    fit = SetFit(arrays.names, arrays.results)
    fit.run(fitted.draw_probability, fitted.prior_width, 1e-12)
    assert fit.matching_draw_probability() == pytest.approx(fitted.draw_probability, rel=1e-9)
    trace = np.trace(np.linalg.inv(fit.joint().precision))
    assert estimated_width(fit, trace) == pytest.approx(fitted.prior_width, rel=1e-9)


def ordered(bots, wins):
    """Each bot beats all later ones."""
    return [((((f"b{first:02}", f"b{second:02}"), (1, 2)),), wins) for first, second in combinations(range(bots), 2)]


@pytest.mark.parametrize(
    ("bots", "wins", "prior", "width", "means", "sigmas"),
    [
        (5, 4, None, 17.8081409, [27.883536, 12.113], [7.920525, 5.590254, 5.09693]),
        (5, 50, None, 36.2875165, [60.705491, 26.131319], [9.816689, 5.989044, 5.277291]),
        (
            8,
            10,
            None,
            54.4879712,
            [97.92995, 58.503608, 32.630004, 10.575048],
            [15.846959, 9.14245, 7.119068, 6.473856],
        ),
        (3, 1000, None, 23.0339578, [34.59103], [6.171855, 4.445624]),
        (3, 1000, 50.0, 50.0, [63.322951], [13.056898, 9.396205]),
        (5, 400, 50.0, 50.0, [82.925085, 35.391293], [10.791535, 6.445032, 5.644394]),
    ],
)
def test_completely_ordered_fields_settle_at_the_solution_of_their_equations(bots, wins, prior, width, means, sigmas):
    """The solutions are of SciPy's root, of the equations of TrueSkill's messages and of the width, written again."""
    encounters = ordered(bots, wins)
    fitted = fit_encounters(encounters, prior)
    assert fitted.is_settled
    assert (fitted.draw_probability, fitted.prior_width) == pytest.approx((0.001, width), rel=1e-8)
    half = np.array(means)
    middle = [0.0] * (bots % 2)
    expected = MU + np.concatenate([half, middle, -half[::-1]])
    mu, sigma = np.array(fitted.ratings).T
    assert mu == pytest.approx(expected, abs=2e-6)
    assert sigma[: len(sigmas)] == pytest.approx(np.array(sigmas), abs=2e-6)
    assert_equal_to_nine_digits(fit_encounters(encounters[::-1], prior, start_of(fitted)), fitted)
    arrays = EncounterArrays.of(encounters)
    rated = SetFit(arrays.names, arrays.results).run(fitted.draw_probability, width)
    assert [rating.mu for rating in rated.values()] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("bots", "wins", "sweeps"), [(8, 1, 250), (12, 50, 300), (20, 2, 250), (20, 2500, 600), (40, 1, 400)]
)
def test_completely_ordered_fields_settle_soon(bots, wins, sweeps, monkeypatch):
    monkeypatch.setattr("arena.ratings.settled_fit.MAX_SWEEPS", sweeps)
    assert fit_encounters(ordered(bots, wins)).is_settled


def test_sweeps_that_move_little_share_an_inverse(monkeypatch):
    counts, sweep, invert = Counter(), SetFit.sweep, Posterior.__init__
    monkeypatch.setattr(SetFit, "sweep", lambda *arguments: counts.update(["sweep"]) or sweep(*arguments))
    monkeypatch.setattr(Posterior, "__init__", lambda *arguments: counts.update(["inverse"]) or invert(*arguments))
    fit_encounters(counted(field(1, bots=40, encounters=8)[1]))
    assert 0 < counts["inverse"] <= 0.8 * counts["sweep"]


def test_a_start_that_leads_nowhere_is_given_up():
    encounters = counted(field(2, bots=6)[1])
    afresh = fit_encounters(encounters)
    far = Start(afresh.names, np.array([-9e3, 9e3] * 3), np.full(6, 1e8), 0.9, 1e4)
    assert_equal_to_nine_digits(fit_encounters(encounters, start=far), afresh)


def expit(x):
    return 1 / (1 + np.exp(-x))


class Twin:
    """The same model, written again from the paper: each fit by BFGS, each weight from the definition."""

    def __init__(self, samples):
        from scipy.optimize import minimize

        points = np.array([sample.point for sample in samples])
        scores = np.array([sample.score for sample in samples])
        terms = np.array([self.terms(point) for point in points])
        weights = np.ones(len(samples))
        self.cuts = []
        while True:
            found = minimize(self.loss, np.zeros(terms.shape[1]), (terms, scores, weights), tol=1e-10).x
            share = (weights @ scores + 0.5) / (weights.sum() + 1)
            error = 1 / np.sqrt((weights.sum() + 1) * share * (1 - share))
            self.cuts.append((found, log(share / (1 - share)), error))
            before, weights = weights.sum(), np.array([self.weight(point) for point in points])
            if weights.sum() > 0.99 * before:
                break
        self.centre = np.average(points, axis=0, weights=weights)
        self.effective = weights.sum()
        peak = minimize(lambda point: -self.score(point), self.centre, bounds=[(0, 1)] * points.shape[1], tol=1e-12).x
        self.best = 0.6 * self.centre + 0.4 * peak

    @staticmethod
    def terms(point):
        from_middle = [2 * value - 1 for value in point]
        return [1, *from_middle, *[one * other for one, other in combinations_with_replacement(from_middle, 2)]]

    @staticmethod
    def loss(found, terms, scores, weights):
        chances = expit(terms @ found)
        fit = weights @ (scores * np.log(chances) + (1 - scores) * np.log(1 - chances))
        return -fit + (found[1:] ** 2).sum() / (2 * 4.0) + 1e-6 * found[0] ** 2 / 2

    def weight(self, point):
        odds = [(np.dot(self.terms(point), found) - mean) / (3 * error) for found, mean, error in self.cuts]
        return min(1.0, *np.exp(odds))

    def score(self, point):
        return expit(np.dot(self.terms(point), self.cuts[-1][0]))


def played(chance, points, rng):
    return [Sample(point, (sum(rng.random() < chance(point) for _ in range(2))) / 2) for point in points]


def hill(point):
    """A ridge across both axes, so that the product of the two counts, on an uneven slope."""
    x, y = point
    return expit(0.5 - 14 * (x - y) ** 2 - 5 * (x + y - 1.3) ** 2)


@needs.package("scipy")
@pytest.mark.parametrize("seed", range(4))
def test_the_model_is_that_of_its_twin(seed):
    rng = random.Random(seed)
    samples = played(hill, [(rng.random(), rng.random()) for _ in range(150)], rng)
    optimum, twin = LocalOptimum(samples), Twin(samples)
    assert len(twin.cuts) > 1  # weight was taken away, and the model fitted again
    assert optimum.centre == pytest.approx(tuple(twin.centre), abs=1e-3)
    assert optimum.best == pytest.approx(tuple(twin.best), abs=1e-3)
    assert optimum.effective == pytest.approx(twin.effective, rel=1e-3)
    for x in (0.0, 0.3, 0.6, 1.0):
        for y in (0.0, 0.5, 0.9):
            assert optimum.score((x, y)) == pytest.approx(twin.score((x, y)), abs=1e-3)
            assert optimum.weight((x, y)) == pytest.approx(twin.weight((x, y)), abs=1e-3)


@pytest.mark.parametrize("best", [0.0, 0.15, 0.5, 0.8])
def test_a_planted_optimum_is_found_from_few_samples(best):
    """From 200 encounters; the mean of all samples would be 0.5 for each."""
    rng = random.Random(3)
    places = [(number / 199,) for number in range(200)]
    found = [
        LocalOptimum(played(lambda point: expit(1 - 25 * (point[0] - best) ** 2), places, rng)).best[0]
        for _ in range(20)
    ]
    assert abs(np.mean(found) - best) < (0.1 if best == 0.0 else 0.04)  # there is but one side of 0
    assert np.std(found) < 0.06


def test_points_are_drawn_in_proportion_to_their_weight():
    rng = random.Random(5)
    samples = played(lambda point: expit(2 - 12 * (point[0] - 0.3) ** 2), [(k / 299,) for k in range(300)], rng)
    optimum = LocalOptimum(samples)
    drawn = [x for (x,) in optimum.draw(1500, rng.random)]
    weights = [optimum.weight(((k + 0.5) / 100,)) for k in range(100)]
    assert min(weights) < 0.05  # there is something to leave out
    for bound in (0.2, 0.4, 0.6, 0.8):
        expected = sum(weights[: round(100 * bound)]) / sum(weights)
        assert sum(x < bound for x in drawn) / 1500 == pytest.approx(expected, abs=0.05)  # 3.9 standard errors


def test_the_centre_is_drawn_where_no_point_is_accepted(monkeypatch):
    monkeypatch.setattr("arena.ratings.local_optimum.MAX_TRIES", 10)
    optimum = LocalOptimum([Sample((k / 49,), float(k > 30)) for k in range(50)] * 5)
    draws = iter([0.9, 0.0] + [0.0, 1.0] * 20)  # one point is accepted, and none of those at 0
    assert optimum.draw(3, lambda: next(draws)) == [(0.9,), optimum.centre, optimum.centre]


def test_samples_that_are_equally_good_keep_their_weight():
    optimum = LocalOptimum([Sample((k / 19,), 0.5) for k in range(20)])
    assert optimum.effective == pytest.approx(20.0)
    assert optimum.centre == optimum.best == pytest.approx((0.5,))
    assert optimum.score((0.1,)) == pytest.approx(0.5)
    assert optimum.weight((0.1,)) == pytest.approx(1.0)
