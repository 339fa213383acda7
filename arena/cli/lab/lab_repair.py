"""``arena lab repair``: the fairest form of a game, by exact values of its variations."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import Column, printable
from arena.cli.terminal.common import print_table, waiting
from arena.cli.terminal.options import json_option, options_option, quiet_option, wide_option, within_option
from arena.cli.terminal.streams import OK

if TYPE_CHECKING:
    from arena.lab.repair import Repaired

COLUMNS = [
    Column("repair", "repair", is_number=False, wraps=True),
    Column("worth", "seat 0", is_number=False),
    Column("known", "known", is_number=False, drop_order=1),
    Column("keeping", "keeping"),
    Column("decided_at", "decided at", drop_order=2),
    Column("draws", "draws", drop_order=3),
]


@click.command("repair")
@click.argument("game")
@options_option
@within_option("How long to solve all forms, in total, such as 60s or 5m.", default="60s")
@quiet_option
@json_option
@wide_option
def repair(game: str, options: tuple[str, ...], within_seconds: float, quiet: bool, as_json: bool) -> int:
    """Find the fairest form of GAME: what it is worth under its other rules, with a pie, or with a komi.

    \b
    arena lab repair multiplication -o size=7
    arena lab repair plaid -o width=9 -o height=6 -o lines=5 --within 5m

    The first line is the fairest; of equally fair forms, that with the most first actions that keep it so. With pie=1
    one player makes the first action, and the other then chooses a seat: the worth is that of seat 0 after the fairest
    first action. With pie=2 one player makes the first action of both seats. With begin_second=1, seat 1 begins the
    second part; with komi=9, it gets 9 points; with both_seats=1, two matches are played with seats exchanged, and
    points added. Draws, and after how many actions a match is decided, come from 100 matches in which every fourth
    action is random.

    With --json, each form is an object in a line of its own.
    """
    from arena.games import parse_options
    from arena.lab.repair import repaired
    from arena.lab.solving.limits import free_memory_bytes
    from arena.lab.solving.positions import rules_of

    rules = rules_of(game, parse_options(game, options))
    with waiting(f"{game}: solving its forms for {within_seconds:g} s at most", quiet or as_json):
        rows = repaired(rules, game, within_seconds, free_memory_bytes())
    if as_json:
        for row in rows:
            click.echo(json.dumps(asdict(row)))
        return OK
    settings = ", ".join(f"{name}={value}" for name, value in rules.options.items())
    click.echo(f"{printable(f'{game} {settings}')}\n")
    print_table(COLUMNS, [_cells(row) for row in rows], "text")
    return OK


def _cells(row: Repaired) -> dict[str, Any]:
    from arena.lab.solving.worth import number_text

    is_known = row.outcome is not None and row.margin is not None
    keeping = f"{row.keeping_first} of {row.first}" if row.keeping_first is not None else "–"
    worth = f"{row.outcome} {number_text(row.margin)}" if is_known and row.margin else str(row.outcome or "not known")
    return {
        "repair": row.repair,
        "worth": worth,
        "known": row.known or "–",
        "keeping": keeping,
        "decided_at": "–" if row.decided_at is None else f"{row.decided_at:.1f}",
        "draws": "–" if row.draws is None else f"{row.draws:.0%}",
    }
