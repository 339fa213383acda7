"""How many matches the same interval takes with openings chosen for their information, and with random ones.

Two bots that slip now and then play encounters from both kinds of openings, on the true game. The number of encounters
for an interval of a given width, relative to the lead, grows with var X / (mean X)^2 (opening_information.py has the
reasons); the ratio of both is what the choice saves. Openings are chosen with one pair of slip rates and measured, with
fresh encounters, with three. Intervals are 95 %, by a bootstrap over openings.

With ``--playouts``: how well random playouts choose, which nobody has to solve anything for.

With ``--plies``: the information of an encounter by the number of plies, of random openings and of the best quarter.

    python -m benchmarks.openings [--plies | --playouts] [GAME …]
"""

import argparse
import random
import time
from itertools import islice
from statistics import correlation

from arena.base.definition import GameChoice
from arena.games import make_game
from arena.games.kernels.playouts import playout_margin
from arena.games.kernels.slips import slip_encounters
from arena.tournament.opening_information import SLIPS_PERMILLE, Evaluated, evaluated, most_even, most_informative
from arena.tournament.openings import distinct_openings, openings
from benchmarks.common import machine

BOARDS = [
    ("differences", {"size": 8}, 2),
    ("multiplication", {"size": 7}, 2),
    ("multiplication", {"size": 9}, 5),
    ("plusminus", {"size": 5, "grid_first": 1}, 4),
    ("plusminus", {"size": 5, "grid_first": 2}, 4),
    ("plaid", {"width": 8, "height": 8, "lines": 6}, 2),
    ("coprimality", {"size": 6}, 4),
]
RATES = [SLIPS_PERMILLE, (20, 60), (150, 250)]
BY_PLIES = [
    ("multiplication", {"size": 9}, [(2, 10), (3, 24), (4, 80), (5, 120)]),
    ("multiplication", {"size": 7}, [(1, 49), (2, 120)]),
    ("differences", {"size": 8}, [(1, 16), (2, 100), (3, 100)]),
    ("plusminus", {"size": 5, "grid_first": 2}, [(2, 4), (6, 64)]),
    ("plaid", {"width": 8, "height": 8, "lines": 6}, [(1, 14), (2, 80), (3, 80)]),
]
"""Of each row: the game, its options, and how many random openings of how many plies."""
BY_PLAYOUTS = [
    ("multiplication", {"size": 7}, 2, 60),
    ("multiplication", {"size": 9}, 4, 40),
    ("plaid", {"width": 8, "height": 8, "lines": 6}, 3, 60),
    ("differences", {"size": 8}, 2, 48),
    ("plusminus", {"size": 5, "grid_first": 2}, 6, 48),
]
"""Of each row: the game, its options, the plies, and how many random openings."""
MOST_STATES = 6_000_000
FEW = 16
"""Of fewer openings, none are chosen."""

CANDIDATES, CHOSEN, ENCOUNTERS, RESAMPLES = 120, 30, 1000, 1000


def halves(game, openings, rates, seed):
    """Return the counts of each opening's encounters, with encounters that the choice has not seen."""
    return [
        slip_encounters(game, opening, seed=seed + k, count=ENCOUNTERS, slips_permille=rates).counts
        for k, opening in enumerate(openings)
    ]


def information(counts):
    total = [sum(one[k] for one in counts) for k in range(5)]
    n = sum(total)
    lead = sum(count * (k - 2) / 2 for k, count in enumerate(total)) / n
    square = sum(count * ((k - 2) / 2) ** 2 for k, count in enumerate(total)) / n
    return lead**2 / (square - lead**2) if square > lead**2 else 0.0


def ratio(random_ones, chosen, picker):
    """Return the ratio of encounters for the same interval, with its 95 % interval, by a bootstrap over openings."""
    value = information(random_ones) / information(chosen)
    drawn = sorted(
        information(picker.choices(random_ones, k=len(random_ones)))
        / information(picker.choices(chosen, k=len(chosen)))
        for _ in range(RESAMPLES)
    )
    return value, drawn[int(0.025 * RESAMPLES)], drawn[int(0.975 * RESAMPLES) - 1]


