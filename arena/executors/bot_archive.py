"""Bots on their way to another machine: their files, and the same bot there."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from arena.errors import UsageError
from arena.isolation.interpreters import arena_interpreter
from arena.players.bot_files import BUILD_DIRECTORY, Bounds, bot_files, made_files, read_file, single_file
from arena.records import MEBIBYTE, Bot

MOST_BYTES = 64 * MEBIBYTE
_BOUNDS = Bounds(files=10_000, is_strict=True)
"""What a link leads to elsewhere is not sent around."""

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
    found = [single_file(Path(file), _BOUNDS) for file in bot.own_files] or bot_files(root, bool(bot.build), _BOUNDS)
    if bot.build:
        found += made_files(root / BUILD_DIRECTORY, _BOUNDS)
    size_bytes = sum(file.size_bytes for file in found)
    if size_bytes > MOST_BYTES:
        raise UsageError(
            f"bot {bot.label!r}: {size_bytes // MEBIBYTE} MiB of files; a cluster takes {MOST_BYTES // MEBIBYTE}"
        )
    files = [(file.name, file.is_executable, read_file(file)) for file in found]
    command = tuple(OWN_PYTHON if part == arena_interpreter() else part for part in bot.command)
    return Parcel(replace(bot, command=command), tuple(files))


def unpack(parcel: Parcel, base: Path) -> Bot:
    """Write a bot's files below ``base``, where they are not there yet, and return the bot as it runs from there."""
    bot = parcel.bot
    target = base / f"{bot.name}@{bot.version}-{bot.digest or 'unknown'}"
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
            return arena_interpreter()
        path = Path(text)
        inside = path.is_absolute() and path.is_relative_to(bot.directory)
        return str(target / path.relative_to(bot.directory)) if inside else text

    return replace(
        bot,
        command=tuple(moved(part) for part in bot.command),
        directory=str(target),
        own_files=tuple(moved(file) for file in bot.own_files),
    )
