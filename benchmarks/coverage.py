"""How often 95 % intervals hold the truth, and how well the order is found, in simulated fields of known strengths.

For each kind of field, ours (``fit_encounters``: prior width from the field, full covariance, bootstrap over
encounters) beside the naive way: 1.96 sigma of the order-free TrueSkill fit with its usual prior, every match counted.
    Strengths and
ratings are compared relative to the mean of the field.
"""

import argparse
import math
import random
from collections import Counter
from itertools import combinations

import numpy as np

from arena.base.results import StoredResult
from arena.ratings import BETA, MU, SIGMA, rate_results, set_fit
from arena.ratings.consistency import consistency
from arena.ratings.environment import ppf
from arena.ratings.field_fit import fit_encounters
from arena.tournament.formats.format import FORMATS, Field, Meeting
from benchmarks.common import machine

DRAW_PROBABILITY = 0.1
MARGIN = ppf((DRAW_PROBABILITY + 1) / 2) * math.sqrt(2) * BETA


def name_of(k):
    return f"b{k:03}"


class SimulatedField:
    """A simulated field: strengths, and how matches between them go."""

    def __init__(self, rng, bots=12, sd=SIGMA, first_seat=0.0, opening_sd=0.0, cyclic_sd=0.0):
        self.rng = rng
        self.strengths = [rng.gauss(MU, sd) for _ in range(bots)]
        self.first_seat, self.opening_sd = first_seat, opening_sd
        self.cyclic = {pair: rng.gauss(0.0, cyclic_sd) for pair in combinations(range(bots), 2)}

    def gap(self, a, b):
        extra = self.cyclic[a, b] if a < b else -self.cyclic[b, a]
        return self.strengths[a] - self.strengths[b] + extra

    def match(self, a, b, opening=0.0):
        gap = self.rng.gauss(self.gap(a, b) + self.first_seat + opening, math.sqrt(2) * BETA)
        return (1, 1) if abs(gap) < MARGIN else (1, 2) if gap > 0 else (2, 1)

    def encounter(self, a, b):
        """Both seats from one opening, which favours one of the seats."""
        opening = self.rng.gauss(0.0, self.opening_sd)
        return (
            ((name_of(a), name_of(b)), self.match(a, b, opening)),
            ((name_of(b), name_of(a)), self.match(b, a, opening)),
        )


def round_robin(field, encounters):
    pairs = combinations(range(len(field.strengths)), 2)
    return [field.encounter(a, b) for a, b in pairs for _ in range(encounters)]


def repeated(field, encounters, times):
    """Deterministic bots and few openings: every encounter is played so often, and always goes the same way."""
    return [encounter for encounter in round_robin(field, encounters) for _ in range(times)]


def free_for_all(field, players, groups):
    """Encounters of three or more: one opening in all rotations."""
    rng, out = field.rng, []
    for _ in range(groups):
        members = rng.sample(range(len(field.strengths)), players)
        results = []
        for turn in range(players):
            seats = members[turn:] + members[:turn]
            shown = [rng.gauss(field.strengths[k], BETA) for k in seats]
            results.append((tuple(map(name_of, seats)), tuple(1 + sum(o > s for o in shown) for s in shown)))
        out.append(tuple(results))
    return out


def adaptive(kind, field, settings, encounters=1):
    names = tuple(map(name_of, range(len(field.strengths))))
    planned = FORMATS[kind](
        Field(
            bots=names,
            names=names,
            players=2,
            settings=FORMATS[kind].Settings(**settings),
            rng_seed=field.rng.getrandbits(60),
            encounters=encounters,
        )
    )
    played = []
    while (upcoming := planned.next_round()) is not None:
        meetings = []
        for a, b in upcoming.pairings:
            own = [field.encounter(a, b) for _ in range(encounters)]
            played += own
            results = tuple(StoredResult(1, 1, "", bots, ranks, "", "") for one in own for bots, ranks in one)
            meetings.append(Meeting((a, b), results))
        planned.add_results(meetings)
    return played


def kendall(truth, means):
    pairs = list(combinations(range(len(truth)), 2))
    return sum(1 if (truth[a] - truth[b]) * (means[a] - means[b]) > 0 else -1 for a, b in pairs) / len(pairs)


