"""Ratings with 95 % intervals of 20,000 bots from 10,000,000 results, two of each encounter, between random rivals.

CPU seconds and elapsed seconds of the fit from arrays of encounters, the greatest memory of the process, and the share
of intervals that hold the true strength. Earlier versions keep dense matrices, of 3.2 GB each, and are not tried.
"""

import math
import resource
import time

import numpy as np

from arena.ratings.environment import BETA, ppf
from arena.ratings.field_fit import fit_encounters

BOTS, ENCOUNTERS = 20_000, 5_000_000
NAMES = ("CPU s", "elapsed s", "GiB", "intervals that hold the truth, %")


def encounters():
    """Return encounters between random bots, and the true strengths."""
    from arena.ratings.result_arrays import EncounterArrays

    rng = np.random.default_rng(1)
    strengths = rng.normal(0.0, 25 / 3, BOTS)
    first = rng.integers(0, BOTS, ENCOUNTERS, dtype=np.int32)
    second = (first + rng.integers(1, BOTS, ENCOUNTERS, dtype=np.int32)) % BOTS
    seats = np.stack([np.stack([first, second], axis=1), np.stack([second, first], axis=1)], axis=1).reshape(-1, 2)
    gap = strengths[seats[:, 0]] - strengths[seats[:, 1]] + rng.normal(0.0, math.sqrt(2) * BETA, len(seats))
    margin = ppf(0.55) * math.sqrt(2) * BETA
    ranks = np.stack([gap < -margin, gap > margin], axis=1).astype(np.int8)
    names = [f"b{k:05}" for k in range(BOTS)]
    starts = np.arange(0, len(seats), 2)
    return EncounterArrays.of_matches(names, seats, ranks, starts, np.ones(ENCOUNTERS, dtype=np.int64)), strengths


def measure():
    titles = [f"ratings of 20,000 bots from 10⁷ results, {name}" for name in NAMES]
    try:
        import arena.ratings.large_field  # noqa: F401
    except ImportError:
        return dict.fromkeys(titles, math.nan)
    arrays, strengths = encounters()
    cpu, elapsed = time.process_time(), time.perf_counter()
    fitted = fit_encounters(arrays)
    margins = fitted.margins()
    taken = time.process_time() - cpu, time.perf_counter() - elapsed
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    means = np.array([rating.mu for rating in fitted.ratings])
    off = means - means.mean() - strengths + strengths.mean()
    held = 100 * float((np.abs(off) < margins).mean())
    return dict(zip(titles, (*taken, memory, held), strict=True))
