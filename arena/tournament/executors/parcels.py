"""Bots on their way to another machine: their files, and the same bot there."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from arena.errors import UsageError
from arena.players.manifest import BUILD_DIRECTORY, bot_files
from arena.records import MEBIBYTE, Bot

MOST_BYTES = 64 * MEBIBYTE
MOST_FILES = 10_000

OWN_PYTHON = "\0python"
"""Stands for the arena's own Python, which is elsewhere on another machine."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A bot with its files.

    Attributes:
        bot: as it was packed; its command names the bot's directory as it was there.
        files: path below the directory, whether it is executable, and what it holds.
    """

    bot: Bot
    files: tuple[tuple[str, bool, bytes], ...]


def pack(bot: Bot) -> Parcel:
    """Return a bot with its files.

    Raises:
        UsageError: if they can't be read, or are too large to be sent around.
    """
    root = Path(bot.directory)
    paths: list[Path] = [Path(file) for file in bot.own_files] or list(bot_files(root, bool(bot.build)))
    if bot.build:
        paths += _files_below(root / BUILD_DIRECTORY)
    files = []
    size = 0
    for path in paths:
        try:
            files.append((path.relative_to(root).as_posix(), bool(path.stat().st_mode & 0o111), path.read_bytes()))
        except OSError as error:
            raise UsageError(f"bot {bot.label!r}: {path}: can't be read: {error.strerror}") from error
        size += len(files[-1][2])
    if size > MOST_BYTES:
        raise UsageError(
            f"bot {bot.label!r}: {size // MEBIBYTE} MiB of files; a cluster takes {MOST_BYTES // MEBIBYTE}"
        )
    command = tuple(OWN_PYTHON if part == sys.executable else part for part in bot.command)
    return Parcel(replace(bot, command=command), tuple(files))


def _files_below(directory: Path) -> list[Path]:
    """Return the files that a build has made, without recursion: how deep they lie is the build's doing."""
    found: list[Path] = []
    waiting = [directory] if directory.is_dir() else []
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    elif entry.is_file(follow_symlinks=False):
                        found.append(Path(entry.path))
        except OSError as error:
            raise UsageError(f"{error.filename}: can't be read: {error.strerror}") from error
        if len(found) > MOST_FILES:
            raise UsageError(f"{directory}: more than {MOST_FILES:,} files; a cluster takes {MOST_FILES:,}")
    return found


def unpack(parcel: Parcel, base: Path) -> Bot:
    """Write a bot's files below ``base``, where they are not there yet, and return the bot as it runs from there."""
    bot = parcel.bot
    target = base / f"{bot.name}@{bot.version}-{bot.content or 'unknown'}"
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=base, ignore_cleanup_errors=True) as unfinished:
            whole = Path(unfinished) / "bot"
            for name, is_executable, data in parcel.files:
                path = whole / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
                path.chmod(0o755 if is_executable else 0o644)
            whole.rename(target)

    def moved(text: str) -> str:
        if text == OWN_PYTHON:
            return sys.executable
        path = Path(text)
        inside = path.is_absolute() and path.is_relative_to(bot.directory)
        return str(target / path.relative_to(bot.directory)) if inside else text

    return replace(
        bot,
        command=tuple(moved(part) for part in bot.command),
        directory=str(target),
        own_files=tuple(moved(file) for file in bot.own_files),
    )
