"""Building bots that are written in a compiled language, confined like the bots themselves.

A build is somebody else's program too. It runs in a copy of the bot's files inside its scratch directory, without
network and with limits of its own, and what it leaves in ``build/`` comes back through its standard output. A stamp in
there tells from which files it was made, so that a bot is built again when, and only when, they have changed.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path

from arena.errors import BotDefinitionError
from arena.isolation.plans import Isolation, clean_environment
from arena.isolation.reachable import places_of
from arena.players.manifest import BUILD_DIRECTORY
from arena.players.program import BotProgram
from arena.records import MEBIBYTE, Bot, Limits

STAMP = ".made-from"
MOST_SECONDS = 300.0
MOST_BYTES = 256 * MEBIBYTE
"""Of what a build makes."""
SHOWN_LINES = 20

BUILD_LIMITS = Limits(
    memory_bytes=4096 * MEBIBYTE,
    processes=1024,
    open_files=4096,
    file_bytes=512 * MEBIBYTE,
    scratch_bytes=2048 * MEBIBYTE,
    message_bytes=MEBIBYTE,
)
"""Compilers need more than bots do."""

_SCRIPT = (
    f'cp -R "$0/." "$HOME/work" && cd "$HOME/work" && rm -rf {BUILD_DIRECTORY} && mkdir {BUILD_DIRECTORY}'
    f' && "$@" 1>&2 && tar -cf - {BUILD_DIRECTORY}'
)


def is_built(bot: Bot) -> bool:
    """Tell whether a bot needs no build, or has been built from the files it has now."""
    if not bot.build:
        return True
    with contextlib.suppress(OSError):
        return (Path(bot.directory) / BUILD_DIRECTORY / STAMP).read_text() == bot.content
    return False


def build_bots(bots: Iterable[Bot], isolation: Isolation) -> None:
    """Build those bots that have to be built.

    Raises:
        BotDefinitionError: if a build fails, its program is not on this machine, or the bot's directory can't be
            written; with what the build said.
        VoidMatchError: if this machine has no room for a process.
    """
    for bot in dict.fromkeys(bots):
        if not is_built(bot):
            _build(bot, isolation)


def _build(bot: Bot, isolation: Isolation) -> None:
    directory = Path(bot.directory)
    if not os.access(directory, os.W_OK):
        raise BotDefinitionError(f"bot {bot.label!r}: {directory} can't be written, and its build goes there")
    program = _tool(bot)
    places = places_of(program, clean_environment("")["PATH"])
    command = ("/bin/sh", "-c", _SCRIPT, bot.directory, program, *bot.build[1:])
    builder = Bot(bot.name, bot.version, command, bot.directory, own_files=(bot.directory, *places))
    archive, exit_text, said = _Build(builder, isolation, BUILD_LIMITS).run()
    if exit_text != "exit status 0":
        raise BotDefinitionError(
            f"bot {bot.label!r}: its build failed ({exit_text}): {' '.join(bot.build)}{_tail(said)}"
        )
    _put_in_place(archive, directory, bot)


def _put_in_place(archive: bytes, directory: Path, bot: Bot) -> None:
    with tempfile.TemporaryDirectory(prefix=".building-", dir=directory) as unfinished:
        whole = Path(unfinished) / BUILD_DIRECTORY
        target = directory / BUILD_DIRECTORY
        try:
            with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as made:
                _extract(made, Path(unfinished))
            (whole / STAMP).write_text(bot.content)
        except (tarfile.TarError, OSError) as error:
            raise BotDefinitionError(f"bot {bot.label!r}: what its build has made can't be kept: {error}") from error
        shutil.rmtree(target, ignore_errors=True)
        whole.rename(target)


def _extract(archive: tarfile.TarFile, target: Path) -> None:
    """Write out plain files and directories, nothing else, and nothing outside of ``target``."""
    size = 0
    for member in archive:
        path = target / member.name
        size += member.size
        if size > MOST_BYTES:
            raise tarfile.TarError(f"more than {MOST_BYTES // MEBIBYTE} MiB")
        if not (member.isfile() or member.isdir()) or ".." in path.parts or not path.is_relative_to(target):
            raise tarfile.TarError(f"{member.name!r} is neither a file nor a directory in {BUILD_DIRECTORY}/")
        if member.isdir():
            path.mkdir(parents=True, exist_ok=True)
        elif (contents := archive.extractfile(member)) is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents.read())
            path.chmod(0o755 if member.mode & 0o100 else 0o644)


class _Build(BotProgram):
    """A build on its way."""

    def run(self) -> tuple[bytes, str, str]:
        """Wait for it to end; return what came on stdout, how it ended, and what it said on stderr."""
        archive = bytearray()
        deadline = time.monotonic() + MOST_SECONDS
        too_much = ""
        while not too_much and not (self._note_exit() and not self._take(archive)):
            if time.monotonic() > deadline:
                too_much = f"it took more than {MOST_SECONDS:g} s"
            elif len(archive) > MOST_BYTES:
                too_much = f"it made more than {MOST_BYTES // MEBIBYTE} MiB"
            else:
                too_much = self._broken_limit()
                self._poll.poll(100)
                self._take(archive)
                self._drain_all(self._stderr)
        self.end()
        return bytes(archive), too_much or self.exit_text, self.take_stderr()

    def _take(self, archive: bytearray) -> bool:
        """Read what there is on stdout; tell whether there was anything."""
        before = len(archive)
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self._stdout, MEBIBYTE):
                archive += chunk
        return len(archive) > before

    def _broken_limit(self) -> str:
        return self._watch.look() or ""


def _tool(bot: Bot) -> str:
    """Return the program that builds a bot, with its place.

    Raises:
        BotDefinitionError: if it is not on this machine.
    """
    name = bot.build[0]
    local = Path(bot.directory) / name
    if "/" in name and local.is_file():
        return f"./{name}"
    found = shutil.which(name, path=clean_environment("")["PATH"]) or shutil.which(name)
    if found is None:
        raise BotDefinitionError(
            f"bot {bot.label!r}: build = {list(bot.build)!r}: there is no program {name!r} on this machine"
        )
    return _behind_rustup(Path(found))


def _behind_rustup(program: Path) -> str:
    """Return the program itself where ``program`` is rustup's stand-in for it, which needs the owner's home.

    That is where rustup lies (``.cargo/bin`` in a home, beside ``.rustup``), whatever $HOME says.
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


def _tail(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()][:SHOWN_LINES]
    return "".join(f"\n  {line}" for line in lines)