def measure(name, options, plies, seed):
    game = make_game(name, **options)
    choice = GameChoice(game=name, options=game.options, players=2)
    started = time.process_time()
    found = list(evaluated(choice, distinct_openings(game, plies, seed, CANDIDATES), seed))
    seconds = time.process_time() - started
    chosen = most_informative(found, min(CHOSEN, len(found) // 2))
    results = []
    for rates in RATES:
        counts = halves(game, [one.opening for one in found], rates, 10_000 * seed)
        by_opening = dict(zip((one.opening for one in found), counts, strict=True))
        results.append(ratio(counts, [by_opening[one.opening] for one in chosen], random.Random(seed)))
    return len(found), len(chosen), seconds, results


def by_plies(name, options, plies, count):
    """Return how many openings there are, and the information of random and of chosen ones; None if none are chosen."""
    game = make_game(name, **options)
    drawn = list(dict.fromkeys(islice(openings(game, plies, 1), count)))
    is_chosen = len(drawn) >= FEW
    found, fresh = [], {}
    for number, opening in enumerate(drawn):
        looks = [
            slip_encounters(
                game, opening, seed=seed, count=ENCOUNTERS, slips_permille=SLIPS_PERMILLE, most_states=MOST_STATES
            )
            for seed in ((number, 10**6 + number) if is_chosen else (10**6 + number,))
        ]
        found.append(Evaluated(opening=opening, lead=looks[0].lead, square=looks[0].square))
        fresh[opening] = looks[-1].counts
    if not is_chosen:
        return len(drawn), information(list(fresh.values())), None
    best = most_informative(found, max(4, len(found) // 4))
    return len(drawn), information(list(fresh.values())), information([fresh[one.opening] for one in best])


def print_by_plies(wanted):
    print("| game | plies | openings | random | the best quarter |\n| --- | --- | --- | --- | --- |")
    for name, options, rows in BY_PLIES:
        board = ", ".join(f"{key} = {value}" for key, value in options.items())
        for plies, count in rows if not wanted or name in wanted else ():
            number, random_ones, best = by_plies(name, options, plies, count)
            shown = "–" if best is None else f"{best:.2f}"
            print(f"| {name}, {board} | {plies} | {number} | {random_ones:.2f} | {shown} |", flush=True)


def ranks(values):
    return [sum(other < value for other in values) + sum(other == value for other in values) / 2 for value in values]


def by_playouts(name, options, plies, count):
    """Return how well playouts rank the openings, and how many encounters each choice of a quarter saves."""
    game = make_game(name, **options)
    choice = GameChoice(game=name, options=game.options, players=2)
    found = list(evaluated(choice, distinct_openings(game, plies, 1, count), 1))
    drawn = [one.opening for one in found]
    fresh = dict(zip(drawn, halves(game, drawn, SLIPS_PERMILLE, 10_000), strict=True))
    leads = [sum(n * (k - 2) for k, n in enumerate(fresh[one])) for one in drawn]
    even = [-playout_margin(game, one, number).square for number, one in enumerate(drawn)]
    quarter = len(drawn) // 4
    chosen = most_even(game, drawn, 1, quarter), [one.opening for one in most_informative(found, quarter)]
    every = list(fresh.values())
    saved = [ratio(every, [fresh[one] for one in some], random.Random(1)) for some in chosen]
    return len(drawn), correlation(ranks(even), ranks(leads)), saved


def print_by_playouts(wanted):
    print("| game | options | plies | chosen of | rank correlation | by playouts | by information |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for name, options, plies, count in BY_PLAYOUTS:
        if wanted and name not in wanted:
            continue
        drawn, rank_correlation, saved = by_playouts(name, options, plies, count)
        board = ", ".join(f"{key} = {value}" for key, value in options.items())
        cells = " | ".join(f"{value:.2f} ({low:.2f} to {high:.2f})" for value, low, high in saved)
        chosen = f"{drawn // 4} of {drawn}"
        print(f"| {name} | {board} | {plies} | {chosen} | {rank_correlation:.2f} | {cells} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*")
    parser.add_argument("--plies", action="store_true", help="the information by the number of plies")
    parser.add_argument("--playouts", action="store_true", help="how well random playouts choose")
    given = parser.parse_args()
    wanted = given.games
    print(f"{machine()}\n")
    if given.plies:
        print_by_plies(wanted)
        return
    if given.playouts:
        print_by_playouts(wanted)
        return
    rates = " | ".join(f"{a / 10:g} % against {b / 10:g} %" for a, b in RATES)
    print(f"| game | options | plies | chosen of | to choose | {rates} |")
    print("| --- | --- | --- | --- | --- |" + " --- |" * len(RATES), flush=True)
    for name, options, plies in BOARDS:
        if wanted and name not in wanted:
            continue
        looked_at, chosen, seconds, results = measure(name, options, plies, seed=1)
        board = ", ".join(f"{key} = {value}" for key, value in options.items())
        cells = " | ".join(f"{value:.2f} ({low:.2f} to {high:.2f})" for value, low, high in results)
        print(f"| {name} | {board} | {plies} | {chosen} of {looked_at} | {seconds:.1f} s | {cells} |", flush=True)


if __name__ == "__main__":
    main()
