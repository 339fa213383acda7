"""Ratings against published numbers, an independent fit, and the properties any rating code must have."""

import math
import random
from collections import Counter

import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.errors import UsageError
from arena.ratings import BETA, MU, SIGMA, fit_counted, rate_results
from arena.ratings.environment import Environment, cdf, hazard, pdf, ppf

PUBLISHED = [
    # trueskill 0.4.5, trueskilltest.py, and Moserware.Skills' TrueSkill test suite, from which its numbers come;
    # a drift of tau = sigma / 100 moves them by less than 0.01
    ((1, 2), [(29.396, 7.171), (20.604, 7.171)]),
    ((1, 1), [(25.000, 6.458), (25.000, 6.458)]),
    ((1, 2, 3), [(31.675, 6.656), (25.000, 6.208), (18.325, 6.656)]),
    ((1, 2, 3, 4), [(33.207, 6.348), (27.401, 5.787), (22.599, 5.787), (16.793, 6.348)]),
    ((1, 2, 3, 4, 5), [(34.363, 6.136), (29.058, 5.536), (25.000, 5.420), (20.942, 5.536), (15.637, 6.136)]),
    ((1, 1, 1), [(25.000, 5.698), (25.000, 5.695), (25.000, 5.698)]),
]


@pytest.mark.parametrize(("ranks", "expected"), PUBLISHED)
def test_one_match_is_rated_as_published(ranks, expected):
    names = [f"bot{k}" for k in range(len(ranks))]
    ratings = rate_results([(names, ranks)], draw_probability=0.10)
    for name, (mu, sigma) in zip(names, expected, strict=True):
        assert ratings[name].mu == pytest.approx(mu, abs=0.01)
        assert ratings[name].sigma == pytest.approx(sigma, abs=0.01)


def test_one_match_is_rated_exactly_as_the_package_does_without_drift():
    env = trueskill.TrueSkill(tau=0.0, draw_probability=0.3, backend=(cdf, pdf, ppf))
    for ranks in ((1, 2), (1, 1), (1, 2, 2), (1, 2, 3, 4)):
        names = [f"bot{k}" for k in range(len(ranks))]
        ours = rate_results([(names, ranks)], draw_probability=0.3)
        theirs = env.rate([(env.create_rating(),) for _ in ranks], ranks=list(ranks), min_delta=1e-6)
        for name, (rating,) in zip(names, theirs, strict=True):
            assert ours[name] == pytest.approx((rating.mu, rating.sigma), abs=1e-4)


def simulate(strengths, per_pair, draw_probability, seed):
    rng = random.Random(seed)
    margin = ppf((draw_probability + 1) / 2) * math.sqrt(2) * BETA
    results = []
    names = list(strengths)
    for k, a in enumerate(names):
        for b in names[:k]:
            for _ in range(per_pair):
                gap = rng.gauss(strengths[a] - strengths[b], math.sqrt(2) * BETA)
                results.append(((a, b), (1, 1) if abs(gap) < margin else (1, 2) if gap > 0 else (2, 1)))
    return results


def posterior_mode(results, draw_probability):
    """The most likely strengths under the same model, by plain gradient ascent: shares nothing with the code."""
    names = sorted({name for members, _ in results for name in members})
    spread = math.sqrt(2) * BETA
    margin = ppf((draw_probability + 1) / 2)
    counts = {}
    for (a, b), (rank_a, rank_b) in results:
        key = (a, b, (rank_a < rank_b) - (rank_a > rank_b))
        counts[key] = counts.get(key, 0) + 1
    x = dict.fromkeys(names, 0.0)
    for _ in range(4000):
        slope = {name: -x[name] / SIGMA**2 for name in names}
        for (a, b, outcome), count in counts.items():
            gap = (x[a] - x[b]) / spread
            if outcome == 0:
                push = (pdf(-margin - gap) - pdf(margin - gap)) / (cdf(margin - gap) - cdf(-margin - gap))
            else:
                push = outcome * pdf(outcome * gap - margin) / cdf(outcome * gap - margin)
            slope[a] += count * push / spread
            slope[b] -= count * push / spread
        x = {name: x[name] + 0.05 * slope[name] for name in names}
    return {name: MU + value for name, value in x.items()}


def test_the_fit_agrees_with_an_independent_maximum_of_the_posterior():
    strengths = {"a": 32.0, "b": 28.0, "c": 25.0, "d": 24.0, "e": 16.0}
    results = simulate(strengths, per_pair=60, draw_probability=0.2, seed=3)
    ratings = rate_results(results, draw_probability=0.2)
    for name, mode in posterior_mode(results, 0.2).items():
        assert ratings[name].mu == pytest.approx(mode, abs=0.35 * ratings[name].sigma)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    """20 fields of 8 bots: of 160 intervals at 95 %, between 144 and 160 hold the truth (99.9 % of the time)."""
    covered = 0
    for seed in range(20):
        rng = random.Random(1000 + seed)
        strengths = {f"b{k}": rng.gauss(MU, 5.0) for k in range(8)}
        mean = sum(strengths.values()) / 8
        strengths = {name: value - mean + MU for name, value in strengths.items()}
        ratings = rate_results(simulate(strengths, 30, 0.1, seed))
        covered += sum(abs(ratings[name].mu - strengths[name]) < 1.96 * ratings[name].sigma for name in strengths)
    assert 144 <= covered <= 160


