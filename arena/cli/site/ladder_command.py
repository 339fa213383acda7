"""``arena site ladder``: pauses, drains and resumes the ladders that ``arena serve`` keeps going."""

from __future__ import annotations

import time

import click

from arena.analysis.text.tables import Column, printable
from arena.base.text import counted
from arena.cli.site.people_command import COMMAND_LINE, opened_people, required_reason_option
from arena.cli.terminal.common import print_table
from arena.cli.terminal.global_options import Subcommands
from arena.cli.terminal.options import WholeNumber, format_options, wide_option
from arena.cli.terminal.streams import FAILED, OK
from arena.store.people.directors import LADDER, DesiredState, DirectorState

LOOK_SECONDS = 0.2

COLUMNS = [
    Column("tournament", "ladder", is_number=False),
    Column("state", "state", is_number=False),
    Column("wish", "desired", is_number=False),
    Column("recorded", "recorded", drop_order=2),
    Column("playing", "playing", drop_order=3),
    Column("sentence", "what for", is_number=False, wraps=True, drop_order=1),
]

wait_option = click.option(
    "--wait",
    "wait_seconds",
    type=WholeNumber(0, 86_400),
    default=0,
    show_default=True,
    help="How many seconds to wait until nothing is played.",
)


@click.group("ladder", cls=Subcommands, invoke_without_command=True)
@wide_option
@click.pass_context
def ladder_command(context: click.Context) -> None:
    """Pause, drain and resume the ladders that `arena serve` keeps going.

    \b
    arena site ladder drain spring --reason "An upgrade." --wait 600
    arena site ladder resume spring --reason "It is done."

    Directors do the same in the browser. What is wanted stays when `arena serve` is started again. While a ladder is
    paused or drained, `arena correct disqualify`, `arena correct void` and the others correct it.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_ladders)


@ladder_command.command("list")
@format_options
def list_ladders(table_format: str = "text") -> None:
    """List the supervised ladders, and what each is doing."""
    with opened_people() as people:
        rows = []
        for report in people.directors.reports(LADDER):
            desired = people.directors.desired_state(report.tournament)
            state = "does not run" if people.directors.is_silent(report) else report.state.value
            rows.append(
                {
                    "tournament": report.tournament,
                    "state": state,
                    "wish": (desired.state if desired is not None else DesiredState.PLAY).value,
                    "recorded": report.figures.recorded,
                    "playing": report.figures.playing,
                    "sentence": report.sentence,
                }
            )
    print_table(COLUMNS, rows, table_format, "" if rows else "No ladder was kept going here yet; see: arena serve")


@ladder_command.command("pause")
@click.argument("ladder")
@required_reason_option
@wait_option
def pause(ladder: str, reason: str, wait_seconds: int) -> int:
    """Let no match of LADDER begin. Those that are being played end and are recorded."""
    return _set_desired_state(ladder, DesiredState.PAUSE, reason, wait_seconds, DirectorState.PAUSED)


@ladder_command.command("drain")
@click.argument("ladder")
@required_reason_option
@wait_option
def drain(ladder: str, reason: str, wait_seconds: int) -> int:
    """Let LADDER finish the round that is scheduled, and begin no other."""
    return _set_desired_state(ladder, DesiredState.DRAIN, reason, wait_seconds, DirectorState.DRAINED)


@ladder_command.command("resume")
@click.argument("ladder")
@required_reason_option
def resume(ladder: str, reason: str) -> None:
    """Let matches of LADDER begin again."""
    with opened_people() as people:
        people.directors.set_desired_state(ladder, DesiredState.PLAY, reason=reason, by=COMMAND_LINE)
    click.echo(printable(f"{ladder} is resumed."))


def _set_desired_state(ladder: str, state: DesiredState, reason: str, wait_seconds: int, reached: DirectorState) -> int:
    with opened_people() as people:
        people.directors.set_desired_state(ladder, state, reason=reason, by=COMMAND_LINE)
        until = time.monotonic() + wait_seconds
        while wait_seconds:
            report = people.directors.report(ladder)
            if report is None or report.state is reached or people.directors.is_silent(report):
                break
            if time.monotonic() >= until:
                click.echo(printable(f"{ladder} still plays after {counted(wait_seconds, 'second')}."), err=True)
                return FAILED
            time.sleep(LOOK_SECONDS)
    done = "paused" if state is DesiredState.PAUSE else "to finish its round"
    click.echo(printable(f"{ladder} is {done}; continue with: arena site ladder resume {ladder} --reason TEXT"))
    return OK
