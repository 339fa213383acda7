"""Bots on disk: a directory with a ``bot.toml``, or a single program."""

from __future__ import annotations

import contextlib
import os
import stat
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from arena.base.checked_files import check_model, parse_toml, without_nul
from arena.base.errors import BotDefinitionError, failing_as
from arena.base.names import ACCEPTED, VERSION_ACCEPTED, is_name, is_version
from arena.base.records import Bot
from arena.base.shipped import bot_path, example_hint
from arena.base.text import shortened_text
from arena.match.players.bot_files import (
    BUILD_DIRECTORY,
    IN_PLACE,
    Bounds,
    bot_files,
    digest_of,
    left_out_as,
    open_at_once,
    single_file,
)
from arena.sandbox.isolation.interpreters import (
    SUBMITTED_RULE,
    SYSTEM,
    arena_interpreter,
    arena_python,
    is_below,
    resolve_program,
)
from arena.sandbox.isolation.sandbox_policy import clean_environment, is_python_file

MANIFEST = "bot.toml"
LEAST = """it takes at least name = 'my_bot' and command = ['python3', 'bot.py']"""
MAX_MANIFEST_BYTES = 16 * 1024
"""Reading thousands of dotted keys takes a time that grows with their square: half a second with so much."""

ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".xz", ".txz", ".bz2", ".tbz2", ".7z", ".rar")

IsKnown = Callable[[str], bool]
"""Tells whether a name is in use already; such a name stays accepted under every rule for new ones."""

Text = Annotated[str, StringConstraints(max_length=1000)]


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    version: str = "1"
    command: Annotated[
        list[Annotated[str, AfterValidator(without_nul)]], Field(min_length=1, examples=[["python3", "bot.py"]])
    ]
    games: list[str] = []
    build: list[Annotated[str, AfterValidator(without_nul)]] = []
    author: Text = ""
    description: Text = ""
    warm: bool = False


def load_bot(
    path: str | os.PathLike[str],
    args: Sequence[str] = (),
    *,
    bounds: Bounds = IN_PLACE,
    is_known: IsKnown | None = None,
) -> Bot:
    """Return the bot at a path.

    Args:
        path: a directory with a ``bot.toml``, or a single program: an executable file or a ``.py`` file; or
            ``arena:NAME``, an example bot.
        bounds: how many and how large files it may have; those of a submission say that its author is not the operator.
        is_known: accepts names that are in use already.

    Raises:
        BotDefinitionError: if there is no bot, or its ``bot.toml`` or its files are rejected.
        UnknownNameError: if there is no example bot of that name.
    """
    path = resolved_bot_path(bot_path(path))
    mode = _mode_of(path, f"bot {str(path)!r}")
    if mode is None:
        raise BotDefinitionError(f"bot {str(path)!r}: there is no such file or directory{example_hint(path)}")
    if stat.S_ISDIR(mode):
        return _from_directory(path, args, bounds, is_known)
    if not stat.S_ISREG(mode):
        raise BotDefinitionError(f"bot {str(path)!r}: neither a file nor a directory")
    if path.name == MANIFEST:
        raise BotDefinitionError(f"bot {str(path)!r}: a {MANIFEST} alone; expected its directory, or an archive of it")
    if path.suffix == ".py":
        command: tuple[str, ...] = (arena_interpreter(), str(path))
    elif os.access(path, os.X_OK):
        command = (str(path),)
    elif path.suffix.lower() in ARCHIVES:
        raise BotDefinitionError(
            f"bot {str(path)!r}: an archive, which only arena check, arena submit and entrants_from take;"
            " expected .zip, .tar, .tar.gz, .tar.xz or .tar.bz2 there"
        )
    else:
        raise BotDefinitionError(
            f"bot {str(path)!r}: no program, for it is not executable; expected a .py file, a file with chmod +x, or a"
            f" directory with a {MANIFEST}"
        )
    name = unicodedata.normalize("NFC", path.stem)
    check_name(f"bot {str(path)!r}: name", name, is_known)
    digest = digest_of([single_file(path, bounds)])
    return Bot(
        name=name,
        version="1",
        command=(*command, *args),
        directory=str(path.parent),
        games=(),
        digest=digest,
        own_files=(str(path),),
        submitted=bounds.is_submission,
    )


def as_submitted(bot: Bot) -> Bot:
    """Return a bot in place as if somebody had submitted it."""
    own_files = bot.own_files or (bot.directory,)
    _check_is_copied((*bot.command, *bot.build), Path(bot.directory), f"bot {bot.label!r}")
    resolved = resolve_program(bot.command[0], own_files, clean_environment("")["PATH"], submitted=True)
    if resolved.refused:
        leads = "" if resolved.refused == bot.command[0] else f", which leads to {resolved.refused}"
        raise BotDefinitionError(f"bot {bot.label!r}: its program is {bot.command[0]}{leads}: {SUBMITTED_RULE}")
    if bot.build:
        _check_program_location(bot.build[0], Path(bot.directory), f"bot {bot.label!r}: build = {bot.build[0]!r}")
    return replace(bot, submitted=True)


def known_by(bot: Bot, digest: str) -> Bot:
    """Return a bot with the digest under which an earlier version has stored it, if its files have that one.

    Earlier versions took some files for the bot's that are left out now.
    """
    if not digest or bot.digest == digest or bot.own_files or not bot.directory:
        return bot
    with contextlib.suppress(BotDefinitionError):
        if digest_of(bot_files(Path(bot.directory), bool(bot.build), earlier=True)) == digest:
            return replace(bot, digest=digest)
    return bot


