"""The sequential test of ``arena compare``: how often it errs, and how long it takes, beside Wald's formulas.

Simulated pairs of matches (both seats from one opening) with 40 % draws, at several true Elo differences.
"""

import random
from math import exp

from arena.ratings.sequential import Hypotheses, SequentialTest, score_of_elo
from benchmarks.common import machine

RUNS = 400
DRAWS = 0.4
MOST = 20_000


def pair(rng, elo):
    win = score_of_elo(elo) - DRAWS / 2
    return sum(1.0 if (u := rng.random()) < win else 0.5 if u < win + DRAWS else 0.0 for _ in range(2)) / 2


def expected_encounters(score: float, variance: float, hypotheses: Hypotheses) -> tuple[float, float]:
    """Return the probability that H1 is accepted and the mean number of encounters, if this is the true mean score.

    The LLR is taken for a Brownian motion, as fishtest's calculator does (Wald's formulas).
    """
    low, high = hypotheses.bounds
    s0, s1 = score_of_elo(hypotheses.elo0), score_of_elo(hypotheses.elo1)
    drift = (s1 - s0) * (2 * score - s0 - s1) / (2 * variance)
    spread = (s1 - s0) ** 2 / variance
    h = 2 * drift / spread
    if abs(h) < 1e-9:
        return -low / (high - low), -low * high / spread
    accepted = (exp(-h * low) - 1.0) / (exp(-h * low) - exp(-h * high))
    return accepted, (accepted * high + (1.0 - accepted) * low) / drift


def main():
    print(machine())
    print(f"{RUNS} tests each, alpha = beta = 0.05; encounters are pairs of matches")
    print("elo0 elo1  true Elo  accepted  (Wald)  rejected  mean encounters  (Wald)")
    for elo0, elo1 in ((0.0, 20.0), (0.0, 50.0)):
        tested = Hypotheses(elo0, elo1)
        for true in (elo0, (elo0 + elo1) / 2, elo1, 2 * elo1):
            rng = random.Random(f"{elo0} {elo1} {true}")
            verdicts = []
            for _ in range(RUNS):
                test = SequentialTest(tested)
                for _ in range(MOST):
                    test.add(pair(rng, true))
                    if test.decision != "open":
                        break
                verdicts.append(test.verdict)
            score = score_of_elo(true)
            variance = (1 - DRAWS - (2 * score - 1) ** 2) / 8
            chance, length = expected_encounters(score, variance, tested)
            accepted = sum(one.decision == "accepted" for one in verdicts) / RUNS
            rejected = sum(one.decision == "rejected" for one in verdicts) / RUNS
            mean = sum(one.evidence.encounters for one in verdicts) / RUNS
            print(
                f"{elo0:4.0f} {elo1:4.0f} {true:9.0f} {accepted:9.3f} {chance:7.3f} {rejected:9.3f}"
                f" {mean:16.0f} {length:7.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
