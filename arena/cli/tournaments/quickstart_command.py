"""``arena quickstart``: the first tournament, and what to do after it."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import click

from arena.cli.terminal.common import print_wrapped
from arena.cli.terminal.global_options import global_option
from arena.cli.terminal.options import json_option, quiet_option
from arena.cli.terminal.streams import OK
from arena.cli.tournaments import run_command

NEXT_STEPS = (
    ("arena replay quickstart/1", "step through a match"),
    ("arena play differences human arena:greedy", "play yourself"),
    ("arena new my_bot", "write the beginning of a bot in Python, or in another --language"),
    ("arena play differences my_bot arena:greedy", "watch it play"),
    ("arena check my_bot", "find out whether it keeps the protocol"),
    ("arena protocol", "read how the arena and a bot talk to each other"),
)


@click.command("quickstart")
@quiet_option
@json_option
@click.pass_context
def command(context: click.Context, quiet: bool, as_json: bool) -> int:
    """Play the example tournament arena:quickstart, which takes less than a minute, and suggest next steps.

    Like `arena run arena:quickstart`, it resumes where it was stopped, and only shows the table when all is played.
    """
    code: int = context.invoke(run_command.command, file=Path("arena:quickstart"), quiet=quiet, as_json=as_json)
    if code == OK and not quiet and not as_json:
        steps = [*_activation(), *_next_steps()]
        width = max(len(step) for step, _ in steps)
        click.echo("\nWhat next:")
        for step, purpose in steps:
            print_wrapped(f"  {step:{width}}  ", width + 4, purpose)
    return code


def _activation() -> list[tuple[str, str]]:
    """Return the step that lets this shell find ``arena``; none if it finds it already."""
    activate = Path(sys.prefix, "bin", "activate")
    if shutil.which("arena") is not None or not activate.exists():
        return []
    return [(f". {shlex.quote(str(activate))}", "let this shell find arena")]


def _next_steps() -> list[tuple[str, str]]:
    given = [(name, global_option(name)) for name in ("home", "store")]
    arena = " ".join(["arena", *(f"--{name} {shlex.quote(value)}" for name, value in given if value is not None)])
    return [(step.replace("arena", arena, 1) if "replay" in step else step, purpose) for step, purpose in NEXT_STEPS]
