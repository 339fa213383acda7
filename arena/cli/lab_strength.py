"""``arena lab strength``: how much of the exact value bots keep, in positions of their own and in random ones."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from arena.cli.common import find_bots, print_table, warn_of_weak_isolation
from arena.cli.group import FAILED, OK
from arena.cli.options import (
    WholeNumber,
    isolation_option,
    json_option,
    options_option,
    quiet_option,
    rng_seed_option,
    seconds_option,
    wide_option,
    workers_option,
)
from arena.errors import UsageError
from arena.report.tables import Column, printable
from arena.text import counted

if TYPE_CHECKING:
    from arena.lab.quality.estimate import Estimate
    from arena.lab.strength.measuring import BotStrength
    from arena.lab.strength.strength import Strength
    from arena.report.tables import Row

COLUMNS = (
    Column("bot", "bot", is_number=False),
    Column("positions", "positions", is_number=False),
    Column("value_decisions", "n"),
    Column("value", "value %", decimals=1),
    Column("value_interval", "95 %", drop_order=1),
    Column("outcome_decisions", "n"),
    Column("outcome", "outcome %", decimals=1),
    Column("outcome_interval", "95 %", drop_order=1),
)


@click.command("strength")
@click.argument("game")
@click.argument("bots", nargs=-1, required=True)
@options_option
@click.option(
    "--matches",
    type=WholeNumber(0, 100_000),
    default=50,
    show_default=True,
    help="Matches of each bot against itself.",
)
@click.option("--opening-plies", type=WholeNumber(0, 1000), default=2, show_default=True, help="Random actions first.")
@click.option(
    "--positions",
    type=WholeNumber(0, 1_000_000),
    default=300,
    show_default=True,
    help="Random positions in which each bot acts once.",
)
@seconds_option
@click.option("--args", default="", help="Arguments added to its command.")
@rng_seed_option
@isolation_option
@workers_option
@quiet_option
@json_option
@wide_option
def strength(
    game: str,
    bots: tuple[str, ...],
    options: tuple[str, ...],
    matches: int,
    opening_plies: int,
    positions: int,
    seconds: float,
    args: str,
    rng_seed: int,
    isolation: str,
    workers: int | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Say how much of the exact value BOTS keep in GAME, which is for two.

    \b
    arena lab strength multiplication arena:cornerer arena:mcts
    arena lab strength differences -o size=6 my_bot.py --matches 100 --positions 0

    Each bot plays matches against itself, and acts once in each of many random positions, confined as in a tournament.
    Its action keeps the value if the match is worth as much after it as before, with best play of both: the outcome
    and the margin; and it keeps the outcome if it does not turn a win into a draw, or either into a loss. Positions are
    left out in which every legal action keeps it, so random play is far from 0 %, but perfect play is 100 %; and those
    whose exact values are not known. The intervals take the positions of a match as one observation.

    With --json, each bot is an object in a line of its own. The exit code is 1 if a bot had a fault.
    """
    from arena.executors import Job
    from arena.games import parse_options
    from arena.lab.strength.measuring import Measuring, Plan
    from arena.players.human import HUMAN
    from arena.records import TimeControl

    if not matches + positions:
        raise UsageError("--matches 0 and --positions 0: expected one of them to be 1 or more")
    plan = Plan(
        matches=matches,
        opening_plies=opening_plies,
        positions=positions,
        rng_seed=rng_seed,
        time_control=TimeControl(per_action_seconds=seconds),
    )
    found = find_bots(bots, args)
    if HUMAN in found:
        raise UsageError("bot 'human': expected programs; a person is measured by arena lab annotate")
    measuring = Measuring(game, parse_options(game, options), plan)
    for bot in found:
        measuring.check_plays(bot)
    warn_of_weak_isolation(isolation)
    measured: list[BotStrength] = []
    for bot in found:
        if not quiet and not as_json:
            wanted = f"{counted(matches, 'match')} and {counted(positions, 'random position')}"
            click.echo(printable(f"{bot.label}: {wanted}"), err=True)
        one = measuring.measure(bot, Job(bots=(bot,), isolation=isolation, workers=workers))
        measured.append(one)
        if as_json:
            click.echo(json.dumps(asdict(one)))
    if not as_json:
        print_table(COLUMNS, [row for one in measured for row in _rows(one)], "text", _footer(measured))
    return FAILED if any(one.failed for one in measured) else OK


def _rows(one: BotStrength) -> list[Row]:
    return [_row(one.bot, kind, found) for kind, found in (("own", one.own), ("random", one.random)) if found.positions]


def _row(bot: str, kind: str, found: Strength) -> dict[str, Any]:
    row: dict[str, Any] = {"bot": bot, "positions": kind}
    for name, kept in (("value", found.value), ("outcome", found.outcome)):
        share = kept.share
        row[f"{name}_decisions"] = kept.decisions
        row[name] = None if share is None or share.value is None else 100 * share.value
        row[f"{name}_interval"] = "" if share is None else _ends(share)
    return row


def _ends(share: Estimate) -> str:
    return f"{100 * (share.low or 0.0):.1f}–{100 * (1.0 if share.high is None else share.high):.1f}"


def _footer(measured: list[BotStrength]) -> str:
    sets = [found for one in measured for found in (one.own, one.random)]
    positions, without = sum(one.positions for one in sets), sum(one.without_choice for one in sets)
    unknown = sum(one.not_known for one in sets)
    sentences = [
        f"Of {counted(positions, 'position')}, {without:,} are left out because every action keeps the value"
        + (f", and {unknown:,} because no exact values are known." if unknown else ".")
    ]
    for one in measured:
        if one.failed:
            sentences.append(f"{one.bot} had a fault in {counted(one.failed, 'match')}: see arena check.")
        if one.void:
            sentences.append(f"{counted(one.void, 'match')} of {one.bot} without a result by our own failure.")
    return " ".join(sentences)
