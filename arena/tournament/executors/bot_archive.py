"""Packs bots to be sent to other machines, and unpacks them there."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from arena.base.errors import UsageError
from arena.base.records import MEBIBYTE, Bot
from arena.match.players.bot_files import BUILD_DIRECTORY, Bounds, bot_files, made_files, read_file, single_file
from arena.sandbox.isolation.interpreters import arena_interpreter, is_submitted

MAX_BYTES = 64 * MEBIBYTE
_BOUNDS = Bounds(files=10_000, is_strict=True)
"""Links that lead out of the bot's directory are refused."""

OWN_PYTHON = "\0python"
"""Stands for the arena's own Python interpreter, whose path differs from machine to machine."""


@dataclass(frozen=True, slots=True)
class BotArchive:
    """A bot with its files.

    Attributes:
        bot: as it was packed; its command names the directory that the bot had there.
        files: the path below the directory, whether it is executable, and the contents.
    """

    bot: Bot
    files: tuple[tuple[str, bool, bytes], ...]


def pack_bot(bot: Bot) -> BotArchive:
    """Return a bot with its files.

    Raises:
        UsageError: if they can't be read, or are too large to be sent to other machines.
    """
    root = Path(bot.directory)
    files = [single_file(Path(file), _BOUNDS) for file in bot.own_files] or bot_files(root, bool(bot.build), _BOUNDS)
    if bot.build:
        files += made_files(root / BUILD_DIRECTORY, _BOUNDS)
    size_bytes = sum(file.size_bytes for file in files)
    if size_bytes > MAX_BYTES:
        raise UsageError(
            f"bot {bot.label!r}: {size_bytes // MEBIBYTE} MiB of files; a cluster takes {MAX_BYTES // MEBIBYTE}"
        )
    contents = tuple((file.name, file.is_executable, read_file(file)) for file in files)
    command = tuple(OWN_PYTHON if part == arena_interpreter() else part for part in bot.command)
    return BotArchive(replace(bot, command=command, submitted=is_submitted(bot)), contents)


def unpack_bot(archive: BotArchive, base: Path) -> Bot:
    """Write the bot's files below ``base``, unless they are there already, and return the bot as it runs from there."""
    bot = archive.bot
    target = base / f"{bot.name}@{bot.version}-{bot.digest or 'unknown'}"
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=base, ignore_cleanup_errors=True) as unfinished:
            whole = Path(unfinished) / "bot"
            for name, is_executable, data in archive.files:
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
