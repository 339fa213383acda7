"""The zoo as a table, level by bot: what comes of each bad bot's tournament at each level this machine has.

    python -m benchmarks.zoo [LEVEL ...] [--write] [--warm]

With ``--write`` the table is put into benchmarks/README.md: there is one as root and one as an ordinary user. It takes
about two minutes a level. With ``--warm`` the bad bots have ``warm = true``.
"""

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


def play_all(levels):
    verdicts = {}
    for level in levels:
        for name in ZOO:
            outcome = play_zoo_bot(name, level, inline=is_safe_inline(level), is_warm="--warm" in sys.argv)
            verdicts[name, level] = judge(name, level, outcome)
            print(f"{level} {name}: {verdicts[name, level]} ({outcome.seconds:.1f} s)", file=sys.stderr, flush=True)
    return verdicts


def table(levels, verdicts, seconds):
    labels = [choose_isolation(level).label for level in levels]
    lines = [f"{machine()}, {WHO}; {len(ZOO)} bots, {len(levels)} levels, {seconds:.0f} s.", ""]
    lines += [f"| bot | what it does | {' | '.join(labels)} |", "| --- " * (len(levels) + 2) + "|"]
    for name, entry in ZOO.items():
        cells = [f"**{verdict}**" if verdict == "gets through" else verdict for verdict in _row(name, levels, verdicts)]
        lines.append(f"| {name} | {entry['does']} | {' | '.join(cells)} |")
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
    wanted = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    levels = [level for level in wanted or IsolationLevel if probe_level(level).is_available]
    started = time.monotonic()
    verdicts = play_all(levels)
    text = table(levels, verdicts, time.monotonic() - started)
    print(text)
    if "--write" in sys.argv:
        page = README.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        README.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    if any(verdict.startswith("WRONG") for verdict in verdicts.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
