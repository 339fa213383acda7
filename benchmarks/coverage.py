"""How often 95 % intervals hold the truth, with the draw probability as the tied share or matched to the fit.

Simulated round robins with known strengths; strengths and ratings are compared after taking out their means.
"""

import math
import random

from arena.ratings import BETA, MU, SIGMA, rate_results
from arena.ratings.environment import ppf
from benchmarks.common import machine

DRAW_PROBABILITY = 0.1
MARGIN = ppf((DRAW_PROBABILITY + 1) / 2) * math.sqrt(2) * BETA


def field(bots, matches_a_pair, seed):
    rng = random.Random(seed)
    strengths = [rng.gauss(MU, SIGMA) for _ in range(bots)]
    results = []
    for a in range(bots):
        for b in range(a):
            for _ in range(matches_a_pair):
                gap = rng.gauss(strengths[a] - strengths[b], math.sqrt(2) * BETA)
                ranks = (1, 1) if abs(gap) < MARGIN else (1, 2) if gap > 0 else (2, 1)
                results.append(((f"b{a:02}", f"b{b:02}"), ranks))
    mean = sum(strengths) / bots
    return {f"b{k:02}": strength - mean for k, strength in enumerate(strengths)}, results


def held(strengths, ratings):
    return sum(abs(ratings[name].mu - MU - truth) < 1.96 * ratings[name].sigma for name, truth in strengths.items())


def main():
    print(machine())
    for bots, matches_a_pair, fields in ((12, 50, 40), (50, 20, 8), (50, 800, 2)):
        by_share = matched = 0
        for seed in range(fields):
            strengths, results = field(bots, matches_a_pair, seed)
            share = sum(ranks == (1, 1) for _, ranks in results) / len(results)
            by_share += held(strengths, rate_results(results, draw_probability=share))
            matched += held(strengths, rate_results(results))
        total = bots * fields
        print(
            f"{bots} bots, {matches_a_pair} matches a pair, {fields} fields: tied share {by_share / total:.0%},"
            f" matched {matched / total:.0%}"
        )


if __name__ == "__main__":
    main()