def test_the_draw_probability_is_found_again_in_an_unequal_field():
    strengths = {f"b{k}": 25.0 + 4 * (k - 5) for k in range(11)}
    results = simulate(strengths, per_pair=200, draw_probability=0.25, seed=9)
    tied = sum(ranks == (1, 1) for _, ranks in results) / len(results)
    assert tied < 0.18
    assert fit_counted(Counter(results).items()).draw_probability == pytest.approx(0.25, abs=0.02)


RESULTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from("abcdef"), min_size=2, max_size=4, unique=True),
        st.lists(st.integers(1, 4), min_size=4, max_size=4),
    ).map(lambda pair: (tuple(pair[0]), tuple(pair[1][: len(pair[0])]))),
    min_size=1,
    max_size=25,
)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(RESULTS, st.randoms(use_true_random=False))
def test_order_seats_and_names_make_no_difference(results, rng):
    ratings = rate_results(results)
    shuffled = []
    for names, ranks in rng.sample(results, len(results)):
        seats = rng.sample(range(len(names)), len(names))
        shuffled.append((tuple(names[s] for s in seats), tuple(ranks[s] for s in seats)))
    assert rate_results(shuffled) == ratings
    renamed = rate_results([(tuple("x" + name for name in names), ranks) for names, ranks in results])
    assert renamed == {"x" + name: rating for name, rating in ratings.items()}


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(RESULTS)
def test_sigma_never_grows_and_everything_is_finite(results):
    for rating in rate_results(results).values():
        assert math.isfinite(rating.mu)
        assert 0 < rating.sigma <= SIGMA * (1 + 1e-9)


def test_bots_of_a_cycle_are_equal_groups_that_never_meet_centred_and_who_always_wins_is_finite():
    ratings = rate_results([(("a", "b"), (1, 2)), (("b", "c"), (1, 2)), (("c", "a"), (1, 2))] * 4)
    assert [rating.mu for rating in ratings.values()] == pytest.approx([MU] * 3, abs=0.01)
    ratings = rate_results([(("a", "b"), (1, 2)), (("c", "d"), (1, 2))])
    assert ratings["a"].mu + ratings["b"].mu == pytest.approx(2 * MU)
    assert ratings["c"] == pytest.approx(ratings["a"])
    ratings = rate_results([(("strong", "weak"), (1, 2))] * 100_000)
    assert MU < ratings["strong"].mu < 100
    assert ratings["strong"].mu - MU == pytest.approx(MU - ratings["weak"].mu, abs=0.01)


@pytest.mark.parametrize(
    "result", [(("a",), (1,)), (("a", "a"), (1, 2)), (("a", "b"), (1,)), (("a", "b"), (1, float("nan")))]
)
def test_a_result_that_is_none_is_refused(result):
    with pytest.raises(UsageError):
        rate_results([result])
    assert rate_results([]) == {}


def test_the_corrections_agree_with_the_package_where_it_is_accurate():
    env, package = Environment(0.1), trueskill.TrueSkill(backend=(cdf, pdf, ppf))
    for diff in (-3.0, -1.0, -0.1, 0.0, 0.5, 2.0, 4.0):
        for margin in (0.05, 0.3, 1.0):
            for name in ("v_win", "w_win", "v_draw", "w_draw"):
                ours, theirs = getattr(env, name)(diff, margin), getattr(package, name)(diff, margin)
                assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-9)


def test_the_tail_follows_its_asymptotic_series():
    """phi(x)/Phi(-x) = x + 1/x - 2/x**3 + 10/x**5 - 74/x**7 + … (Abramowitz and Stegun, 26.2.12)."""
    for x in (20.0, 50.0, 1000.0):
        assert hazard(-x) == pytest.approx(x + 1 / x - 2 / x**3 + 10 / x**5 - 74 / x**7, rel=1e-9)


def test_far_apart_skills_raise_nothing():
    env = Environment(0.1)
    for diff in (-300.0, -60.0, 60.0, 300.0):
        for name in ("v_win", "w_win", "v_draw", "w_draw"):
            assert math.isfinite(getattr(env, name)(diff, 0.2))
    assert env.v_draw(-60.0, 0.2) == pytest.approx(60.0, abs=0.5)
    assert env.v_draw(60.0, 0.2) == pytest.approx(-60.0, abs=0.5)
