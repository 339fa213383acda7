"""Bots on disk: a directory with a ``bot.toml``, or a single program."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from arena.checked import check_model, read_toml, without_nul
from arena.errors import BotDefinitionError
from arena.records import Bot
from arena.shipped import bot_path

NAME_PATTERN = r"[^\s@/\\\x00-\x1f\x7f-\x9f][^@/\\\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e]{0,63}"
"""A bot's name or version: printable, without ``@`` and slashes, at most 64 characters."""

MANIFEST = "bot.toml"
BUILD_DIRECTORY = "build"
"""Where the build of a bot puts what it makes; no part of a bot with a build, but made anew wherever the bot is."""
IGNORED_NAMES = frozenset({"__pycache__", ".git", ".hg", ".venv", "node_modules", ".mypy_cache", ".ruff_cache"})

Text = Annotated[str, StringConstraints(max_length=1000)]


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    version: str = "1"
    command: Annotated[list[Annotated[str, AfterValidator(without_nul)]], Field(min_length=1)]
    games: list[str] = []
    build: list[Annotated[str, AfterValidator(without_nul)]] = []
    author: Text = ""
    description: Text = ""


def load_bot(path: str | os.PathLike[str], args: Sequence[str] = ()) -> Bot:
    """Return the bot at a path.

    Args:
        path: a directory with a ``bot.toml``, or a single program: an executable file or a ``.py`` file; or
            ``arena:NAME``, an example bot.
        args: added to its command.

    Raises:
        BotDefinitionError: if there is no bot, or its ``bot.toml`` is refused.
        UnknownNameError: if there is no example bot of that name.
    """
    path = bot_path(path).resolve()
    if path.is_dir():
        return _from_directory(path, args)
    if not path.exists():
        raise BotDefinitionError(f"bot {str(path)!r}: there is no such file or directory")
    if not path.is_file():
        raise BotDefinitionError(f"bot {str(path)!r}: neither a file nor a directory")
    if path.suffix == ".py":
        command: tuple[str, ...] = (sys.executable, str(path))
    elif os.access(path, os.X_OK):
        command = (str(path),)
    else:
        raise BotDefinitionError(f"bot {str(path)!r}: not executable; try chmod +x, or give it a {MANIFEST}")
    check_name(f"bot {str(path)!r}: name", path.stem)
    content = digest_of([path], path.parent)
    return Bot(path.stem, "1", (*command, *args), str(path.parent), (), content, (str(path),))


def _from_directory(directory: Path, args: Sequence[str]) -> Bot:
    path = directory / MANIFEST
    if not path.exists():
        raise BotDefinitionError(f"bot {str(directory)!r}: there is no {MANIFEST} in this directory")
    manifest = check_model(_Manifest, read_toml(path, BotDefinitionError), path, BotDefinitionError)
    check_name(f"{path}: name", manifest.name)
    check_name(f"{path}: version", manifest.version)
    command = (_program(manifest.command[0], directory, path, bool(manifest.build)), *manifest.command[1:], *args)
    build = tuple(manifest.build)
    content = digest_of(bot_files(directory, bool(build)), directory)
    return Bot(manifest.name, manifest.version, command, str(directory), tuple(manifest.games), content, build=build)


def check_name(place: str, value: str) -> None:
    """Raise BotDefinitionError unless ``value``, which stands at ``place``, may be a bot's name or version."""
    if not re.fullmatch(NAME_PATTERN, value) or value != value.strip():
        raise BotDefinitionError(
            f"{place} = {value!r}: accepted are 1 to 64 printable characters without '@', '/' and '\\'"
        )


def _program(program: str, directory: Path, manifest: Path, is_built: bool) -> str:
    """Return the program to launch: the arena's own Python, a file of the bot, or something on PATH."""
    if program in ("python", "python3"):
        return sys.executable
    local = directory / program
    if is_built and Path(program).parts[0] == BUILD_DIRECTORY:
        return str(local)  # it will be there once the bot has been built
    if "/" in program or local.is_file():
        if not local.is_file():
            raise BotDefinitionError(f"{manifest}: command = {program!r}: there is no such file in the bot's directory")
        if not os.access(local, os.X_OK):
            raise BotDefinitionError(f"{manifest}: command = {program!r}: the file is not executable")
        return str(local)
    return program


def bot_files(directory: Path, has_build: bool) -> Iterator[Path]:
    """Yield the files of a bot in a fixed order, without caches, version control and what its build has made."""
    made = {BUILD_DIRECTORY} if has_build else set()
    for parent, directories, files in os.walk(directory):
        ignored = IGNORED_NAMES | made if Path(parent) == directory else IGNORED_NAMES
        directories[:] = sorted(name for name in directories if name not in ignored)
        for name in sorted(files):
            path = Path(parent, name)
            if path.is_file() and not name.endswith(".pyc"):
                yield path


def digest_of(files: Iterator[Path] | Sequence[Path], root: Path) -> str:
    """Return a digest of files: their paths below ``root``, whether they are executable, and what they hold."""
    digest = hashlib.sha256()
    for path in files:
        executable = os.access(path, os.X_OK)
        try:
            contents = path.read_bytes()
        except OSError as error:
            raise BotDefinitionError(f"{path}: can't be read: {error.strerror}") from error
        digest.update(f"{path.relative_to(root).as_posix()}\0{int(executable)}\0{len(contents)}\0".encode())
        digest.update(contents)
    return digest.hexdigest()[:16]
