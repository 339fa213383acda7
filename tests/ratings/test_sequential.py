import random
from math import comb, erf, exp, inf, log, sqrt
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.errors import UsageError
from arena.ratings.sequential import (
    LEARNT_ENCOUNTERS,
    MIN_ENCOUNTERS,
    Hypotheses,
    SequentialTest,
    Verdict,
    elo_of_score,
    evidence,
    score_of_elo,
)
from benchmarks.sequential import expected_encounters
from tests import needs


def decide(scores, hypotheses: Hypotheses) -> Verdict:
    test = SequentialTest(hypotheses)
    for score in scores:
        test.add(score)
    return test.verdict


def test_elo_is_the_logistic_scale_and_bounds_are_walds():
    """FIDE's and fishtest's: 400 Elo are odds of ten to one."""
    assert score_of_elo(400) == pytest.approx(10 / 11)
    assert score_of_elo(0) == 0.5
    assert elo_of_score(score_of_elo(-37.5)) == pytest.approx(-37.5)
    assert (elo_of_score(0.0), elo_of_score(1.0)) == (-inf, inf)
    assert Hypotheses(0, 5, 0.05, 0.05).bounds == pytest.approx((-log(19), log(19)))
    assert Hypotheses(0, 5, 0.05, 0.1).bounds == pytest.approx((log(0.1 / 0.95), log(0.9 / 0.05)))


@given(st.integers(1, 500), st.integers(1, 500))
def test_with_two_scores_it_is_walds_test_of_a_coin(won, lost):
    """LLR = won log(s1/s0) + lost log((1 - s1)/(1 - s0)) (Wald 1947, chapter 5)."""
    tested = Hypotheses(0, 40)
    s0, s1 = score_of_elo(0), score_of_elo(40)
    found = evidence({1.0: won, 0.0: lost}, tested)
    number = won + lost
    whole = won * log(s1 / s0) + lost * log((1 - s1) / (1 - s0))
    assert found.llr == pytest.approx(max(0, number - LEARNT_ENCOUNTERS) / number * whole, rel=1e-6, abs=1e-6)


def constrained_likelihood(values, counts, mean):
    """The greatest log-likelihood of distributions with this mean, by a general optimiser."""
    from scipy.optimize import minimize

    total = counts.sum()

    def minus(logits):
        p = np.exp(logits - logits.max())
        p /= p.sum()
        return -float(counts @ np.log(p)) / total

    def off(logits):
        p = np.exp(logits - logits.max())
        return float(p @ values / p.sum()) - mean

    start = np.log(counts / total)
    found = minimize(minus, start, constraints={"type": "eq", "fun": off}, method="SLSQP", options={"ftol": 1e-14})
    return -found.fun * total


@needs.package("scipy")
@pytest.mark.parametrize("counts", [(5, 20, 60, 30, 9), (1, 2, 3, 4, 5), (40, 10, 5, 10, 40)])
def test_the_pentanomial_ratio_is_that_of_the_best_distributions(counts):
    values = np.array([0, 0.25, 0.5, 0.75, 1.0])
    tested = Hypotheses(-10, 25)
    want = [constrained_likelihood(values, np.array(counts, float), score_of_elo(elo)) for elo in (-10, 25)]
    found = evidence(dict(zip(values.tolist(), counts, strict=True)), tested)
    learnt = 1 - LEARNT_ENCOUNTERS / sum(counts)
    assert found.llr == pytest.approx(learnt * (want[1] - want[0]), rel=1e-3, abs=1e-3)


def test_los_and_the_interval_are_those_of_a_mean_with_a_lost_and_a_won_encounter_more():
    """25 won and 15 lost of 40; the 0.975 quantile of t with 41 degrees of freedom is 2.01954."""
    found = evidence({1.0: 25, 0.0: 15}, Hypotheses())
    added = [1.0] * 26 + [0.0] * 16
    error = stdev(added) / sqrt(42)
    assert found.score == 0.625
    assert found.los == pytest.approx(0.5 * (1 + erf((mean(added) - 0.5) / error / sqrt(2))))
    ends = [mean(added) - 2.01954 * error, mean(added) + 2.01954 * error]
    assert found.elo == pytest.approx([elo_of_score(score) for score in (0.625, *ends)], rel=1e-4)
    assert evidence({1.0: 8}, Hypotheses()).elo[0] == inf


