"""Writing a new bot: the kit of a language with the bot's name filled in."""

from __future__ import annotations

import inspect
import json
import os
import shlex
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path

from arena.base.errors import BotDefinitionError, UsageError, failing_as
from arena.games import GAMES, find_game
from arena.kits.languages import Language
from arena.match.players.game_location import find_external_game
from arena.match.players.manifest import MANIFEST, check_name

GOLDEN_FRAMES = "golden_frames.txt"


def new_bot(directory: Path, language: Language, games: tuple[str, ...]) -> list[str]:
    """Write a bot that plays random legal actions, and return the names of its files.

    The last part of the directory, which must not exist or be empty, is the bot's name; without games, it plays all.

    Raises:
        UnknownNameError: if there is no such game.
        UsageError: if the name is invalid or taken, the directory can't be written, or a program is not installed.
    """
    name = directory.name if directory.name == ".." else Path(os.path.realpath(directory)).name  # a link to itself
    check_name("name", name)
    if any(sign in name for sign in "\"'*`$"):
        raise BotDefinitionError(f"name = {name!r}: accepted here are names without quotes, '*', '`' and '$'")
    for game in games:
        find_game(game)
    for tool in language.tools:
        if shutil.which(tool) is None:
            raise UsageError(
                f"language {language.name!r}: the program {tool!r} is not installed;"
                f" on Debian: apt install {language.packages}"
            )
    contents = _contents(name, language, games)
    with failing_as(UsageError, f"bot {str(directory)!r}: it can't be written"):
        is_there = directory.is_dir() and not any(directory.iterdir())  # such as ".", in which its author stands
        if not is_there and os.path.lexists(directory):
            raise UsageError(f"bot {str(directory)!r}: it exists already; expected a new name")
        directory.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=directory.parent) as unfinished:
            whole = Path(unfinished) / "bot"
            whole.mkdir()
            for file, text in contents.items():
                (whole / file).write_text(text, encoding="utf-8")
            if is_there:
                for file in contents:
                    (whole / file).rename(directory / file)
            else:
                whole.rename(directory)
    return sorted(contents)


def _contents(name: str, language: Language, games: tuple[str, ...]) -> dict[str, str]:
    claimed = games or tuple(GAMES)
    templates = files("arena.kits") / "templates"
    found = {GOLDEN_FRAMES: (templates / GOLDEN_FRAMES).read_text(encoding="utf-8")}
    for template in (templates / language.name).iterdir():
        if template.is_file():
            text = template.read_text(encoding="utf-8")
            found[template.name] = text.replace("@NAME@", name).replace("@GAMES@", json.dumps(list(claimed)))
    found[MANIFEST] = _manifest(name, language, claimed)
    found["README.md"] = _readme(name, language, claimed)
    return found


def _manifest(name: str, language: Language, games: tuple[str, ...]) -> str:
    lines = [
        f"name = {json.dumps(name, ensure_ascii=False)}",
        'version = "1"',
        f"command = {json.dumps(list(language.command))}",
    ]
    if language.build:
        lines.append(f"build = {json.dumps(list(language.build))}    # run by the arena when the files have changed")
    lines += [f"games = {json.dumps(list(games))}", f'description = "A beginning, in {language.title}."']
    return "\n".join(lines) + "\n"


def _readme(name: str, language: Language, games: tuple[str, ...]) -> str:
    build = ""
    if language.build:
        build = (
            f"The arena builds it when its files have changed, with the command under `build` in `{MANIFEST}`; the"
            " result goes into `build/`. By hand:\n\n"
            f"    mkdir -p build && {' '.join(language.build)}\n\n"
        )
    in_python = ", and `game.seat_to_act(state)` in `choose`" if language.name == "python" else ""
    about = "\n\n".join(_about(game) for game in games)
    named = "".join(f" --game {game}" for game in games if ":" in game)
    return (
        f"# {name}\n\n"
        f"A bot in {language.title}. Your idea goes into `{language.main}`, at the marked line; until then the bot"
        " plays random legal actions.\n\n"
        f"{_place_of_games(games)}"
        f"    arena check .{named}    does it keep the protocol?\n"
        f"    arena play {games[0]} . human    a match against you\n"
        f"    arena submit .{named}    into the arena, to be entered in tournaments by its name\n\n"
        f"{build}"
        f"The test of its codec, against messages in hexadecimal that all languages share:\n\n    {language.test}\n\n"
        f"For more than the few lines of codec here: {language.library}.\n\n"
        "## What it receives\n\n"
        "protocol.md has every message; squares are `[x, y]`, counted from 1, from the lower left. Your seat, from 0,"
        f" is `seat` in `match`{in_python}. `end` lists ranks and scores by seat, and so does the last line of"
        " `arena play`.\n\n"
        f"{about}\n"
    )


def _place_of_games(games: tuple[str, ...]) -> str:
    """Return what makes external games known to the commands below; empty without such a game."""
    places = sorted({str(Path(found[1]).parent) for found in map(find_external_game, games) if found is not None})
    if not places:
        return ""
    return (
        "A game from outside the arena is looked for in the working directory and in `PYTHONPATH`, so first:\n\n"
        f"    export PYTHONPATH={shlex.quote(os.pathsep.join(places))}\n\n"
    )


def _about(game: str) -> str:
    found = find_game(game)
    observation = " ".join((inspect.getdoc(found.observation) or "").split()).removeprefix("Return ")
    observation = observation.replace("``", "`")
    mine = f"  Yours: {found.mine}\n" if found.mine else ""
    return (
        f"- **{game}**: {found.summary}\n"
        f"  Rules: `arena games {game}` prints them, with the options and an example.\n"
        f"  Observation: {observation}\n"
        f"{mine}"
        f"  Action: {found.action_format}."
    )
