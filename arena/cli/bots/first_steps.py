"""What an author begins with: the rules of the games, the protocol, and the start of a bot."""

from __future__ import annotations

import shlex
import textwrap
from pathlib import Path
from typing import Any

import click

from arena.analysis.text.tables import Column, printable, printable_lines, row_of
from arena.base.seeds import pick_below
from arena.base.shipped import protocol_text
from arena.cli.bots.boards import rulebook_text
from arena.cli.terminal.common import print_done, print_json, print_table
from arena.cli.terminal.options import format_options, games_option, json_option
from arena.cli.terminal.streams import OK
from arena.games import GAMES, Game, IntOption, find_game, make_game
from arena.games.checked_game import checked_game
from arena.kits.languages import LANGUAGES, find_language

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
    if table_format == "json":
        about = {"name": rules.name, "rules": rules.rulebook(), "action_format": rules.action_format}
        print_json({**about, "options": _option_rows(rules)})
        return
    click.echo(printable_lines(rulebook_text(rules)))
    click.echo()
    print_table(OPTION_COLUMNS, _option_rows(rules), table_format)
    click.echo(f"\nAn action: {printable(rules.action_format)}\n")
    click.echo(printable_lines(_sample(checked_game(make_game(game), game))))


def _players(game: type[Game[Any]]) -> list[int]:
    """Return the least and the most players of a game."""
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
@click.argument("name", type=click.Path(path_type=Path))
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
    print_done(as_json, values, f"{name}: a bot in {kit.title}: {', '.join(written)}")
    if not as_json:
        click.echo(
            f"Your idea goes into {printable(str(name / kit.main))}. To try it out:"
            f" arena check {shlex.quote(str(name))}"
        )
    return OK
