"""``arena site contest`` and ``arena site ladder``: what ``arena serve --open-to authors`` plays."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from arena.analysis.text.tables import Column, printable, row_of
from arena.base.errors import UsageError
from arena.base.text import counted
from arena.cli.site.people_command import COMMAND_LINE, opened_people, required_reason_option
from arena.cli.terminal.common import print_table
from arena.cli.terminal.global_options import Subcommands, global_option
from arena.cli.terminal.options import A_PATH, WholeNumber, confirm, format_options, wide_option, yes_option
from arena.cli.terminal.streams import FAILED, OK
from arena.community.contests.contest_text import announce, contest_text, template_text
from arena.community.contests.contest_text import change as change_contest
from arena.store.home import ArenaHome
from arena.store.people.contest import (
    ContestEntrants,
    ContestPhase,
    ContestResults,
    StoredContest,
    differences,
    phase_of,
)
from arena.store.people.directors import LADDER, DesiredState, DirectorState

if TYPE_CHECKING:
    from arena.store.people.people_store import PeopleStore

COLUMNS = [
    Column("name", "name", is_number=False),
    Column("title", "title", is_number=False, wraps=True, drop_order=1),
    Column("game", "game", is_number=False, drop_order=3),
    Column("deadline", "deadline", is_number=False),
    Column("phase", "phase", is_number=False),
    Column("results", "results", is_number=False, drop_order=2),
    Column("entries", "entries", drop_order=4),
]

_PHASES = {
    ContestPhase.ANNOUNCED: "it has not opened yet",
    ContestPhase.ENTERING: "bots can be submitted",
    ContestPhase.CLOSED: "the deadline has passed, and what was submitted before is being checked",
    ContestPhase.PLAYING: "it is being played",
    ContestPhase.PLAYED: "everything is played, and the results are hidden until they are revealed",
    ContestPhase.FINISHED: "it is finished",
    ContestPhase.CANCELLED: "it is cancelled",
}


@click.group("contest", cls=Subcommands, invoke_without_command=True)
@wide_option
@click.pass_context
def contest_command(context: click.Context) -> None:
    """Announce contests, reveal their results, cancel them.

    \b
    arena site contest new cup --name spring \\
        --time-zone Europe/Berlin > spring.toml
    arena site contest add spring.toml
    arena site contest reveal spring --reason "The prizes have been given."

    `arena serve --open-to authors` plays them. Directors do the same in the browser. docs/contests.md describes the
    file, and who can see what when.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_contests)


@contest_command.command("list")
@format_options
def list_contests(table_format: str = "text") -> None:
    """List the contests, the latest first."""
    with opened_people() as people:
        now = people.contests.now()
        rows = [
            row_of(
                COLUMNS,
                stored.contest,
                name=stored.name,
                deadline=_shown(stored, stored.contest.deadline_at),
                phase=phase_of(stored, now).value,
                entries=len(people.contests.entries_of(stored)),
            )
            for stored in people.contests.all()
        ]
    print_table(COLUMNS, rows, table_format, empty="There is no contest; begin with: arena site contest new class")


