"""Commands for authors of bots: rules, the protocol, the start of a bot, and a recorded failure led to again."""

from __future__ import annotations

import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import Column, printable, printable_lines, row_of
from arena.analysis.text.transcript import exchange_lines
from arena.base.names import as_file_name
from arena.base.seat_report import fields_of
from arena.base.seeds import pick_below
from arena.base.shipped import protocol_text
from arena.base.text import counted
from arena.cli.bots.boards import rulebook_text
from arena.cli.terminal.common import match_of, open_home, print_done, print_json, print_table
from arena.cli.terminal.options import (
    A_PATH,
    MAX_COUNT,
    RenamedOption,
    WholeNumber,
    format_options,
    games_option,
    isolation_option,
    json_option,
)
from arena.cli.terminal.streams import FAILED, OK
from arena.games import GAMES, Game, IntOption, find_game, make_game
from arena.games.checked_game import checked_game
from arena.kits.languages import LANGUAGES, find_language
from arena.match.players.bot_output import own_traceback
from arena.sandbox.isolation.interpreters import arena_interpreter

if TYPE_CHECKING:
    from arena.base.records import Bot, MatchRecord
    from arena.match.repro import Reproduction

WIDTH = 80

LIST_COLUMNS = [
    Column("name", "game", is_number=False),
    Column("players", "players", is_number=False, drop_order=2),
    Column("options", "options", is_number=False, drop_order=3, wraps=True),
    Column("summary", "in short", is_number=False, drop_order=1, wraps=True),
]
OPTION_COLUMNS = [
    Column("name", "option", is_number=False),
    Column("type", "type", is_number=False, drop_order=3),
    Column("default", "default", drop_order=2),
    Column("accepted", "accepted", is_number=False, drop_order=2, wraps=True),
    Column("meaning", "meaning", is_number=False, drop_order=1, wraps=True),
]


@click.command("games")
@click.argument("game", required=False)
@format_options
def games_command(game: str | None, table_format: str) -> None:
    """List the games, or show the rules, options, actions and a board of GAME."""
    if game is None:
        print_table(LIST_COLUMNS, [_list_row(rules, table_format) for rules in GAMES.values()], table_format)
        return
    rules = find_game(game)
    checked = checked_game(make_game(game), game)
    if table_format == "json":
        about = {"name": rules.name, "rules": checked.rulebook(), "action_format": rules.action_format}
        print_json({**about, "options": _option_rows(rules)})
        return
    click.echo(printable_lines(rulebook_text(checked)))
    click.echo()
    print_table(OPTION_COLUMNS, _option_rows(rules), table_format)
    click.echo(f"\nAn action: {printable(rules.action_format)}\n")
    click.echo(printable_lines(_sample(checked)))


def _players(game: type[Game[Any]]) -> list[int]:
    option = next((option for option in game.OPTIONS if option.name == "players"), None)
    return [option.minimum, option.maximum] if isinstance(option, IntOption) else [2, 2]


def _list_row(game: type[Game[Any]], table_format: str) -> dict[str, Any]:
    options = [option.name for option in game.OPTIONS]
    text = "2 or more" if "players" in options else "2"
    return {
        "name": game.name,
        "players": _players(game) if table_format == "json" else text,
        "options": options if table_format == "json" else ", ".join(options),
        "summary": game.summary,
    }


def _option_rows(game: type[Game[Any]]) -> list[dict[str, Any]]:
    return [row_of(OPTION_COLUMNS, option, type=option.type_name) for option in game.OPTIONS]


def _sample(game: Game[Any]) -> str:
    state = game.initial_state()
    played = []
    for ply in range(10 + 2 * game.options.get("size", 0)):
        legal = game.legal_actions(state)
        if not legal:
            break
        action = legal[pick_below(len(legal), "sample", game.name, ply)]
        following = game.apply(state, action)
        if game.is_over(following) or game.seats_out(following):
            break
        state = following
        played.append(game.format_action(action))
    text = textwrap.fill("After " + " ".join(played) + ":", WIDTH)
    scores = ", ".join(f"seat {seat} {score:g}" for seat, score in enumerate(game.scores(state)))
    return f"{text}\n\n{game.render(state)}\n\nScores so far: {scores}"


@click.command("protocol")
def protocol_command() -> None:
    """Show protocol.md: how the arena and a bot talk to each other, byte by byte, with examples of every game."""
    click.echo_via_pager(protocol_text())


@click.command("new")
@click.argument("name", type=A_PATH)
@click.option(
    "-l", "--language", default="python", show_default=True, metavar="LANGUAGE", help=f"One of {', '.join(LANGUAGES)}."
)
@games_option("Claim this game instead of all games")
@json_option
def new_command(name: Path, language: str, games: tuple[str, ...], as_json: bool) -> int:
    """Write the start of a bot into the new directory NAME: a main file with a place for your idea, a codec, a build
    command, a test and a README. As it is, it plays random legal actions.
    """
    from arena.kits.new_bot import new_bot

    kit = find_language(language)
    written = new_bot(name, kit, games)
    values = {"directory": str(name), "language": language, "main": kit.main, "files": written}
    advice = f"Your idea goes into {name / kit.main}. To try it out: arena check {shlex.quote(str(name))}"
    print_done(as_json, values, f"{name}: a bot in {kit.title}: {', '.join(written)}", advice)
    return OK


# A recorded bot is started again, and led to where it failed.


@click.command("repro")
@click.argument("match")
@click.argument("ply", type=WholeNumber(0, MAX_COUNT), required=False)
@click.option("--seat", type=WholeNumber(0, MAX_COUNT), help="Whose bot [default: the one at fault or to act].")
@click.option(
    "--bot-path",
    cls=RenamedOption,
    earlier="--bot",
    type=A_PATH,
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
        print_json(_repro_json(record, repro, bot, input_file))
    else:
        _show_repro(record, repro, bot)
        _show_commands(bot, input_file)
    return OK if repro.is_same else FAILED


def _show_repro(record: MatchRecord, repro: Reproduction, bot: Bot) -> None:
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


def _repro_json(record: MatchRecord, repro: Reproduction, bot: Bot, input_file: Path) -> dict[str, object]:
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