def measure(encounters, counted, strengths):
    """Return the counts of intervals that hold the truth (naive, ours), Kendall's tau, and whether it is flagged."""
    matches = [result for encounter in encounters for result in encounter]
    naive = rate_results(matches)
    fitted = fit_encounters(Counter(counted).items())
    truth = np.array(strengths) - np.mean(strengths)
    order = [fitted.names.index(name_of(k)) for k in range(len(strengths))]
    means = np.array([fitted.ratings[k].mu for k in order])
    means -= means.mean()
    held = (np.abs(means - truth) < fitted.margins()[order]).sum()
    plain = np.array([naive[name_of(k)].mu for k in range(len(strengths))])
    plain_margins = np.array([1.96 * naive[name_of(k)].sigma for k in range(len(strengths))])
    naively = (np.abs(plain - plain.mean() - truth) < plain_margins).sum()
    flagged = consistency(Counter(counted).items(), fitted).is_flagged
    ratio = float(np.mean(fitted.margins()[order] / plain_margins))
    return naively, held, kendall(truth, plain), kendall(truth, means), flagged, ratio


def fields():
    """Yield (title, quoted figure of the naive way, fields to simulate, function of a generator of random numbers)."""

    def plain(make, **kinds):
        def run(rng):
            field = SimulatedField(rng, **kinds)
            encounters = make(field)
            scale = math.sqrt(2) * BETA / math.hypot(math.sqrt(2) * BETA, field.opening_sd)
            return encounters, encounters, [scale * strength for strength in field.strengths]

        return run

    def repeats(rng):
        field = SimulatedField(rng)
        once = round_robin(field, 5)
        return [encounter for encounter in once for _ in range(5)], once, field.strengths

    yield "independent matches, 12 bots, 25 encounters a pair", ".965", 40, plain(lambda f: round_robin(f, 25))
    yield "a close field (sd 1)", "", 40, plain(lambda f: round_robin(f, 25), sd=1.0)
    yield "very few (one encounter a pair, 6 bots)", "", 80, plain(lambda f: round_robin(f, 1), bots=6)
    yield "few matches (2 encounters a pair)", "", 40, plain(lambda f: round_robin(f, 2))
    # openings are noise as well: seen from one match, strengths count for less by that factor
    yield (
        "openings that favour a seat (mirrored pairs)",
        "",
        40,
        plain(lambda f: round_robin(f, 25), sd=4.0, opening_sd=6.0),
    )
    yield "deterministic bots, each encounter played 5 times", ".63", 40, repeats
    yield "Swiss, 50 bots, 25 rounds", ".64", 6, plain(lambda f: adaptive("swiss", f, {"rounds": 25}), bots=50, sd=3.0)
    yield (
        "ladder, 50 bots, 2,450 matches",
        ".82",
        6,
        plain(lambda f: adaptive("ladder", f, {"matches": 2450}), bots=50, sd=3.0),
    )
    yield "four players, 12 bots, 200 groups", ".958", 20, plain(lambda f: free_for_all(f, 4, 200))
    yield "a cyclic field (sd 1)", "", 40, plain(lambda f: round_robin(f, 25), sd=3.0, cyclic_sd=1.0)
    yield "a cyclic field (sd 3)", ".27", 40, plain(lambda f: round_robin(f, 25), sd=3.0, cyclic_sd=3.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=float, default=1.0, help="so many times the usual number of fields")
    parser.add_argument("--sparse", action="store_true", help="treat every field as a large one")
    parser.add_argument("--only", default="", help="only fields whose title contains this")
    chosen = parser.parse_args()
    if chosen.sparse:
        set_fit.MAX_DENSE_BOTS = 1
    print(machine())
    print(f"{'field':52} {'fields':>6}  coverage naive  ours  (quoted naive)  Kendall naive  ours  width  flagged")
    for title, quoted, times, run in fields():
        if chosen.only not in title:
            continue
        rows = []
        number = max(1, round(times * chosen.times))
        for seed in range(number):
            encounters, counted, strengths = run(random.Random(f"{title} {seed}"))
            rows.append([*measure(encounters, counted, strengths), len(strengths)])
        table = np.array(rows, dtype=float)
        bots = table[:, 6].sum()
        print(
            f"{title:52} {number:6}  {table[:, 0].sum() / bots:14.3f} {table[:, 1].sum() / bots:5.3f}"
            f"  {quoted or '-':>14}  {table[:, 2].mean():13.3f} {table[:, 3].mean():5.3f}  {table[:, 5].mean():5.2f}"
            f"  {table[:, 4].mean():7.0%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