def claims_problem(bot: Bot, game: str) -> str | None:
    """Return why a bot does not play a game, to follow its name in a sentence; None if it does."""
    if not bot.games or game in bot.games:
        return None
    return f"does not play {game}; it claims {', '.join(bot.games)}"


def resolved_bot_path(path: Path) -> Path:
    """Return a path without links; it need not exist."""
    try:
        path = path.resolve()
        path.stat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "this is no path"
        raise BotDefinitionError(f"bot {shortened_text(str(path))!r}: {reason}") from error
    return path


def _from_directory(directory: Path, args: Sequence[str], bounds: Bounds, is_known: IsKnown | None) -> Bot:
    path = directory / MANIFEST
    manifest = check_model(
        _Manifest, parse_toml(_read_manifest(path), path, BotDefinitionError), path, BotDefinitionError
    )
    check_name(f"{path}: name", manifest.name, is_known)
    if not is_version(manifest.version) and not (is_known is not None and is_known(manifest.version)):
        raise BotDefinitionError(f"{path}: version = {manifest.version!r}: {VERSION_ACCEPTED}")
    if bounds.is_submission:  # before an error about the command can reveal which files this machine has
        _check_program_location(manifest.command[0], directory, f"{path}: command = {manifest.command[0]!r}")
        if manifest.build:
            _check_program_location(manifest.build[0], directory, f"{path}: build = {manifest.build[0]!r}")
        _check_is_copied((*manifest.command, *manifest.build), directory, f"bot {manifest.name!r}")
    command = (_program(manifest.command[0], directory, path, bool(manifest.build)), *manifest.command[1:], *args)
    if manifest.warm and not is_python_file(command):
        raise BotDefinitionError(
            f"{path}: warm = true: expected command = ['python3', 'FILE.py', …], got {manifest.command!r}"
        )
    build = tuple(manifest.build)
    digest = digest_of(bot_files(directory, bool(build), bounds))
    return Bot(
        name=manifest.name,
        version=manifest.version,
        command=command,
        directory=str(directory),
        games=tuple(manifest.games),
        digest=digest,
        build=build,
        author=manifest.author,
        warm=manifest.warm,
        submitted=bounds.is_submission,
    )


def _check_program_location(program: str, directory: Path, context: str) -> None:
    """Raise BotDefinitionError if a program with a slash is outside the directories that submitted bots may use."""
    file = os.path.normpath(directory / program)
    accepted = (str(directory), *SYSTEM, *arena_python(), arena_interpreter())
    if "/" in program and not is_below(file, accepted):
        raise BotDefinitionError(f"{context}: a submitted bot may not start this program: {SUBMITTED_RULE}")


def _check_is_copied(words: Sequence[str], directory: Path, context: str) -> None:
    """Raise BotDefinitionError if a command names a file that no copy of the bot has."""
    for word in words:
        below = os.path.relpath(directory / word, directory)
        left_out = next((part for part in Path(below).parts if left_out_as(part)), None)
        if "/" in word and left_out is not None and not below.startswith(".."):
            raise BotDefinitionError(
                f"{context}: its command names {below!r}, but {left_out} is no part of a bot, which is copied without"
                " it; docs/dependencies.md has other ways to bring libraries along"
            )


def _read_manifest(path: Path) -> bytes:
    mode = _mode_of(path, str(path))
    if mode is None:
        raise BotDefinitionError(
            f"bot {str(path.parent)!r}: there is no {MANIFEST} in this directory; {LEAST}, and arena check"
            " --write-manifest writes one"
        )
    if not stat.S_ISREG(mode):
        raise BotDefinitionError(f"{path}: a plain file is expected")
    if not Path(os.path.realpath(path)).is_relative_to(path.parent):
        raise BotDefinitionError(f"{path}: a link that leads out of the bot's directory")
    with failing_as(BotDefinitionError, f"{path}: can't be read"), open(path, "rb", opener=open_at_once) as file:
        data = file.read(MAX_MANIFEST_BYTES + 1)
    if len(data) > MAX_MANIFEST_BYTES:
        raise BotDefinitionError(f"{path}: more than {MAX_MANIFEST_BYTES // 1024} KiB")
    return data


def _mode_of(path: Path, context: str) -> int | None:
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BotDefinitionError(f"{context}: can't be read: {reason}") from error


def check_name(context: str, value: str, is_known: IsKnown | None = None) -> None:
    """Raise BotDefinitionError unless ``value``, from ``context``, may be a bot's name or version."""
    if not is_name(value) and not (is_known is not None and is_known(value)):
        raise BotDefinitionError(f"{context} = {value!r}: {ACCEPTED}")


def _program(program: str, directory: Path, manifest: Path, is_built: bool) -> str:
    """Return the program to launch: the arena's own Python, a file of the bot, or something on PATH."""
    if program in ("python", "python3"):
        return arena_interpreter()
    context = f"{manifest}: command = {program!r}"
    if not Path(program).name:
        raise BotDefinitionError(f"{context}: expected a file of the bot, python3, or a program of the system")
    local = directory / program
    if is_built and Path(program).parts[0] == BUILD_DIRECTORY:
        return str(local)  # it will be there once the bot has been built
    mode = _mode_of(local, context)
    if "/" in program or (mode is not None and stat.S_ISREG(mode)):
        if mode is None or not stat.S_ISREG(mode):
            of_build = f"; a file that its build makes is in {BUILD_DIRECTORY}/" if is_built else ""
            raise BotDefinitionError(f"{context}: there is no such file in the bot's directory{of_build}")
        if not os.access(local, os.X_OK):
            mend = f"chmod +x {local.name}, or name its interpreter first"
            raise BotDefinitionError(f"{context}: the file is not executable: {mend}")
        return str(local)
    return program
