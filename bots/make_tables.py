#!/usr/bin/env python3
"""Plays the ladder of bots in every game and writes the tables of bots/README.md.

    python3 bots/make_tables.py

It takes some twenty minutes on two cores. The bots count positions and not time, so the tables can be made again.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TOURNAMENTS = HERE.parent / "tournaments"
README = HERE / "README.md"
MARKS = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def arena(home: str, *arguments: str) -> str:
    """Run a command of the arena and return what it prints."""
    command = [sys.executable, "-m", "arena", *arguments, "--home", home]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def interval(points: float, matches: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval for a share of points (E. B. Wilson, 1927); draws make it wider than needed."""
    z, share = 1.96, points / matches
    middle = share + z * z / (2 * matches)
    spread = z * math.sqrt(share * (1 - share) / matches + z * z / (4 * matches * matches))
    return (middle - spread) / (1 + z * z / matches), (middle + spread) / (1 + z * z / matches)


def rungs(standings: list[dict[str, Any]], crosstable: list[dict[str, Any]]) -> str:
    """Return who beats the one below, and by how much."""
    cells = {(row["bot"], cell["bot"]): cell for row in crosstable for cell in row.values() if isinstance(cell, dict)}
    lines = []
    for better, worse in pairwise(standings):
        cell = cells[better["bot"], worse["bot"]]
        low, high = interval(cell["points"], cell["matches"])
        told = f"{cell['points']:g} of {cell['matches']} points, {100 * cell['points'] / cell['matches']:.1f} %"
        verdict = "" if low > 0.5 else "; not told apart"
        lines.append(
            f"- `{better['bot']}` over `{worse['bot']}`: {told} ({100 * low:.1f} to {100 * high:.1f}){verdict}"
        )
    return "\n".join(lines)


def table(name: str, home: str) -> str:
    """Play a tournament, or go on with it, and return its tables."""
    arena(home, "run", str(TOURNAMENTS / f"{name}.toml"), "--quiet")
    shown = arena(home, "standings", name)
    cross = arena(home, "crosstable", name)
    times = {row["bot"]: row["mean_ms"] for row in json.loads(arena(home, "stats", name, "--json"))["times"]}
    spent = ", ".join(f"{bot} {milliseconds:.1f}" for bot, milliseconds in times.items())
    ladder = rungs(
        json.loads(arena(home, "standings", name, "--json")), json.loads(arena(home, "crosstable", name, "--json"))
    )
    return f"\n{ladder}\n\nMilliseconds per action: {spent}.\n\n```\n{shown.strip()}\n\n{cross.strip()}\n```\n\n"


def main() -> None:
    """Make the tables that are asked for; all of them by default."""
    parser = argparse.ArgumentParser(description="Play the ladder and write the tables of bots/README.md.")
    parser.add_argument("names", nargs="*", help="of tournaments [default: all that the README has a table of]")
    parser.add_argument("--home", help="where the arena keeps what was played [default: a temporary directory]")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for _, name, _ in MARKS.findall(README.read_text(encoding="utf-8")):
            if given.names and name not in given.names:
                continue
            made = table(name, given.home or temporary)
            text = README.read_text(encoding="utf-8")
            README.write_text(
                MARKS.sub(lambda found: found[1] + made + found[3] if found[2] == name else found[0], text),  # noqa: B023
                encoding="utf-8",
            )
            print(name)


if __name__ == "__main__":
    main()
