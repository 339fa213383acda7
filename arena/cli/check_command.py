"""``arena check``: whether a bot keeps the protocol, step by step, for its author."""

from __future__ import annotations

import json
import os
import sys

import click

from arena.cli.common import find_bots, print_wrapped
from arena.cli.group import FAILED, OK
from arena.cli.options import games_option, isolation_option, json_option, seconds_option
from arena.conformance.check import Step, check_bot
from arena.errors import UsageError
from arena.players.diagnosis import uses_botkit
from arena.players.tracebacks import own_traceback
from arena.records import Bot
from arena.report.tables import printable
from arena.report.transcript import exchange_lines
from arena.text import counted

STDERR_LINES = 12
INDENT = "     "


@click.command("check")
@click.argument("bot")
@games_option("Try this game instead of all that the bot claims")
@seconds_option
@isolation_option
@click.option("--bytes", "shows_bytes", is_flag=True, help="Show every byte, also for bots with botkit.")
@json_option
def command(
    bot: str,
    games: tuple[str, ...],
    seconds: float,
    isolation: str,
    shows_bytes: bool,
    as_json: bool,
) -> int:
    """Try out BOT (a path, an example such as arena:greedy, or a submitted bot) as a tournament would: every claimed
    game in every seat, odd sizes, three players, match after match, on a busy machine.

    The exit code is 1 if a step fails. A failed step is shown with the bot's stderr and a hint how to fix it; for a bot
    without botkit, also with the last question and the bytes that came back, as text and in hexadecimal. Steps that
    fail in the same way are shown as one. With --json, each step is a line.
    """
    from arena.isolation.levels import choose_isolation

    (checked,) = find_bots([bot])
    if not checked.command:
        raise UsageError(f"bot {bot!r}: this is no program; expected a path or a submitted bot")
    level = choose_isolation(isolation)
    steps = check_bot(checked, level, seconds, games)
    if as_json:
        passed = [_print_json(number, step) for number, step in enumerate(steps, 1)]
    else:
        click.echo(f"{printable(checked.label)}, isolation {level.label}")
        display = _Display(checked, shows_bytes or not uses_botkit(checked))
        passed = [display.show(number, step) for number, step in enumerate(steps, 1)]
        display.show_repeated()
        total = counted(len(passed), "step")
        click.echo(f"All {total} passed." if all(passed) else f"{sum(passed)} of {total} passed")
    return OK if all(passed) else FAILED


def _print_json(number: int, step: Step) -> bool:
    values = {
        "name": step.name,
        "is_passed": step.is_passed,
        "detail": step.detail,
        "hint": step.hint,
        "sent": step.sent.hex(),
        "received": step.received.hex(),
        "stderr": step.stderr,
        "number": number,
    }
    click.echo(json.dumps(values))
    return step.is_passed


class _Display:
    """Prints steps as they come; of those that fail in the same way the first in full, and of the others the names."""

    def __init__(self, bot: Bot, shows_bytes: bool) -> None:
        self._bot = bot
        self._shows_bytes = shows_bytes
        self._first: dict[str, int] = {}  # the number of the step that was shown in full, by its hint
        self._repeated: list[tuple[int, Step]] = []

    def show(self, number: int, step: Step) -> bool:
        """Print a step, or keep it to be named with others; return whether it is passed."""
        if not step.is_passed and step.hint in self._first:
            if self._repeated and self._repeated[-1][1].hint != step.hint:
                self.show_repeated()
            self._repeated.append((number, step))
            return False
        self.show_repeated()
        mark = "ok    " if step.is_passed else _alarming("FAILED")
        print_wrapped(f"{number:3d}  {mark}  ", 13, f"{printable(step.name)}: {printable(step.detail)}")
        if not step.is_passed:
            self._first[step.hint] = number
            self._explain(step)
        return step.is_passed

    def show_repeated(self) -> None:
        """Name the steps that failed like an earlier one and have not been named yet."""
        if not self._repeated:
            return
        numbers = [number for number, _ in self._repeated]
        names = "; ".join(printable(step.name) for _, step in self._repeated)
        first = self._first[self._repeated[0][1].hint]
        which = f"{numbers[0]:3d}" if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}".rjust(3)
        print_wrapped(f"{which}  {_alarming('FAILED')}  ", len(which) + 10, f"like step {first}, also in: {names}")
        self._repeated = []

    def _explain(self, step: Step) -> None:
        """Print the last messages and how to fix it."""
        if self._shows_bytes and step.sent:
            for line in exchange_lines(step.before, step.sent, step.received):
                print_wrapped(INDENT, len(INDENT) + (0 if line.startswith(" ") else 11), line)
        for line in own_traceback(step.stderr, self._bot)[-STDERR_LINES:]:
            print_wrapped(f"{INDENT}stderr:    ", len(INDENT) + 11, printable(line))
        print_wrapped(f"{INDENT}to fix it: ", len(INDENT) + 11, printable(step.hint))


def _alarming(text: str) -> str:
    """Return a text in bold red, if stdout is a terminal with colours and $NO_COLOR is not set."""
    has_colours = sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")
    return click.style(text, fg="red", bold=True) if has_colours else text
