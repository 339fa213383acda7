"""How many matches the same interval takes with openings chosen for their information, and with random ones.

Two bots that slip now and then play encounters from both kinds of openings, on the true game. The number of encounters
for an interval of a given width, relative to the lead, grows with var X / (mean X)^2 (opening_information.py has the
reasons); the ratio of both is what the choice saves. Openings are chosen with one pair of slip rates and measured, with
fresh encounters, with three. Intervals are 95 %, by a bootstrap over openings.

With ``--plies``: the information of an encounter by the number of plies, of random openings and of the best quarter.

    python -m benchmarks.openings [--plies] [GAME …]
"""

import argparse
import random
import time
from itertools import islice

from arena.definition import GameChoice
from arena.games import make_game
from arena.lab.kernels.slips import slip_encounters
from arena.tournament.opening_information import SLIPS_PERMILLE, Evaluated, evaluated, most_informative
from arena.tournament.openings import openings
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
    found = list(evaluated(choice, plies, seed, seed, CANDIDATES))
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*")
    parser.add_argument("--plies", action="store_true", help="the information by the number of plies")
    given = parser.parse_args()
    wanted = given.games
    print(f"{machine()}\n")
    if given.plies:
        print_by_plies(wanted)
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
