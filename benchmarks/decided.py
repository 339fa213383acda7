"""Playing until it is decided: how often its claims are wrong, and how many matches it saves, in simulated fields.

``python -m benchmarks.decided [RUNS] [BOTS,…]``: each line is a kind of field, each run another field of that kind.
"""

import sys
import time

import numpy as np

from arena.base.until import Until
from arena.tournament.until_simulation import World, play_until
from benchmarks.common import machine

RUNS = {8: 400, 24: 200, 100: 20}
WORLDS = ((0.0, 0.0), (0.3, 0.0), (0.6, 0.0), (0.3, 5.0))
"""Draw probabilities, and points of mu that an opening favours one of two bots by."""

CIRCLE = 3.0
"""Points of mu by which each of three equal bots beats the next."""


def normal(bots, rng):
    return 4 * rng.standard_normal(bots)


def heavy_tails(bots, rng):
    return 3 * rng.standard_t(2, bots)


def two_clusters(bots, rng):
    return np.where(np.arange(bots) < bots / 2, -5, 5) + rng.standard_normal(bots)


def all_equal(bots, rng):
    return np.zeros(bots)


def spaced(bots, rng):
    """Neighbours a little further apart than the indifference: the hardest field for claims of equality."""
    return 0.52 * np.arange(bots)


def circle(bots, rng):
    strengths = normal(bots, rng)
    strengths[1] = strengths[2] = strengths[0]
    return strengths


FIELDS = (normal, heavy_tails, two_clusters, all_equal, spaced, circle)


def advantages(bots):
    matrix = np.zeros((bots, bots))
    for a, b in ((0, 1), (1, 2), (2, 0)):
        matrix[a, b], matrix[b, a] = CIRCLE, -CIRCLE
    return matrix


def wilson(count, runs, z=1.96):
    share = count / runs
    middle = (share + z * z / (2 * runs)) / (1 + z * z / runs)
    half = z * np.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs)) / (1 + z * z / runs)
    return middle - half, middle + half


def main():
    sizes = [int(size) for size in sys.argv[2].split(",")] if len(sys.argv) > 2 else list(RUNS)
    print(machine())
    print("Every run is another field; the runs of a line go through these worlds in turn: draws, spread of openings:")
    print(", ".join(f"{draws:g}, {spread:g}" for draws, spread in WORLDS))
    print("bots field          runs  wrong (95 % interval)   matches     fixed  ratio  looks  s/run", flush=True)
    for bots in sizes:
        runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS[bots]
        for field in FIELDS:
            began, found = time.process_time(), []
            for number in range(runs):
                rng = np.random.default_rng([number, bots])
                extra = advantages(bots) if field is circle else None
                world = World(field(bots, rng), *WORLDS[number % len(WORLDS)], rng, extra)
                found.append(play_until(world, Until()))
            wrong = sum(bool(run.wrong_claims) for run in found)
            low, high = wilson(wrong, runs)
            matches, fixed, looks = (
                sum(getattr(run, name) for run in found) / runs for name in ("matches", "fixed_matches", "looks")
            )
            print(
                f"{bots:4} {field.__name__:13} {runs:5} {wrong:6} ({100 * low:.1f}–{100 * high:.1f} %)".ljust(47)
                + f"{matches:11,.0f} {fixed:9,.0f} {matches / fixed:6.2f}"
                f" {looks:6.0f} {(time.process_time() - began) / runs:6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
