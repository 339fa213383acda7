"""``arena new``: the start of a bot in one of the languages that have a kit."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from arena.analysis.text.tables import printable
from arena.cli.terminal.common import print_json
from arena.cli.terminal.options import games_option, json_option
from arena.cli.terminal.streams import OK
from arena.kits.languages import LANGUAGES, find_language


@click.command("new")
@click.argument("name", type=click.Path(path_type=Path))
@click.option(
    "-l", "--language", default="python", show_default=True, metavar="LANGUAGE", help=f"One of {', '.join(LANGUAGES)}."
)
@games_option("Claim this game instead of all games")
@json_option
def command(name: Path, language: str, games: tuple[str, ...], as_json: bool) -> int:
    """Write the start of a bot into the new directory NAME: a main file with a place for your idea, a codec, a build
    command, a test and a README. As it is, it plays random legal actions.
    """
    from arena.kits.new_bot import new_bot

    kit = find_language(language)
    written = new_bot(name, kit, games)
    if as_json:
        print_json({"directory": str(name), "language": language, "main": kit.main, "files": written})
        return OK
    click.echo(f"{printable(str(name))}: a bot in {kit.title}: {', '.join(written)}")
    click.echo(
        f"Your idea goes into {printable(str(name / kit.main))}. To try it out: arena check {shlex.quote(str(name))}"
    )
    return OK
