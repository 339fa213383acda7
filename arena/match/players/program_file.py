"""The file of a bot's program: whose kit it uses, and hints for its author where it could not be executed."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from pathlib import Path

from arena.base.records import Bot
from arena.base.text import shortened_text

READ_BYTES = 1 << 20
NOT_FOUND_BY_ENV = "exit status 127"


def uses_botkit(bot: Bot) -> bool:
    """Return whether a bot is written with ``arena.botkit``, so that its author never sees bytes."""
    texts = (_head(path) for path in _program_files(bot) if path.suffix == ".py")
    return any(b"arena.botkit" in text for text in texts)


def unmentioned(bot: Bot, names: Iterable[str]) -> list[str]:
    """Return those names that the source of a bot's program has neither with _ nor with -; none if it has no source."""
    heads = [_head(path).replace(b"-", b"_") for path in _program_files(bot)]
    sources = [head for head in heads if b"\0" not in head]
    return [name for name in names if sources and not any(name.encode() in source for source in sources)]


def exists(path: Path) -> bool:
    """Return whether a path that a bot may have named exists; it may be no valid path at all."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def unexecuted_hint(bot: Bot, detail: str) -> str | None:
    """Return how to fix a program that could not be executed; None if ``detail``, of its fault, says something else."""
    program = Path(bot.directory, bot.command[0])
    head = _head(program)[:4096]
    first_line = head.split(b"\n")[0]
    if "can't be executed" not in detail:
        is_of_env = NOT_FOUND_BY_ENV in detail and first_line.startswith(b"#!/usr/bin/env")
        return _bad_first_line(program.name, first_line) if is_of_env else None
    if not program.is_file():
        return _no_program(bot)
    if head.startswith(b"#!"):
        return _bad_first_line(program.name, first_line)
    if head.startswith(b"\x7fELF"):
        return (
            f"{program.name} is compiled for another machine than this one ({platform.machine()}), or its loader is"
            " not here: compile it here, or let the arena do it with build = [...] in bot.toml"
        )
    if head.startswith((b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")):
        return f"{program.name} is compiled for another system: compile it on Linux, or with build = [...] in bot.toml"
    if b"\0" in head:
        return f"{program.name} is no program for this machine ({platform.machine()})"
    return f"{program.name} needs a first line that names its interpreter, such as #!/bin/sh or #!/usr/bin/env python3"


def _program_files(bot: Bot) -> list[Path]:
    return [path for word in bot.command[:8] if exists(path := Path(bot.directory, word)) and path.is_file()]


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(READ_BYTES)
    except (OSError, ValueError):
        return b""


def _no_program(bot: Bot) -> str:
    name = bot.command[0]
    inside = name.removeprefix(f"{bot.directory.rstrip('/')}/")
    if bot.build and inside != name:
        return f"the build made no {inside}: let it write the program there, as command in bot.toml says"
    words = name.split()
    if len(words) > 1:
        return f"command in bot.toml takes each word by itself: command = {[*words, *bot.command[1:]]}"
    return f"there is no program {name!r} on PATH (which is that of the arena, not your shell's) nor in the bot's files"


def _bad_first_line(name: str, line: bytes) -> str:
    shown = shortened_text(line.decode(errors="replace").rstrip("\r"))
    if line.endswith(b"\r"):
        return f"{name} has the line ends of Windows (CR LF), so there is no interpreter of that name: dos2unix {name}"
    words = line[2:].split()
    program = words[0].decode(errors="replace") if words else ""
    if not program.startswith("/") or not Path(program).exists() or program == "/usr/bin/env":
        return f"the first line of {name} is {shown!r}, and there is no such interpreter on this machine"
    return f"the first line of {name} is {shown!r}; bots at this level may not execute that, or it is no program"