@pytest.mark.parametrize("number", [8, 16, 40])
def test_the_interval_has_the_truth_also_where_a_bot_hardly_ever_loses(number):
    """Of all outcomes, by their binomial probabilities, for bots that win 80, 90 and 95 % of encounters."""
    for chance in (0.8, 0.9, 0.95):
        covered = 0.0
        for won in range(number + 1):
            _, low, high = evidence({1.0: won, 0.0: number - won}, Hypotheses()).elo
            if score_of_elo(low) <= chance <= score_of_elo(high):
                covered += comb(number, won) * chance**won * (1 - chance) ** (number - won)
        assert covered > 0.94


def test_swapping_the_bots_turns_the_ratio_around():
    scores = {0.0: 3, 0.25: 10, 0.5: 30, 0.75: 20, 1.0: 4}
    mirrored = {1 - score: often for score, often in scores.items()}
    assert evidence(scores, Hypotheses(-5, 15)).llr == pytest.approx(-evidence(mirrored, Hypotheses(-15, 5)).llr)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"elo0": 5, "elo1": 5}, "elo1 = 5: expected a number greater than elo0 = 5"),
        ({"alpha": 0.7}, "alpha = 0.7: expected a number between 0 and 0.5"),
        ({"beta": float("nan")}, "beta = nan"),
    ],
)
def test_hypotheses_that_are_none_are_refused(values, message):
    with pytest.raises(UsageError, match=message):
        Hypotheses(**values)


def test_no_verdict_before_anything_is_known_and_none_after_the_verdict():
    assert decide([1.0] * (MIN_ENCOUNTERS - 1), Hypotheses(0, 400)).decision == "open"
    won = decide([1.0] * 500, Hypotheses(0, 400))
    assert won.decision == "accepted"
    again = decide([1.0] * 500 + [0.0] * 500, Hypotheses(0, 400))
    assert (again.decision, again.evidence) == (won.decision, won.evidence)
    assert decide([], Hypotheses()).decision == "open"
    assert decide([0.0] * 500, Hypotheses(0, 400)).decision == "rejected"


def pentanomial(rng, elo, draw=0.4):
    mean = score_of_elo(elo)
    win = mean - draw / 2
    return sum(1.0 if (u := rng.random()) < win else 0.5 if u < win + draw else 0.0 for _ in range(2)) / 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("elo", "decision"), [(0.0, "accepted"), pytest.param(60.0, "rejected", marks=pytest.mark.soak)]
)
def test_it_errs_no_more_often_than_promised(elo, decision):
    """150 tests with alpha = beta = 5 %: at 99.9 %, a promise kept is broken at most 17 times in them."""
    tested = Hypotheses(0, 60)
    rng = random.Random(f"errors {elo}")
    wrong = sum(decide((pentanomial(rng, elo) for _ in range(2000)), tested).decision == decision for _ in range(150))
    assert wrong <= 17


@pytest.mark.soak
def test_the_mean_length_is_what_walds_formulas_say():
    """Between and at the hypotheses, within chance (99.9 %) and a tenth for the overshoot of the bounds."""
    tested = Hypotheses(0, 30)
    for elo in (0.0, 15.0, 30.0):
        rng = random.Random(f"length {elo}")
        verdicts = [decide((pentanomial(rng, elo) for _ in range(5000)), tested) for _ in range(100)]
        lengths = [verdict.evidence.encounters for verdict in verdicts]
        error = stdev(lengths) / sqrt(len(lengths))
        score = score_of_elo(elo)
        variance = (0.6 - (2 * score - 1) ** 2) / 8
        accepted, expected = expected_encounters(score, variance, tested)
        assert abs(mean(lengths) - expected - LEARNT_ENCOUNTERS) < 3.3 * error + 0.1 * expected
        assert sum(v.decision == "accepted" for v in verdicts) / 100 == pytest.approx(accepted, abs=0.15)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([0.0, 1 / 6, 1 / 3, 0.5, 2 / 3, 5 / 6, 1.0]), min_size=1, max_size=60))
def test_any_scores_give_a_finite_ratio(scores):
    found = evidence({score: scores.count(score) for score in scores}, Hypotheses(0, 100))
    assert abs(found.llr) < 1e6
    assert 0 <= found.los <= 1
    assert exp(-abs(found.llr)) >= 0
