import math
import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
import trueskill

from arena.ratings import BETA, SIGMA, field_fit, fit_counted
from arena.ratings.alternatives import bradley_terry, kendall_tau, nash_average
from arena.ratings.consistency import consistency, pair_scores
from arena.ratings.environment import Environment, Rating, cdf, pdf, ppf
from arena.ratings.ep_messages import corrections, gaussian_terms
from arena.ratings.field_fit import FittedEncounters, fit_encounters
from arena.ratings.result_arrays import EncounterArrays
from tests import needs

needs_scipy = needs.package("scipy")

MARGIN = ppf(0.55) * math.sqrt(2) * BETA


def match(rng, gap):
    shown = rng.gauss(gap, math.sqrt(2) * BETA)
    return (1, 1) if abs(shown) < MARGIN else (1, 2) if shown > 0 else (2, 1)


def encounter(rng, a, b, gap, opening=0.0):
    """Both seats from one opening, which favours seat 0 by so much."""
    return (((a, b), match(rng, gap + opening)), ((b, a), match(rng, -gap + opening)))


def field(seed, bots=8, sd=5.0, encounters=12, opening_sd=0.0, cyclic=0.0):
    rng = random.Random(seed)
    strengths = {f"b{k}": rng.gauss(0.0, sd) for k in range(bots)}
    extra = {pair: rng.gauss(0.0, cyclic) for pair in combinations(strengths, 2)}
    return strengths, [
        encounter(rng, a, b, strengths[a] - strengths[b] + extra[a, b], rng.gauss(0.0, opening_sd))
        for a, b in combinations(strengths, 2)
        for _ in range(encounters)
    ]


def held(strengths, encounters):
    """How many 95 % intervals hold the truth, relative to the mean of the field."""
    fitted = fit_encounters(Counter(encounters).items())
    means = np.array([rating.mu for rating in fitted.ratings])
    truth = np.array([strengths[name] for name in fitted.names])
    return int((np.abs(means - means.mean() - truth + truth.mean()) < fitted.margins()).sum())


def within(hits, trials, share=0.95, probability=1e-3):
    """Return whether so many hits are to be expected, up to ``probability``."""
    counts = np.arange(trials + 1)
    ways = [math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1) for k in counts]
    up_to = np.cumsum(np.exp(ways + counts * math.log(share) + (trials - counts) * math.log(1 - share)))
    low, high = np.searchsorted(up_to, [probability / 2, 1 - probability / 2])
    return low <= hits <= high


