"""The zoo as a table, level by bot: what comes of each bad bot's tournament at each level this machine has.

    python -m benchmarks.zoo [LEVEL ...] [--bots NAME ...] [--warm] [--write]

It takes about three minutes a level. benchmarks/README.md has one table as root and one as an ordinary user.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from arena.base.enums import IsolationLevel
from arena.sandbox.isolation.levels import choose_isolation, probe_level
from benchmarks.common import machine
from benchmarks.zoo_bots import ZOO, is_safe_inline, judge, play_zoo_bot

README = Path(__file__).with_name("README.md")
WHO = "as root" if os.geteuid() == 0 else "as an ordinary user"
BEGIN, END = f"<!-- zoo {WHO}: made by python -m benchmarks.zoo --write -->", "<!-- /zoo -->"


def play_all(levels, bots, is_warm):
    verdicts = {}
    for level in levels:
        for name in bots:
            outcome = play_zoo_bot(name, level, inline=is_safe_inline(level), is_warm=is_warm)
            verdicts[name, level] = judge(name, level, outcome)
            print(f"{level} {name}: {verdicts[name, level]} ({outcome.seconds:.1f} s)", file=sys.stderr, flush=True)
    return verdicts


def table(levels, bots, verdicts, seconds):
    labels = [choose_isolation(level).label for level in levels]
    lines = [f"{machine()}, {WHO}; {len(bots)} bots, {len(levels)} levels, {seconds:.0f} s.", ""]
    lines += [f"| bot | what it does | {' | '.join(labels)} |", "| --- " * (len(levels) + 2) + "|"]
    for name in bots:
        cells = [f"**{verdict}**" if verdict == "gets through" else verdict for verdict in _row(name, levels, verdicts)]
        lines.append(f"| {name} | {ZOO[name]['does']} | {' | '.join(cells)} |")
    through = [sum(verdict == "gets through" for verdict in _column(level, verdicts)) for level in levels]
    wrong = [sum(verdict.startswith("WRONG") for verdict in _column(level, verdicts)) for level in levels]
    lines.append(f"| | **get through** | {' | '.join(map(str, through))} |")
    lines.append(f"| | **other than expected** | {' | '.join(map(str, wrong))} |")
    return "\n".join(lines)


def _row(name, levels, verdicts):
    return [verdicts[name, level] for level in levels]


def _column(level, verdicts):
    return [verdict for (_, at), verdict in verdicts.items() if at == level]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("levels", nargs="*", metavar="LEVEL", help=f"of {', '.join(IsolationLevel)}; all without one")
    parser.add_argument("--bots", nargs="+", default=list(ZOO), metavar="NAME", help="these bots alone")
    parser.add_argument("--warm", action="store_true", help="give the bad bots warm = true")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/README.md")
    options = parser.parse_args()
    if unknown := set(options.levels) - set(IsolationLevel):
        parser.error(f"no isolation level {sorted(unknown)[0]!r}; there are {', '.join(IsolationLevel)}")
    if unknown := set(options.bots) - set(ZOO):
        parser.error(f"no bad bot {sorted(unknown)[0]!r}; tests/bad_bots/zoo.toml lists them")
    if options.write and options.bots != list(ZOO):
        parser.error("--write puts the table of all bots into benchmarks/README.md; leave out --bots")
    levels = [level for level in options.levels or IsolationLevel if probe_level(level).is_available]
    started = time.monotonic()
    verdicts = play_all(levels, options.bots, options.warm)
    text = table(levels, options.bots, verdicts, time.monotonic() - started)
    print(text)
    if options.write:
        page = README.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        README.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    if any(verdict.startswith("WRONG") for verdict in verdicts.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
