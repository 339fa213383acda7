"""``arena bot repro``: start a recorded bot again and lead it to where it failed, for its author."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.analysis.text.tables import printable
from arena.analysis.text.transcript import exchange_lines
from arena.base.names import as_file_name
from arena.base.seat_report import fields_of
from arena.base.text import counted
from arena.cli.terminal.common import match_of, open_home, print_json
from arena.cli.terminal.options import MAX_COUNT, RenamedOption, WholeNumber, isolation_option, json_option
from arena.cli.terminal.streams import FAILED, OK
from arena.match.players.bot_output import own_traceback
from arena.sandbox.isolation.interpreters import arena_interpreter

if TYPE_CHECKING:
    from arena.base.records import Bot, MatchRecord
    from arena.match.repro import Reproduction


@click.command("repro")
@click.argument("match")
@click.argument("ply", type=WholeNumber(0, MAX_COUNT), required=False)
@click.option("--seat", type=WholeNumber(0, MAX_COUNT), help="Whose bot [default: the one at fault or to act].")
@click.option(
    "--bot-path",
    cls=RenamedOption,
    earlier="--bot",
    type=click.Path(path_type=Path),
    help="Where the bot is, if it has moved.",
)
@isolation_option
@json_option
def repro_command(
    match: str, ply: int | None, seat: int | None, bot_path: Path | None, isolation: str, as_json: bool
) -> int:
    """Start a bot of MATCH (written TOURNAMENT/NUMBER) again, send it what it was sent then, and show what it does at
    PLY: by default where it failed, or at its last action.

    The exit code is 1 if it does not act as recorded. The last lines say how to run it on the same input without the
    arena, and under a debugger.
    """
    from arena.match.players.building import build_bots
    from arena.match.players.process_player import ProcessPlayer
    from arena.match.repro import repeat, whom_to_repeat
    from arena.sandbox.isolation.levels import choose_isolation

    tournament, number = match_of(match)
    with open_home(must_exist=True) as arena_home:
        stored = arena_home.store.tournament(tournament)
        record = arena_home.store.record_of(stored, number)
        seat, ply = whom_to_repeat(record, ply, seat)
        bot, limits, changed = arena_home.bots.recorded(stored, record.bots[seat], bot_path)
        if changed:
            click.echo(f"arena: the files of {printable(bot.label)} have changed since this match", err=True)
        level = choose_isolation(isolation)
        build_bots([bot], level)
        repro = repeat(record, ProcessPlayer(bot, level, limits, keeps_sent=True), seat, ply)
        input_file = arena_home.keep_input(f"{as_file_name(tournament)}-{number}-seat-{seat}", b"".join(repro.frames))
    if as_json:
        print_json(_as_json(record, repro, bot, input_file))
    else:
        _show(record, repro, bot)
        _show_commands(bot, input_file)
    return OK if repro.is_same else FAILED


def _show(record: MatchRecord, repro: Reproduction, bot: Bot) -> None:
    label = printable(record.bots[repro.seat])
    match = f"{printable(record.tournament)}/{record.match}"
    click.echo(f"{label} (seat {repro.seat}) in {match}, asked {counted(repro.asked, 'time')}")
    for ply, before, now in repro.differences:
        click.echo(printable(f"ply {ply}: recorded {before}, now {now!r}"))
    recorded, fault = repro.recorded, repro.fault
    was = "no fault" if recorded is None else f"{recorded.kind} at ply {recorded.ply}: {recorded.detail.for_operator()}"
    now = "no fault" if fault is None else f"{fault.kind} at ply {fault.ply}: {fault.detail.for_operator()}"
    click.echo(f"recorded:  {printable(was)}\nnow:       {printable(now)}")
    for line in own_traceback(repro.stderr, bot)[-20:]:
        click.echo(f"stderr:    {printable(line)}")
    transcript = repro.transcript
    click.echo("\n".join(exchange_lines(transcript.before_last_exchange(), *transcript.last_exchange())))
    click.echo("The same as recorded." if repro.is_same else "Not the same as recorded.")


def _as_json(record: MatchRecord, repro: Reproduction, bot: Bot, input_file: Path) -> dict[str, object]:
    sent, received = repro.transcript.last_exchange()
    return {
        "match": f"{record.tournament}/{record.match}",
        "bot": record.bots[repro.seat],
        "seat": repro.seat,
        "ply": repro.ply,
        "asked": repro.asked,
        "recorded": None if repro.recorded is None else fields_of(repro.recorded),
        "now": None if repro.fault is None else fields_of(repro.fault),
        "differences": [difference._asdict() for difference in repro.differences],
        "is_same": repro.is_same,
        "sent": sent.hex(),
        "received": received.hex(),
        "stderr": repro.stderr,
        "command": bot.command,
        "directory": bot.directory,
        "input": str(input_file),
    }


def _show_commands(bot: Bot, input_file: Path) -> None:
    from arena.sandbox.isolation.sandbox_policy import clean_environment

    directory, file = shlex.quote(bot.directory), shlex.quote(str(input_file))
    settings = {key: value for key, value in clean_environment("/tmp").items() if key != "ARENA_BOT"}
    environment = " ".join(f"{key}={shlex.quote(value)}" for key, value in settings.items())
    plain = shlex.join(bot.command)
    directly = f"cd {directory} && env -i {environment} {plain} < {file} | xxd"
    click.echo(f"\nTo run it on the same input:\n  {printable(directly)}")
    debugged = f"cd {directory} && {_debugger(bot, file)}"
    click.echo(f"Under a debugger:\n  {printable(debugged)}")


def _debugger(bot: Bot, file: str) -> str:
    if bot.command[0] != arena_interpreter() or not bot.command[1:2] or bot.command[1].startswith("-"):
        return f"gdb -ex {shlex.quote(f'run < {file} > /dev/null')} --args {shlex.join(bot.command)}"
    program = (
        'import pdb, runpy, sys; sys.argv = sys.argv[1:]; sys.path.insert(0, ".");'
        ' debugger = pdb.Pdb(stdin=open("/dev/tty"), stdout=open("/dev/tty", "w"));'
        ' debugger.runcall(runpy.run_path, sys.argv[0], run_name="__main__")'
    )
    return f"{shlex.join([bot.command[0], '-c', program, *bot.command[1:]])} < {file} > /dev/null"
