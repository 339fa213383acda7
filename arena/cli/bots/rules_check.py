"""``arena check --rules``: whether the rules of a game are right, step by step, for their author."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from arena.analysis.text.tables import printable
from arena.cli.terminal.common import alarming, count_passed, print_wrapped, show_stderr
from arena.cli.terminal.streams import FAILED, OK

if TYPE_CHECKING:
    from arena.match.check.rules_process import RulesStep

INDENT = "     "
STDERR_LINES = 12
"""The first and the last of what the rules write to stderr."""


def check_rules_command(game: str, options: Sequence[str], isolation: str, as_json: bool) -> int:
    """Print the steps of a check of rules; return the exit code."""
    from arena.match.check.rules import check_rules

    given = f" with {', '.join(options)}" if options else ""
    steps: list[RulesStep] = []
    said: list[str] = []
    try:
        for number, step in enumerate(check_rules(game, options, isolation, said.append), 1):
            if not steps and not as_json:
                click.echo(printable(f"rules of {game}{given}"))
            steps.append(step)
            if as_json:
                _print_json(game, number, step)
            else:
                _show(number, step)
    finally:
        show_stderr(f"the rules of {game}", _some_lines("".join(said)))
    passed = sum(step.is_passed for step in steps)
    if not as_json:
        click.echo(count_passed(passed, len(steps), "step"))
        if passed < len(steps):
            print_wrapped(
                "", 0, f"The mistakes are in the game {printable(game)}. More may show once these are corrected."
            )
    return OK if passed == len(steps) else FAILED


def _some_lines(text: str) -> str:
    """Return the first and the last lines of a text."""
    lines = text.splitlines()
    short = lines if len(lines) <= 2 * STDERR_LINES else [*lines[:STDERR_LINES], "[...]", *lines[-STDERR_LINES:]]
    return "\n".join(short)


def _show(number: int, step: RulesStep) -> None:
    """Print a step; of one that failed, also the line of play that shows it, and with which options."""
    mark = "ok    " if step.is_passed else alarming("FAILED")
    detail = f": {printable(step.detail)}" if step.detail else ""
    print_wrapped(f"{number:3d}  {mark}  ", 13, f"{step.name}{detail}")
    if step.is_passed:
        return
    if step.line:
        print_wrapped(f"{INDENT}after:     ", len(INDENT) + 11, printable(step.line_text))
        print_wrapped(f"{INDENT}actions:   ", len(INDENT) + 11, printable(json.dumps(list(step.line))))
    if step.options:
        shown = ", ".join(f"{name} = {value!r}" for name, value in step.options.items())
        print_wrapped(f"{INDENT}options:   ", len(INDENT) + 11, printable(shown))


def _print_json(game: str, number: int, step: RulesStep) -> None:
    values = {
        "game": game,
        "number": number,
        "check": step.check,
        "name": step.name,
        "is_passed": step.is_passed,
        "detail": step.detail,
        "options": dict(step.options),
        "line": list(step.line),
        "line_text": step.line_text,
    }
    click.echo(json.dumps(values))
