"""Builds bots that are written in a compiled language, and takes the result out of an untrusted directory."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
import time
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from arena.base.errors import BotDefinitionError
from arena.base.records import MEBIBYTE, Bot, Limits
from arena.match.players.bot_files import BUILD_DIRECTORY, open_at_once
from arena.match.players.subprocess import Subprocess
from arena.match.players.untrusted_tree import TreeBounds, TreeRejectedError, copy_tree, ended_scratch
from arena.sandbox.isolation.interpreters import (
    SUBMITTED_RULE,
    SYSTEM,
    arena_python,
    is_below,
    is_submitted,
    resolve_program,
)
from arena.sandbox.isolation.removal import remove_tree
from arena.sandbox.isolation.sandbox_policy import Isolation, clean_environment

MAX_BYTES = 256 * MEBIBYTE
MAX_FILES = 10_000
MAX_DEPTH = 32


def fingerprint(directory: Path) -> str:
    """Return a hash that tells a directory from any other at its path, without reading the files in it.

    The system gives inodes and the times of their changes: nobody can write files that have the same.
    """
    digest = hashlib.sha256()
    waiting = [directory]
    count = 0
    while waiting:
        current = waiting.pop()
        entries = []
        with os.scandir(current) as listing:
            for entry in listing:
                count += 1
                if count > MAX_FILES:
                    raise BotDefinitionError(f"{directory}: more than {MAX_FILES:,} files and directories")
                entries.append(entry)
        for entry in sorted(entries, key=lambda item: item.name):
            status = entry.stat(follow_symlinks=False)
            state = (status.st_mode, status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
            digest.update(os.fsencode(entry.path) + repr(state).encode())
            if stat.S_ISDIR(status.st_mode):
                waiting.append(Path(entry.path))
    return digest.hexdigest()


# A build is an untrusted program too. It runs in a copy of the bot's files inside its scratch directory, without
# network and with limits of its own. When it is over and all of it has been killed, the arena itself takes what lies in
# ``build/`` there, which nobody can change any more. A note says from which files it was made. The note is beside the
# bot's directory, never in it, so that a bot is built again when, and only when, its files have changed, and no bot can
# claim to be built.

MAX_SECONDS = 300.0
SHOWN_LINES = 20
MAX_NOTE_BYTES = 1024

BUILD_LIMITS = Limits(
    memory_bytes=4096 * MEBIBYTE,
    processes=1024,
    open_files=4096,
    file_bytes=512 * MEBIBYTE,
    scratch_bytes=2048 * MEBIBYTE,
    message_bytes=MEBIBYTE,
)
"""Compilers need more than bots do."""

_WORK = "work"
_SCRIPT = f"""
mkdir "$HOME/{_WORK}" || exit
for file in "$0"/* "$0"/.[!.]* "$0"/..?*; do
    case "$file" in */{BUILD_DIRECTORY} | */.building-*) continue ;; esac
    [ -e "$file" ] || [ -L "$file" ] || continue
    cp -RP "$file" "$HOME/{_WORK}" || exit
done
cd "$HOME/{_WORK}" && mkdir {BUILD_DIRECTORY} && "$@" < /dev/null 1>&2 && echo built && read -r _
"""
"""The script waits when the build is done, so that its output exists until the arena has opened it."""


def is_built(bot: Bot) -> bool:
    """Return whether a bot needs no build, or has been built here from the files it has now."""
    if not bot.build:
        return True
    directory = Path(bot.directory)
    with contextlib.suppress(OSError, BotDefinitionError):
        note = _note_of(directory)
        if note.lstat().st_uid in (0, os.geteuid(), directory.stat().st_uid):
            with open(note, encoding="utf-8", errors="replace", opener=open_at_once) as file:
                return file.read(MAX_NOTE_BYTES) == _note_text(bot)
    return False


def forget_build(directory: str | os.PathLike[str]) -> None:
    """Remove the note of a build, for a bot whose directory has been removed."""
    with contextlib.suppress(OSError):
        _note_of(Path(directory)).unlink()


def _note_of(directory: Path) -> Path:
    """Return the path of the note about a bot's build: beside its directory, out of its author's reach."""
    return directory.parent / f".{directory.name}.built"


def _note_text(bot: Bot) -> str:
    return f"{bot.digest} {fingerprint(Path(bot.directory) / BUILD_DIRECTORY)}\n"


def build_bots(bots: Iterable[Bot], isolation: Isolation) -> None:
    """Build those bots that have to be built."""
    for bot in dict.fromkeys(bots):
        if not is_built(bot):
            _build(bot, isolation)


def _build(bot: Bot, isolation: Isolation) -> None:
    directory = Path(bot.directory)
    if not os.access(directory, os.W_OK):
        raise BotDefinitionError(f"bot {bot.label!r}: {directory} can't be written, and its build goes there")
    program = _tool(bot)
    is_strangers = "/" in bot.build[0] and is_submitted(bot)  # a name is searched where the operator has put programs
    resolved = resolve_program(program, (bot.directory,), clean_environment("")["PATH"], is_strangers)
    if resolved.refused and is_strangers:
        raise BotDefinitionError(
            f"bot {bot.label!r}: build = {list(bot.build)!r}: a submitted bot may not start {resolved.refused}:"
            f" {SUBMITTED_RULE}"
        )
    command = ("/bin/sh", "-c", _SCRIPT, bot.directory, program, *bot.build[1:])
    builder = Bot(
        name=bot.name,
        version=bot.version,
        command=command,
        directory=bot.directory,
        own_files=(bot.directory, *resolved.paths),
    )
    with Subprocess(builder, replace(isolation, builds=True), BUILD_LIMITS) as process:
        problem = _finish_build(process, bot)
    if problem:
        output = _first_lines(process.stderr_text.take())
        raise BotDefinitionError(f"bot {bot.label!r}: its build failed ({problem}): {' '.join(bot.build)}{output}")


def _keep(output: int, bot: Bot) -> str:
    """Put what a build has made, an open directory, into the bot's; return why it is not accepted, or nothing."""
    try:
        unfinished = tempfile.mkdtemp(prefix=".building-", dir=bot.directory)
        try:
            output_directory = Path(unfinished) / BUILD_DIRECTORY
            try:
                copy_tree(output, output_directory, TreeBounds(MAX_FILES, MAX_BYTES, MAX_DEPTH), BUILD_DIRECTORY)
            except (TreeRejectedError, OSError) as error:
                return f"what it has made can't be kept: {getattr(error, 'strerror', None) or error}"
            _put_in_place(output_directory, bot)
        finally:
            remove_tree(unfinished)  # however deep, and never longer than its deadline
    except OSError as error:
        return f"what it has made can't be put into {bot.directory}: {error.strerror}"
    return ""


