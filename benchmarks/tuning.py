"""How near ``arena tune`` comes to a planted optimum, beside SPSA with as many matches, for one to six parameters.

``python -m benchmarks.tuning [RUNS]``: parameters from 0 to 1 that start at 0.5; the logarithm of the odds against a
rival falls with the square of the distance from the optimum. *Place* is the mean of the first parameter, *lost* the
share of what can be gained over the start that is missing in the end.

SPSA plays each encounter between two variants, a step to either side of the current values in all parameters at once
(J. C. Spall, IEEE Transactions on Aerospace and Electronic Systems 34, 1998), with his exponents 0.602 and 0.101.
"""

import sys
from math import exp

import numpy as np
from tabulate import tabulate

from arena.ratings.local_optimum import LocalOptimum, Sample
from arena.tournament.tuning import TuningPlan, parse_parameter, tune
from benchmarks.common import machine

OPTIMUM = (0.7, 0.3, 0.6, 0.2, 0.5, 0.8)
FIELDS = (
    *((OPTIMUM[:count], 10.0, 200 * count) for count in range(1, 7)),
    ((0.7,), 2.5, 200),
    ((0.7,), 2.5, 1000),
    ((0.9,), 10.0, 200),
    ((1.0,), 10.0, 200),
)
"""Optima, how sharp they are, and encounters."""

SPSA_STEP, SPSA_GAIN = 0.1, 0.02
"""Half the distance of the two variants, and how far an encounter that is won moves the values at first."""


def played(odds, rng):
    """Play the two matches of an encounter; return the share of the points."""
    return float((rng.random(2) < 1 / (1 + exp(-odds))).sum()) / 2


def by_clop(strength, count, encounters, seed):
    """Return the estimate, and the weighted mean that CLOP takes."""
    rng = np.random.default_rng(seed)
    parameters = tuple(parse_parameter(f"p{number}=0.0..1.0") for number in range(count))
    plan = TuningPlan(parameters=parameters, encounters=encounters, rng_seed=seed)
    start = strength(np.full(count, 0.5))

    def play(upcoming):
        odds = {values: strength(np.array(plan.point_of(values))) - start for values in upcoming.variants}
        return [
            [played(odds[values], rng) for _ in range(times * upcoming.encounters_each)]
            for values, times in upcoming.variants.items()
        ]

    result = tune(plan, play)
    optimum = LocalOptimum([Sample(plan.point_of(trial.values), trial.score) for trial in result.trials])
    return np.array(optimum.best), np.array(optimum.centre)


def by_spsa(strength, count, encounters, seed):
    rng, values = np.random.default_rng(seed), np.full(count, 0.5)
    for number in range(1, encounters + 1):
        step = SPSA_STEP / number**0.101
        gain = SPSA_GAIN * ((1 + 0.1 * encounters) / (number + 0.1 * encounters)) ** 0.602
        sides = rng.choice([-1.0, 1.0], count)
        odds = strength(np.clip(values + step * sides, 0, 1)) - strength(np.clip(values - step * sides, 0, 1))
        values = np.clip(values + gain * (2 * played(odds, rng) - 1) * sides, 0, 1)
    return values


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    rows = []
    for optimum, sharpness, encounters in FIELDS:
        best, count = np.array(optimum), len(optimum)

        def strength(values, best=best, sharpness=sharpness):
            return -sharpness * float(((values - best) ** 2).sum())

        clop = [by_clop(strength, count, encounters, seed) for seed in range(runs)]
        ways = ([one for one, _ in clop], [mean for _, mean in clop])
        ways += ([by_spsa(strength, count, encounters, seed) for seed in range(runs)],)
        gain = strength(best) - strength(np.full(count, 0.5))
        row = [count, optimum[0], f"{gain:.2f}", encounters]
        for found in ways:
            lost = np.mean([strength(best) - strength(values) for values in found]) / gain
            row += [f"{np.mean([values[0] for values in found]):.3f}", f"{100 * lost:.0f} %"]
        rows.append(row)
    heads = [
        "parameters",
        "optimum",
        "gain",
        "encounters",
        "place",
        "lost",
        "mean's place",
        "lost",
        "SPSA's place",
        "lost",
    ]
    print(machine())
    print(tabulate(rows, heads, tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
