import math
import random
from collections import Counter

import numpy as np
import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.errors import UsageError
from arena.ratings import BETA, MU, SIGMA, fit_counted, rate_results
from arena.ratings.alternatives import connected_components
from arena.ratings.distributions import chi_square_survival, mills_ratio, normal_cdf, t_quantile
from arena.ratings.distributions import hazard as hazard_of
from arena.ratings.environment import Environment, cdf, hazard, pdf, ppf
from arena.ratings.result_arrays import counting
from tests import needs

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


def test_bots_of_a_cycle_are_equal_and_groups_that_never_meet_centred():
    ratings = rate_results([(("a", "b"), (1, 2)), (("b", "c"), (1, 2)), (("c", "a"), (1, 2))] * 4)
    assert [rating.mu for rating in ratings.values()] == pytest.approx([MU] * 3, abs=0.01)
    ratings = rate_results([(("a", "b"), (1, 2)), (("c", "d"), (1, 2))])
    assert ratings["a"].mu + ratings["b"].mu == pytest.approx(2 * MU)
    assert ratings["c"] == pytest.approx(ratings["a"])


@pytest.mark.parametrize(
    ("wins", "prior", "mu", "sigma"),
    [
        (1, SIGMA, 4.39558, 7.17114),
        (100, SIGMA, 10.98040, 3.87625),
        (100_000, SIGMA, 15.80029, 2.46877),
        (18, 12.0, 11.94760, 6.58796),
    ],
)
def test_who_always_wins_is_rated_as_by_the_two_equations_that_are_left_then(wins, prior, mu, sigma):
    """Equal results of two bots send equal messages, so the fit solves two equations; these solutions are SciPy's."""
    ratings = fit_counted([((("a", "b"), (1, 2)), wins)], draw_probability=0.1, sigma=prior).ratings
    assert ratings["a"] == pytest.approx((MU + mu, sigma), abs=2e-4)
    assert ratings["b"] == pytest.approx((MU - mu, sigma), abs=2e-4)


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


needs_scipy = needs.package("scipy")

NUMBERS = np.concatenate([np.linspace(-37.0, 9.0, 4601), [-1e-300, 0.0, 1e-300]])


@needs_scipy
def test_the_normal_distribution_agrees_with_scipy_in_both_tails():
    from scipy import special

    assert normal_cdf(NUMBERS) == pytest.approx(special.ndtr(NUMBERS), rel=1e-12)
    assert normal_cdf(np.array([-np.inf, -50.0, 50.0, np.inf])).tolist() == [0.0, 0.0, 1.0, 1.0]


@needs_scipy
def test_the_hazard_agrees_with_scipy_and_with_its_limits():
    from scipy import special

    log_density = -0.5 * NUMBERS**2 - 0.5 * math.log(2 * math.pi)
    assert hazard_of(NUMBERS) == pytest.approx(np.exp(log_density - special.log_ndtr(NUMBERS)), rel=1e-12)
    assert hazard_of(np.array([-1e8, -1e300, 1e300])) == pytest.approx([1e8, 1e300, 0.0], rel=1e-15)


@needs_scipy
def test_mills_ratio_is_that_of_scipys_scaled_error_function():
    """(1 - cdf(x)) / pdf(x) = sqrt(pi / 2) erfcx(x / sqrt(2)); of more values than fit into one block."""
    from scipy import special

    x = np.concatenate([np.linspace(0.0, 30.0, 19_990), np.logspace(2, 12, 10)]).reshape(4, 5000)
    expected = math.sqrt(math.pi / 2) * special.erfcx(x / math.sqrt(2))
    assert mills_ratio(x).ravel().tolist() == pytest.approx(expected.ravel().tolist(), rel=2e-15)


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    # Abramowitz and Stegun, table 26.10, for a probability of 0.95 within
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (10, 2.228), (29, 2.045), (60, 2.000), (120, 1.980)],
)
def test_quantiles_of_t_are_those_of_the_table(freedom, quantile):
    assert t_quantile(freedom, 0.975) == pytest.approx(quantile, abs=5e-4)


@needs_scipy
@pytest.mark.parametrize("freedom", [1, 2, 3, 50, 199, 200, 100_000])
def test_quantiles_of_t_agree_with_scipy(freedom):
    from scipy import special

    for p in (0.6, 0.9, 0.975, 0.995):
        assert t_quantile(freedom, p) == pytest.approx(special.stdtrit(freedom, p), rel=1e-10)


@pytest.mark.parametrize(("freedom", "quantile"), [(1, 3.841), (2, 5.991), (10, 18.307), (30, 43.773), (100, 124.342)])
def test_five_percent_of_chi_square_are_beyond_the_value_of_the_table(freedom, quantile):
    """Abramowitz and Stegun, table 26.8."""
    assert chi_square_survival(freedom, quantile) == pytest.approx(0.05, abs=2e-5)


@needs_scipy
def test_chi_square_agrees_with_scipy():
    from scipy import special

    for freedom in (0.7, 1.0, 7.3, 30.0, 1234.5, 1e5):
        for x in (0.01, 1.0, 0.9 * freedom, freedom, freedom + 2 * math.sqrt(freedom), 1.3 * freedom):
            expected = special.chdtrc(freedom, x)
            assert chi_square_survival(freedom, x) == pytest.approx(expected, rel=1e-8, abs=1e-300)
    assert chi_square_survival(3.0, 0.0) == 1.0


@needs_scipy
def test_components_agree_with_scipy():
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components as components_of_scipy

    for seed in range(60):
        rng = np.random.default_rng(seed)
        size, edges = int(rng.integers(1, 50)), int(rng.integers(0, 50))
        first, second = rng.integers(0, size, (2, edges))
        found = connected_components(size, first, second)
        matrix = coo_matrix((np.ones(edges), (first, second)), shape=(size, size))
        _, expected = components_of_scipy(matrix, directed=False)
        assert found.tolist() == [int(np.flatnonzero(expected == label)[0]) for label in expected]


def test_a_long_chain_is_one_component_and_what_is_always_the_same_counts_once():
    chain = np.random.default_rng(0).permutation(5000)
    assert not connected_components(5000, chain[:-1], chain[1:]).any()
    assert counting("ABABAB", "111211") == [True, True, False, True, False, True]


# which matches count, against the rule written in another way


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2))))
def test_an_opening_counts_once_if_the_same_match_follows_and_always_otherwise(matches):
    counts = counting([opening for opening, _ in matches], [actions for _, actions in matches])
    for opening in {opening for opening, _ in matches}:
        own = [(actions, counted) for (of, actions), counted in zip(matches, counts, strict=True) if of == opening]
        if len({actions for actions, _ in own}) == 1:
            assert [counted for _, counted in own] == [True] + [False] * (len(own) - 1)
        else:
            assert all(counted for _, counted in own)