@contest_command.command("new")
@click.argument("template")
@click.option("--name", default="spring", show_default=True, metavar="NAME", help="The name of the contest.")
@click.option("--time-zone", default="UTC", show_default=True, metavar="ZONE", help="Such as Europe/Berlin.")
def new(template: str, name: str, time_zone: str) -> None:
    """Print a contest to begin with: class, cup or league. It opens tomorrow, and lasts a week."""
    from arena.community.contests.contest_keys import check_contest_name

    try:
        check_contest_name(name)
    except ValueError as error:
        raise UsageError(f"--name {name!r}: {error}") from None
    try:
        today = datetime.now(ZoneInfo(time_zone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(f"--time-zone {time_zone!r}: expected one such as Europe/Berlin") from None
    click.echo(template_text(template, name, time_zone, today), nl=False)


@contest_command.command("add")
@click.argument("file", type=A_PATH)
def add(file: Path) -> None:
    """Announce the contest of FILE."""
    from arena.community.contests.contest_file import reading_of_file

    new = reading_of_file(file)
    with ArenaHome(global_option("home"), store=global_option("store")) as home, opened_people() as people:
        stored = announce(home.store, people, COMMAND_LINE, new)
    opens_at, deadline_at = (_shown(stored, at) for at in (stored.contest.opens_at, stored.contest.deadline_at))
    click.echo(printable(f"{stored.name} is announced: bots can be submitted from {opens_at} to {deadline_at}."))


@contest_command.command("show")
@click.argument("contest")
@click.option(
    "--toml", "is_toml", is_flag=True, help="Print the contest as a file, which `arena site contest change` reads."
)
def show(contest: str, is_toml: bool) -> None:
    """Show how far CONTEST is, and who has entered."""
    with opened_people() as people:
        stored = people.contests.get(contest)
        if is_toml:
            click.echo(contest_text(stored.contest), nl=False)
            return
        for line in _lines(stored, people):
            click.echo(printable(line))


@contest_command.command("change")
@click.argument("contest")
@click.argument("file", type=A_PATH)
@required_reason_option
def change(contest: str, file: Path, reason: str) -> None:
    """Change what can still be changed of CONTEST, as FILE says.

    Before it opens that is all but its name; then the title, the description, when results are revealed, a later
    deadline, and more who are invited. The public log says what has become different; where nothing has, nothing is
    logged.
    """
    from arena.community.contests.contest_file import reading_of_file

    new = reading_of_file(file)
    with ArenaHome(global_option("home"), store=global_option("store")) as home, opened_people() as people:
        before = people.contests.get(contest).contest
        changed = change_contest(home.store, people, COMMAND_LINE, before, new, reason).contest
    if before == changed:
        click.echo(printable(f"Nothing in {file} is different: {contest} stays as it is."))
        return
    click.echo(printable(f"{contest} is changed:"))
    for difference in differences(before, changed):
        click.echo(printable(f"  {difference}"))


@contest_command.command("reveal")
@click.argument("contest")
@required_reason_option
@click.option("--before-played", is_flag=True, help="Reveal them even if not everything is played yet.")
def reveal(contest: str, reason: str, before_played: bool) -> None:
    """Show the embargoed results of CONTEST to everybody, from now on."""
    with opened_people() as people:
        people.contests.ask_to_reveal(COMMAND_LINE, contest, reason, before_played=before_played)
    click.echo(printable(f"The results of {contest} are revealed by `arena serve` within seconds."))


@contest_command.command("cancel")
@click.argument("contest")
@required_reason_option
@yes_option
def cancel(contest: str, reason: str, is_confirmed: bool) -> int:
    """Cancel CONTEST.

    Nothing more of it is played, and embargoed results stay hidden.
    """
    with opened_people() as people:
        stored = people.contests.get(contest)
        if not confirm(f"Cancel the contest {stored.name}?", is_confirmed):
            return FAILED
        people.contests.cancel(COMMAND_LINE, stored.name, reason)
    click.echo(printable(f"{stored.name} is cancelled."))
    return OK


def _lines(stored: StoredContest, people: PeopleStore) -> Iterator[str]:
    contest = stored.contest
    phase = phase_of(stored, people.contests.now())
    yield f"{stored.name}: {contest.title}"
    yield f"{_PHASES[phase]}{': ' + stored.cancel_reason if stored.cancel_reason else ''}"
    if stored.stage_note:
        yield f"it waits: {stored.stage_note}"
    yield f"opens {_shown(stored, contest.opens_at)}, deadline {_shown(stored, contest.deadline_at)}"
    stages = [f"{stage.format}{f', the first {stage.places}' if stage.places else ''}" for stage in contest.stages]
    yield f"{contest.game}: {', then '.join(stages)}"
    yield _results_line(stored)
    if contest.entrants is ContestEntrants.INVITED:
        yield f"invited: {', '.join(contest.invited) or 'nobody'}"
    entries = people.contests.entries_of(stored)
    yield f"{counted(len(entries), 'bot')} entered{':' if entries else ''}"
    for entry in entries:
        yield f"  {entry.bot} of {entry.author}"
    waiting = len(people.contests.unfinished_of(stored))
    if waiting:
        yield f"{counted(waiting, 'submission')} still being checked"


def _results_line(stored: StoredContest) -> str:
    if stored.contest.results is ContestResults.OPEN:
        return "results are open"
    if stored.revealed_at is not None:
        return f"results were revealed {_shown(stored, stored.revealed_at)}"
    since = f"frozen from {_shown(stored, stored.freeze_at)} on" if stored.freeze_at is not None else "sealed"
    at = stored.contest.reveal_at
    return f"results are {since}, and revealed {'by a director' if at is None else _shown(stored, at)}"


def _shown(stored: StoredContest, at: str) -> str:
    return f"{stored.contest.local(at):%Y-%m-%d %H:%M:%S} {stored.contest.time_zone}"


# Ladders, which ``arena serve`` keeps going.

LOOK_SECONDS = 0.2

LADDER_COLUMNS = [
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

    Directors do the same in the browser. A pause or drain outlasts a restart of `arena serve`. While a ladder is
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
            wish = (desired.state if desired is not None else DesiredState.PLAY).value
            figures = {"recorded": report.figures.recorded, "playing": report.figures.playing}
            rows.append(row_of(LADDER_COLUMNS, report, state=state, wish=wish, **figures))
    print_table(LADDER_COLUMNS, rows, table_format, empty="No ladder has run here yet; start one with: arena serve")


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
    """Let LADDER finish the round that is scheduled, and begin no other.

    Drain a ladder also if you start `arena serve` without it from now on: its silence is then no problem.
    """
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
