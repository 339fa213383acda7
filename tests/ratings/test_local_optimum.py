"""The model of CLOP: held against a twin on SciPy's optimiser, and against planted optima."""

import random
from itertools import combinations_with_replacement
from math import log

import numpy as np
import pytest

from arena.ratings.local_optimum import LocalOptimum, Sample
from tests import needs


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
    samples = [Sample((k / 19,), 0.5) for k in range(20)]
    optimum = LocalOptimum(samples)
    assert optimum.effective == pytest.approx(20.0)
    assert optimum.centre == optimum.best == pytest.approx((0.5,))
    assert optimum.score((0.1,)) == pytest.approx(0.5)
    assert optimum.weight((0.1,)) == pytest.approx(1.0)