def _put_in_place(output_directory: Path, bot: Bot) -> None:
    target = Path(bot.directory) / BUILD_DIRECTORY
    before = output_directory.with_name("before")
    forget_build(bot.directory)
    if target.is_symlink() or target.exists():
        target.rename(before)
    output_directory.rename(target)
    if before.is_dir() and not before.is_symlink():
        remove_tree(str(before))
    with contextlib.suppress(OSError):  # without the note it is only built again
        note = _note_of(Path(bot.directory))
        note.unlink(missing_ok=True)
        with note.open("x", encoding="utf-8") as file:
            file.write(_note_text(bot))


def _finish_build(process: Subprocess, bot: Bot) -> str:
    if problem := _wait_until_built(process):
        return problem
    try:
        with ended_scratch(process, _WORK, BUILD_DIRECTORY) as output:
            return _keep(output, bot)
    except TreeRejectedError as error:
        return f"what it has made can't be kept: {error}"


def _wait_until_built(process: Subprocess) -> str:
    """Wait until a build is done; return what went wrong, or nothing.

    A byte on stdout, where nothing else is written, means that it is done; a build that sends it early loses the rest.
    """
    deadline = time.monotonic() + MAX_SECONDS
    while not process.read_stdout():
        if process.has_exited():
            return process.exit_text
        if time.monotonic() > deadline:
            return f"it took more than {MAX_SECONDS:g} s"
        if (broken := process.monitor.sample()) is not None:
            return broken
        process.poll(100)
        process.drain_last_stderr()
    return ""


def _tool(bot: Bot) -> str:
    name = bot.build[0]
    if "/" in name and _is_file(Path(bot.directory) / name):
        return name if name.startswith("/") else f"./{name}"
    path = clean_environment("")["PATH"]
    found = None if "/" in name else shutil.which(name, path=path) or shutil.which(name)
    place = f"bot {bot.label!r}: build = {list(bot.build)!r}"
    if found is None or not found.startswith("/"):
        raise BotDefinitionError(f"{place}: there is no program {name!r} on this machine")
    tool = _behind_rustup(Path(found))
    if is_submitted(bot) and not _is_everybodys(found, tool):
        raise BotDefinitionError(
            f"{place}: there is no program {name!r} on the PATH of submitted bots, {path}; {found} is the operator's,"
            " who can put a link to it there"
        )
    return tool


def _is_everybodys(found: str, tool: str) -> bool:
    """Return whether a program that was found by its name is on the bots' PATH, or a compiler of the machine."""
    on_path = str(Path(found).parent) in clean_environment("")["PATH"].split(os.pathsep)
    return on_path or tool != found or is_below(os.path.realpath(found), (*SYSTEM, *arena_python()))


def _is_file(path: Path) -> bool:
    with contextlib.suppress(OSError):  # too long a name, or a directory that may not be entered
        return path.is_file()
    return False


def _behind_rustup(program: Path) -> str:
    """Return the program itself where ``program`` is rustup's stand-in for it, which needs the owner's home.

    That is the home where rustup is (``.cargo/bin``, beside ``.rustup``), not necessarily $HOME.
    """
    rustup = program.resolve()
    if rustup.name != "rustup":
        return str(program)
    homes = [Path.home() / ".rustup", *(parent / ".rustup" for parent in rustup.parents[2:3])]
    home = next((home for home in homes if (home / "settings.toml").is_file()), homes[0])
    if os.environ.get("RUSTUP_HOME"):
        home = Path(os.environ["RUSTUP_HOME"])
    with contextlib.suppress(OSError, tomllib.TOMLDecodeError):
        toolchain = tomllib.loads((home / "settings.toml").read_text()).get("default_toolchain", "")
        real = home / "toolchains" / toolchain / "bin" / program.name
        if real.is_file():
            return str(real)
    return str(program)


def _first_lines(stderr: str) -> str:
    lines = [line for line in stderr.splitlines() if line.strip()][:SHOWN_LINES]
    return "".join(f"\n  {line}" for line in lines)
