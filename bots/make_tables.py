#!/usr/bin/env python3
"""Plays the ladder of bots in every game and writes the tables of bots/README.md.

    python3 bots/make_tables.py

It takes half an hour on two cores. The bots count positions and not time, so the tables can be made again.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from itertools import pairwise, permutations
from pathlib import Path
from statistics import mean, stdev
from typing import Any

HERE = Path(__file__).resolve().parent
TOURNAMENTS = HERE.parent / "tournaments"
README = HERE / "README.md"
SOLVED = ("plusminus", "multiplication", "small_plusminus", "small_plaid", "small_differences", "small_multiplication")
"""Tournaments for two on boards of which all values are known."""
STRENGTH = ("--matches", "30", "--positions", "200")
MARKS = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def arena(home: str, *arguments: str) -> str:
    """Run a command of the arena and return what it prints."""
    command = [sys.executable, "-m", "arena", *arguments, "--home", home]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


Shares = dict[tuple[str, str], list[float]]


def shares_by_encounter(records: list[dict[str, Any]]) -> Shares:
    """Return, for each ordered pair of bots, the share of points of the first one in each encounter of the two.

    An encounter is one opening played in all seat rotations; who has the better side in one match has the worse one in
    the other, so encounters and not matches are what may be counted as independent.
    """
    points: dict[tuple[str, str, int], list[float]] = {}
    for record in records:
        bots = [bot.partition("@")[0] for bot in record["bots"]]
        for (mine, rank), (other, other_rank) in permutations(zip(bots, record["ranks"], strict=True), 2):
            won = (rank < other_rank) + (rank == other_rank) / 2
            points.setdefault((mine, other, record["encounter"]), []).append(won)
    shares: Shares = {}
    for (mine, other, _), won_points in points.items():
        shares.setdefault((mine, other), []).append(sum(won_points) / len(won_points))
    return shares


def share_with_interval(shares: list[float]) -> tuple[float, float]:
    """Return the mean share over encounters and half the width of its 95 % interval."""
    return mean(shares), 1.96 * stdev(shares) / math.sqrt(len(shares))


def compared(better: str, worse: str, shares: Shares) -> str:
    """Return how one bot does against another, with the 95 % interval of its mean share over encounters."""
    share, half_width = share_with_interval(shares[better, worse])
    verdict = "" if share - half_width > 0.5 else "; not told apart"
    return f"- `{better}` over `{worse}`: {100 * share:.1f} ± {100 * half_width:.1f} % of the points{verdict}"


def rungs(ranked: list[str], shares: Shares) -> str:
    """Return who beats the one below, and by how much; where `perfect` plays, how it does against each other one."""
    if "perfect" in ranked:
        pairs = [("perfect", other) for other in ranked if other != "perfect"]
    else:
        pairs = list(pairwise(ranked))
    return "\n".join(compared(better, worse, shares) for better, worse in pairs)


def kept_text(kept: dict[str, Any]) -> str:
    """Return in how many positions something was kept, with the interval and their number."""
    low, share, high = (100 * kept["share"][end] for end in ("low", "value", "high"))
    return f"{share:.1f} ({low:.1f}–{high:.1f}), {kept['decisions']}"


def strength_table(name: str, home: str) -> str:
    """Return the solution strength of the bots of a tournament, as it is on its board and with its arguments."""
    played = tomllib.loads((TOURNAMENTS / f"{name}.toml").read_text(encoding="utf-8"))
    options = [f"--option={option}={value}" for option, value in played["options"].items()]
    rows = []
    for entrant in played["entrants"]:
        bot = entrant["bot"].partition(":")[2]
        if bot != "perfect":  # it has no mistakes, and takes its time from the first action
            settings = ["--args", shlex.join(entrant.get("args", ())), "--seconds", "20", *STRENGTH]
            text = arena(home, "lab", "strength", played["game"], entrant["bot"], *options, *settings, "--json")
            rows.append((bot, json.loads(text)))
    rows.sort(key=lambda row: -row[1]["own"]["value"]["share"]["value"])
    lines = ["| bot | own: value | own: outcome | random: value | random: outcome |", "| --- " * 5 + "|"]
    for bot, found in rows:
        cells = [kept_text(found[positions][kind]) for positions in ("own", "random") for kind in ("value", "outcome")]
        lines.append(f"| `{bot}` | {' | '.join(cells)} |")
    return "Solution strength in %, with 95 % interval and number of positions:\n\n" + "\n".join(lines) + "\n\n"


def table(name: str, home: str, is_played: bool) -> str:
    """Play a tournament, or go on with it, unless it has been played; return its tables."""
    if not is_played:
        arena(home, "run", str(TOURNAMENTS / f"{name}.toml"), "--quiet")
    shown = arena(home, "standings", name)
    cross = arena(home, "crosstable", name)
    timed = json.loads(arena(home, "stats", name, "--json"))["times"]
    times = {row["bot"]: 1000 * row["cpu_seconds"] / row["actions"] for row in timed}
    spent = ", ".join(f"{bot} {milliseconds:.1f}" for bot, milliseconds in times.items())
    records = [json.loads(line) for line in arena(home, "export", name).splitlines()]
    ranked = [row["bot"] for row in json.loads(arena(home, "standings", name, "--json"))]
    ladder = rungs(ranked, shares_by_encounter(records))
    strength = strength_table(name, home) if name in SOLVED else ""
    tables = f"```\n{shown.strip()}\n\n{cross.strip()}\n```"
    return f"\n{ladder}\n\n{strength}Milliseconds of CPU time per action: {spent}.\n\n{tables}\n\n"


def main() -> None:
    """Make the tables that are asked for; all of them by default."""
    parser = argparse.ArgumentParser(description="Play the ladder and write the tables of bots/README.md.")
    parser.add_argument("names", nargs="*", help="of tournaments [default: all that the README has a table of]")
    parser.add_argument("--home", help="where the arena keeps what was played [default: a temporary directory]")
    parser.add_argument("--no-play", action="store_true", help="write the tables of what --home has already")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for _, name, _ in MARKS.findall(README.read_text(encoding="utf-8")):
            if given.names and name not in given.names:
                continue
            made = table(name, given.home or temporary, given.no_play)
            text = README.read_text(encoding="utf-8")
            README.write_text(
                MARKS.sub(lambda found: found[1] + made + found[3] if found[2] == name else found[0], text),  # noqa: B023
                encoding="utf-8",
            )
            print(name)


if __name__ == "__main__":
    main()
