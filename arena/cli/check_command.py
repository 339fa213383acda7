"""``arena check``: whether a bot keeps the protocol, step by step, for its author."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from arena.cli.common import find_bots, home_option
from arena.cli.group import FAILED, OK
from arena.conformance import Step, check_bot
from arena.errors import UsageError
from arena.report.exchanges import exchange_lines
from arena.report.tables import printable

STDERR_LINES = 12


@click.command("check")
@click.argument("bot")
@click.option("--game", "games", multiple=True, metavar="GAME", help="Try this game [default: all the bot claims].")
@click.option("--seconds", type=click.FloatRange(0.001, 86400), default=1.0, show_default=True, help="For each action.")
@click.option("--isolation", default="auto", show_default=True, help="The level it runs under.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each step, and nothing else.")
@home_option
def command(bot: str, games: tuple[str, ...], seconds: float, isolation: str, as_json: bool, home: str | None) -> int:
    """Try out BOT (a path, an example such as arena:greedy, or a submitted bot) as a tournament would: every claimed
    game in every seat, odd sizes, three players, match after match, on a busy machine.

    Exits with 0 if every step is passed, with 1 if one is not. Of a step that fails, the last question and what came
    back are shown, readable and in hexadecimal, with the bot's stderr and how to fix it.
    """
    from arena.isolation.levels import choose_isolation

    (found,) = find_bots([bot], home)
    if not found.command:
        raise UsageError(f"bot {bot!r}: this is no program; accepted is a path or a submitted bot")
    level = choose_isolation(isolation)
    if not as_json:
        click.echo(f"{printable(found.label)}, isolation {level.label}")
    failed = total = 0
    explained: set[str] = set()
    for step in check_bot(found, level, seconds, games):
        total += 1
        failed += not step.is_passed
        if as_json:
            values = asdict(step) | {"number": total, "sent": step.sent.hex(), "received": step.received.hex()}
            click.echo(json.dumps(values))
        else:
            _show(total, step, explained)
    if not as_json:
        click.echo(f"{total - failed} of {total} steps passed" if failed else f"All {total} steps passed.")
    return FAILED if failed else OK


def _show(number: int, step: Step, explained: set[str]) -> None:
    """Print a step; of each way to fix things, what was said is shown the first time only."""
    mark = "ok    " if step.is_passed else "FAILED"
    click.echo(f"{number:3d}  {mark}  {printable(step.name)}: {printable(step.detail)}")
    if step.is_passed or step.hint in explained:
        return
    explained.add(step.hint)
    lines = exchange_lines(step.sent, step.received) if step.sent else []
    said = step.stderr.splitlines()[-STDERR_LINES:]
    lines += [f"stderr:    {printable(line)}" for line in said]
    lines.append(f"to fix it: {step.hint}")
    click.echo("\n".join(f"       {line}" for line in lines))
