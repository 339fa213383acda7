"""Rating 1,000,000 matches of 50 bots: the order-free fit beside the package's online updates over the same results.

The online updates are timed over the first 50,000 results, and their time for all is scaled from that (they take the
same time each); with ``--full`` they go through all of them, which takes minutes.
"""

import random
import sys
import time
from itertools import combinations

import trueskill

from arena.ratings import BETA, rate_results
from benchmarks.common import machine

MATCHES, BOTS, DRAW_MARGIN = 1_000_000, 50, 0.8


def simulated():
    rng = random.Random(1)
    strengths = [rng.gauss(25, 8) for _ in range(BOTS)]
    pairs = list(combinations(range(BOTS), 2))
    results = []
    for k in range(MATCHES):
        a, b = pairs[k % len(pairs)]
        gap = rng.gauss(strengths[a] - strengths[b], 2**0.5 * BETA)
        results.append(((f"bot{a}", f"bot{b}"), (1, 1) if abs(gap) < DRAW_MARGIN else (1, 2) if gap > 0 else (2, 1)))
    return results


def online_seconds(results):
    env = trueskill.TrueSkill(draw_probability=0.1)
    ratings = {f"bot{k}": env.create_rating() for k in range(BOTS)}
    started = time.perf_counter()
    for (a, b), ranks in results:
        (ratings[a],), (ratings[b],) = env.rate([(ratings[a],), (ratings[b],)], ranks=ranks)
    return time.perf_counter() - started


def main():
    print(machine())
    results = simulated()
    started = time.perf_counter()
    rate_results(results)
    fit = time.perf_counter() - started
    part = results if "--full" in sys.argv else results[:50_000]
    online = online_seconds(part) * len(results) / len(part)
    how = "" if len(part) == len(results) else f" (scaled from {len(part):,})"
    print(f"order-free fit {fit:.2f} s; online updates {online:.0f} s{how}: {online / fit:.0f} times faster")


if __name__ == "__main__":
    main()