@pytest.mark.slow
@pytest.mark.parametrize(
    "kinds",
    [
        {},
        *(pytest.param(kinds, marks=pytest.mark.soak) for kinds in ({"sd": 1.0}, {"encounters": 3}, {"encounters": 1})),
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say(kinds):
    assert within(sum(held(*field(seed, **kinds)) for seed in range(40)), 320)


@pytest.mark.soak
def test_repeated_encounters_that_count_once_hold_the_truth_and_naive_ones_do_not():
    once = naive = 0
    for seed in range(40):
        strengths, encounters = field(seed, encounters=4)
        once += held(strengths, encounters)
        naive += held(strengths, encounters * 6)
    assert within(once, 320)
    assert not within(naive, 320)


@pytest.mark.soak
def test_mirrored_openings_make_intervals_narrower_and_still_true():
    """An opening that favours a seat cancels within an encounter; a fit of single matches can't know."""
    hits, ratios = 0, []
    for seed in range(40):
        strengths, encounters = field(seed, sd=3.0, opening_sd=6.0)
        scale = math.sqrt(2) * BETA / math.hypot(math.sqrt(2) * BETA, 6.0)
        hits += held({name: scale * value for name, value in strengths.items()}, encounters)
        fitted = fit_encounters(Counter(encounters).items())
        alone = fit_encounters(Counter((result,) for one in encounters for result in one).items())
        ratios.append(float(np.mean(fitted.margins() / alone.margins())))
    assert within(hits, 320)
    assert np.mean(ratios) < 0.9


def test_ratings_are_those_of_the_set_fit_under_the_same_prior():
    _, encounters = field(3)
    fitted = fit_encounters(Counter(encounters).items())
    counted = Counter(result for one in encounters for result in one)
    again = fit_counted(counted.items(), draw_probability=fitted.draw_probability, sigma=fitted.prior_width).ratings
    for name, rating in zip(fitted.names, fitted.ratings, strict=True):
        assert rating == pytest.approx(again[name], abs=1e-3)


@pytest.mark.slow
def test_the_priors_width_is_found_again():
    widths = [fit_encounters(Counter(field(seed, bots=20, sd=3.0)[1]).items()).prior_width for seed in range(8)]
    expected = math.sqrt((3 * SIGMA**2 + 20 * 9) / 23)  # three imaginary bots of the usual width
    assert np.mean(widths) == pytest.approx(expected, rel=0.12)


def test_where_the_prior_knows_most_the_draws_are_as_wide_as_the_prior():
    """Two bots known to be within 0.3 of the mean, and matches that hardly tell: the interval is the prior's."""
    rng = random.Random(1)
    encounters = Counter(encounter(rng, "a", "b", 0.0) for _ in range(40))
    fitted = fit_encounters(encounters.items(), prior_width=0.3)
    assert fitted.margins() == pytest.approx([1.96 * 0.3 / math.sqrt(2)] * 2, rel=0.15)


def test_probabilities_ranks_and_names_hang_together():
    _, encounters = field(5)
    fitted = fit_encounters(Counter(encounters).items())
    los = fitted.los()
    assert np.allclose(los + los.T, 1.0)
    means = np.array([rating.mu for rating in fitted.ratings])
    assert all((los[a, b] > 0.5) == (means[a] > means[b]) for a, b in combinations(range(8), 2))
    ranks = np.argsort(np.argsort(-means)) + 1
    for rank, (low, high) in zip(ranks, fitted.rank_intervals(), strict=True):
        assert 1 <= low <= rank <= high <= 8


@pytest.mark.parametrize("encounters", [1, 30])
def test_the_limit_of_the_bootstrap_is_what_many_draws_approach(monkeypatch, encounters):
    """Margins and covariances of both are equal within what 2,000 draws can differ by."""
    _, encounters = field(4, encounters=encounters, opening_sd=4.0)
    drawn = fit_encounters(Counter(encounters).items())
    monkeypatch.setattr(field_fit, "MAX_RESAMPLED", 0)
    limit = fit_encounters(Counter(encounters).items())
    assert drawn.ratings == limit.ratings
    assert limit.margins() == pytest.approx(drawn.margins(), rel=0.12)
    expected = np.cov(drawn.draws, rowvar=False)
    assert np.cov(limit.draws, rowvar=False) == pytest.approx(expected, abs=0.12 * expected.max())
    monkeypatch.setattr(field_fit, "KINDS_AT_A_TIME", 5)  # more than one piece
    assert fit_encounters(Counter(encounters).items()).draws == pytest.approx(limit.draws, abs=1e-9)
    if len(set(encounters)) > 100:  # leaving one out makes little difference
        monkeypatch.setattr(field_fit, "MAX_LEFT_OUT", 0)
        quick = fit_encounters(Counter(encounters).items())
        assert quick.margins() == pytest.approx(limit.margins(), rel=0.05)
        monkeypatch.setattr(EncounterArrays, "rivals", lambda _: None)
        assert quick.draws == pytest.approx(fit_encounters(Counter(encounters).items()).draws, abs=1e-7)


def test_only_where_rivals_stay_the_same_in_each_encounter_they_are_counted_by_pairs(monkeypatch):
    ab, ba, bc, three = ((("a", "b"), (1, 2)), (("b", "a"), (1, 2)), (("b", "c"), (1, 1)), (("a", "b", "c"), (1, 2, 3)))
    for encounters, is_quick in (
        ([(ab, ba), (bc,), (ab,), (ab, ab)], True),
        ([(ab, bc), (ab,)], False),
        ([(ab,), (three,)], False),
        ([(three,)], False),
    ):
        arrays = EncounterArrays.of((encounter, 3) for encounter in encounters)
        scores = pair_scores(arrays)
        assert (arrays.rivals() is not None) == is_quick
        with monkeypatch.context() as patch:
            patch.setattr(EncounterArrays, "rivals", lambda _: None)
            assert pair_scores(arrays) == scores


def test_the_order_of_encounters_makes_no_difference():
    assert_order_makes_no_difference()


def assert_order_makes_no_difference():
    _, encounters = field(6)
    shuffled = random.Random(1).sample(encounters, len(encounters))
    first, second = (fit_encounters(Counter(e).items()) for e in (encounters, shuffled))
    assert first.ratings == second.ratings
    assert np.array_equal(first.draws, second.draws)


def test_bots_that_are_equal_in_a_draw_are_ranked_by_name():
    draws = np.random.default_rng(1).integers(0, 2, size=(20, 100)).astype(float)
    fitted = FittedEncounters(
        names=tuple(f"{number:03}" for number in range(100)),
        ratings=(Rating(25.0, 1.0),) * 100,
        draw_probability=0.1,
        prior_width=1.0,
        draws=draws,
        encounters=1,
    )
    better = [[(-own[other], other) < (-own[bot], bot) for other in range(100)] for own in draws for bot in range(100)]
    ranks = 1 + np.sum(better, axis=1).reshape(20, 100)
    quantiles = np.quantile(ranks, (0.025, 0.975), axis=0, method="inverted_cdf")
    assert fitted.rank_intervals() == list(zip(*quantiles.tolist(), strict=True))


def test_margins_and_rank_intervals_are_quantiles_of_the_draws():
    fitted = fit_encounters(Counter(field(5)[1]).items())
    assert np.array_equal(fitted.margins(), np.quantile(np.abs(fitted.draws), 0.95, axis=0))
    order = np.argsort(-(np.array([rating.mu for rating in fitted.ratings]) + fitted.draws), axis=1)
    ranks = np.argsort(order, axis=1) + 1
    quantiles = np.quantile(ranks, (0.025, 0.975), axis=0, method="inverted_cdf")
    assert fitted.rank_intervals() == list(zip(*quantiles.tolist(), strict=True))


def test_no_results_and_one_result_are_no_problem():
    assert fit_encounters([]).names == ()
    single = fit_encounters([(((("a", "b"), (1, 2)),), 1)])
    assert single.ratings[0].mu > single.ratings[1].mu
    assert np.isfinite(single.margins()).all()


def test_corrections_agree_with_the_scalar_ones():
    scalar = Environment(0.1)
    for diff in (-300.0, -6.5, -1.0, 0.0, 0.5, 3.0, 60.0):
        for margin in (0.05, 0.7, 40.0):
            for is_draw, v_name, w_name in ((False, "v_win", "w_win"), (True, "v_draw", "w_draw")):
                v, w = corrections(np.array([diff]), np.array([margin]), np.array([is_draw]))
                assert v[0] == pytest.approx(getattr(scalar, v_name)(diff, margin), rel=1e-8, abs=1e-12)
                assert w[0] == pytest.approx(getattr(scalar, w_name)(diff, margin), rel=1e-6, abs=1e-9)


@needs_scipy
@pytest.mark.parametrize("is_draw", [False, True])
def test_the_message_of_two_gives_the_moments_of_the_integral(is_draw):
    """Prior times message has the mean and variance of prior times likelihood, integrated numerically."""
    from scipy.integrate import quad

    (m1, v1), (m2, v2) = (26.0, 9.0), (23.0, 16.0)
    terms = gaussian_terms(np.array([[m1, m2]]), np.array([[v1, v2]]), np.array([[is_draw]]), MARGIN, BETA)
    precision = np.diag([1 / v1, 1 / v2]) + terms.precision[0]
    mean = np.linalg.solve(precision, np.array([m1 / v1, m2 / v2]) + terms.shift[0])
    spread = math.sqrt(v1 + v2)

    def likelihood(d):
        z, e = d / (math.sqrt(2) * BETA), MARGIN / (math.sqrt(2) * BETA)
        return cdf(e - z) - cdf(-e - z) if is_draw else cdf(z - e)

    def moment(k):
        return quad(lambda d: d**k * likelihood(d) * pdf((d - m1 + m2) / spread) / spread, -60, 60, epsabs=1e-12)[0]

    first, second = moment(1) / moment(0), moment(2) / moment(0)
    step = np.array([1.0, -1.0])
    assert step @ mean == pytest.approx(first, rel=1e-6)
    assert step @ np.linalg.inv(precision) @ step == pytest.approx(second - first**2, rel=1e-6)


def test_the_messages_of_four_give_what_the_package_gives():
    mean, variance = np.array([[27.0, 25.0, 24.0, 26.0]]), np.array([[16.0, 30.0, 9.0, 20.0]])
    terms = gaussian_terms(mean, variance, np.array([[False, True, False]]), MARGIN, BETA)
    covariance = np.linalg.inv(np.diag(1 / variance[0]) + terms.precision[0])
    joint = covariance @ (mean[0] / variance[0] + terms.shift[0])
    package = trueskill.TrueSkill(tau=0.0, draw_probability=0.1, backend=(cdf, pdf, ppf))
    rated = package.rate(
        [(package.create_rating(m, math.sqrt(v)),) for m, v in zip(mean[0], variance[0], strict=True)],
        ranks=[0, 1, 1, 2],
        min_delta=1e-9,
    )
    for k, (rating,) in enumerate(rated):
        assert joint[k] == pytest.approx(rating.mu, abs=1e-3)
        assert math.sqrt(covariance[k, k]) == pytest.approx(rating.sigma, abs=1e-3)


@pytest.mark.slow
def test_a_field_without_cycles_is_not_flagged_and_a_cyclic_one_is():
    flagged = [0, 0]
    for seed in range(12):
        for number, cyclic in enumerate((0.0, 5.0)):
            encounters = Counter(field(seed, cyclic=cyclic, encounters=20)[1])
            flagged[number] += consistency(encounters.items(), fit_encounters(encounters.items())).is_flagged
    assert flagged[0] <= 1
    assert flagged[1] >= 11


def test_a_cycle_is_named():
    encounters = Counter()
    for a, b in (("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")):
        encounters[(((a, b), (1, 2)), ((b, a), (2, 1)))] += 15
    found = consistency(encounters.items(), fit_encounters(encounters.items()))
    assert found.is_flagged
    assert found.cycles == (("paper", "rock", "scissors"),)


def test_pair_scores_are_means_over_encounters():
    won, split = ((("a", "b"), (1, 2)), (("b", "a"), (2, 1))), ((("a", "b"), (1, 2)), (("b", "a"), (1, 2)))
    score = pair_scores(EncounterArrays.of([(won, 3), (split, 1)]))["a", "b"]
    assert (score.score, score.encounters) == (pytest.approx(3.5 / 4), 4)
    assert score.variance == pytest.approx(0.0625)
    three = pair_scores(EncounterArrays.of([(((("a", "b", "c"), (1, 2, 2)),), 1)]))
    assert [three[pair].score for pair in (("a", "b"), ("a", "c"), ("b", "c"))] == [1.0, 1.0, 0.5]


def test_pair_scores_count_matches_of_two_and_of_three_alike():
    """By hand: each pair meets once in twos, and twice in threes, where b beats c beats a, then a beats b beats c."""
    twos = [((pair, ranks),) for pair, ranks in ((("a", "b"), (1, 2)), (("b", "c"), (1, 1)), (("a", "c"), (2, 1)))]
    threes = [((("a", "b", "c"), ranks),) for ranks in ((3, 1, 2), (1, 2, 3))]
    scores = pair_scores(EncounterArrays.of([(met, 1) for met in (*twos, *threes)]))
    assert {pair: 3 * score.score for pair, score in scores.items()} == pytest.approx(
        {("a", "b"): 2.0, ("b", "c"): 2.5, ("a", "c"): 1.0}
    )
    assert {score.encounters for score in scores.values()} == {3}


BASEBALL = {
    "Milwaukee": {"Detroit": 7, "Toronto": 9, "New York": 7, "Boston": 7, "Cleveland": 9, "Baltimore": 11},
    "Detroit": {"Milwaukee": 6, "Toronto": 7, "New York": 5, "Boston": 11, "Cleveland": 9, "Baltimore": 9},
    "Toronto": {"Milwaukee": 4, "Detroit": 6, "New York": 7, "Boston": 7, "Cleveland": 8, "Baltimore": 12},
    "New York": {"Milwaukee": 6, "Detroit": 8, "Toronto": 6, "Boston": 6, "Cleveland": 7, "Baltimore": 10},
    "Boston": {"Milwaukee": 6, "Detroit": 2, "Toronto": 6, "New York": 7, "Cleveland": 7, "Baltimore": 12},
    "Cleveland": {"Milwaukee": 4, "Detroit": 4, "Toronto": 5, "New York": 6, "Boston": 6, "Baltimore": 6},
    "Baltimore": {"Milwaukee": 2, "Detroit": 4, "Toronto": 1, "New York": 3, "Boston": 1, "Cleveland": 7},
}
"""American League East, 1987: wins of the row over the column (Agresti, "Categorical Data Analysis", table 10.10)."""
SEASON = [(((a, b), (1, 2)), n) for a, row in BASEBALL.items() for b, n in row.items()]


def test_bradley_terry_gives_the_textbooks_estimates():
    strengths = bradley_terry(EncounterArrays.of_results(SEASON), prior_draws=0.0)
    relative = {name: round(value - strengths["Baltimore"], 3) for name, value in strengths.items()}
    assert relative == {  # as the package BradleyTerry2 for R prints them
        "Milwaukee": 1.581, "Detroit": 1.436, "Toronto": 1.294, "New York": 1.248, "Boston": 1.108,
        "Cleveland": 0.684, "Baltimore": 0.0,
    }  # fmt: skip


def test_a_draw_is_half_a_win_to_bradley_terry():
    """Won once and drawn once: three quarters of the points, so odds of three to one."""
    results = EncounterArrays.of_results([((("b", "a"), (2, 1)), 1), ((("b", "a"), (1, 1)), 1)])
    strengths = bradley_terry(results, prior_draws=0.0)
    assert strengths["a"] - strengths["b"] == pytest.approx(math.log(3))


def test_bradley_terry_knows_bots_that_no_match_connects():
    """After the first round of a Swiss; odds of three to one in each pair."""
    pairs = [("a", "b"), ("d", "c")]
    counted = [((pair, ranks), 1) for pair in pairs for ranks in ((1, 2), (1, 1))]
    strengths = bradley_terry(EncounterArrays.of_results(counted), prior_draws=0.0)
    half = math.log(3) / 2
    assert strengths == pytest.approx({"a": half, "b": -half, "c": -half, "d": half})


def test_bradley_terry_stays_finite_and_centred():
    counted = [((("a", "b"), (1, 2)), 1000), ((("c", "a", "b"), (1, 2, 2)), 10)]
    strengths = bradley_terry(EncounterArrays.of_results(counted))
    assert all(math.isfinite(value) for value in strengths.values())
    assert sum(strengths.values()) == pytest.approx(0.0)
    assert bradley_terry(EncounterArrays.of_results([])) == {}


def test_kendalls_tau_by_hand():
    assert kendall_tau({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "c": 2}) == pytest.approx(1 / 3)
    assert kendall_tau({"a": 1}, {"a": 2}) == 1.0


def test_nash_averaging_shares_a_cycle_and_gives_copies_no_advantage():
    """Rock, paper, scissors: a third each (von Neumann). A second rock shares rock's weight and changes nothing."""
    rps = {("r", "s"): 1.0, ("s", "p"): 1.0, ("p", "r"): 1.0}
    found = nash_average(rps, ["p", "r", "s"])
    assert [weight for weight, _ in found.values()] == pytest.approx([1 / 3] * 3, abs=1e-4)
    assert [payoff for _, payoff in found.values()] == pytest.approx([0.0] * 3, abs=1e-6)
    doubled = nash_average({**rps, ("r2", "s"): 1.0, ("p", "r2"): 1.0, ("r", "r2"): 0.5}, ["p", "r", "r2", "s"])
    assert [doubled[bot][0] for bot in ("r", "r2")] == pytest.approx([1 / 6] * 2, abs=1e-3)
    assert doubled["p"][0] == pytest.approx(1 / 3, abs=1e-3)


def test_in_a_transitive_field_the_best_has_all_the_weight():
    found = nash_average({("a", "b"): 0.7, ("b", "c"): 0.6, ("a", "c"): 0.9}, ["a", "b", "c"])
    assert found["a"] == pytest.approx((1.0, 0.0), abs=1e-6)
    assert found["c"][1] == pytest.approx(-0.4, abs=1e-6)


def most_even_by_scipy(payoff):
    from scipy.optimize import linprog, minimize

    size = len(payoff)
    feasible = linprog(np.zeros(size), payoff, np.zeros(size), np.ones((1, size)), [1.0], bounds=(0.0, 1.0)).x
    fair = {"type": "ineq", "fun": lambda p: -(payoff @ p), "jac": lambda p: -payoff}
    whole = {"type": "eq", "fun": lambda p: p.sum() - 1.0, "jac": lambda p: np.ones(size)}
    return minimize(
        lambda p: float((p * np.log(np.maximum(p, 1e-12))).sum()), 0.9 * feasible + 0.1 / size, method="SLSQP",
        jac=lambda p: np.log(np.maximum(p, 1e-12)) + 1.0, bounds=[(0.0, 1.0)] * size, constraints=[fair, whole],
        options={"maxiter": 500, "ftol": 1e-12},
    ).x  # fmt: skip


def random_scores(seed, size):
    rng = random.Random(seed)
    steps = rng.choice([4, 1000])  # with few different scores there is more than one equilibrium
    return {(f"b{a:02}", f"b{b:02}"): rng.randint(0, steps) / steps for a, b in combinations(range(size), 2)}


@needs_scipy
@pytest.mark.parametrize("seed", [*range(0, 12, 2), 37])
def test_the_equilibrium_is_the_most_even_one(seed):
    size = 3 + seed
    bots = [f"b{k:02}" for k in range(size)]
    scores = random_scores(seed, size)
    payoff = np.zeros((size, size))
    for (a, b), score in scores.items():
        payoff[int(a[1:]), int(b[1:])] = score - 0.5
    found = nash_average(scores, bots)
    weights = np.array([found[bot].weight for bot in bots])
    assert weights == pytest.approx(most_even_by_scipy(payoff - payoff.T), abs=1e-4)
    assert weights.sum() == pytest.approx(1.0)
    assert max(average.payoff for average in found.values()) < 1e-7
    assert nash_average({}, []) == {}
