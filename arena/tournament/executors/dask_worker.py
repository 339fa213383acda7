"""A worker of a Dask cluster, and the archives in which bots are sent to it."""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arena.base.errors import UsageError
from arena.base.records import MEBIBYTE, Bot, Limits, MatchSpec
from arena.base.version import __version__
from arena.match.bot_pool import BotPool
from arena.match.players.bot_files import BUILD_DIRECTORY, Bounds, bot_files, made_files, read_file, single_file
from arena.sandbox.isolation.interpreters import arena_interpreter, is_submitted
from arena.sandbox.isolation.launcher import close_launcher, kept_on, open_launcher
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.procfs import process_tag
from arena.sandbox.isolation.reaper import DASK_WORKER_PREFIX
from arena.sandbox.isolation.removal import remove_tree
from arena.tournament.executors.executor import JobResult, Void
from arena.tournament.executors.worker import play_spec
from arena.tournament.executors.worker_start import CoreLocks, workers_that_fit

# Packs bots to be sent to other machines, and unpacks them there.

MAX_BYTES = 64 * MEBIBYTE
_BOUNDS = Bounds(files=10_000, is_strict=True)
"""Links that lead out of the bot's directory are refused."""

OWN_PYTHON = "\0python"
"""Stands for the arena's own Python interpreter, whose path differs from machine to machine."""


@dataclass(frozen=True, slots=True)
class BotArchive:
    """A bot as it was packed, and its files: the path below its directory, whether it is executable, the contents."""

    bot: Bot
    files: tuple[tuple[str, bool, bytes], ...]


def pack_bot(bot: Bot) -> BotArchive:
    """Return a bot with its files."""
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
            complete = Path(unfinished) / "bot"
            for name, is_executable, data in archive.files:
                path = complete / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
                path.chmod(0o755 if is_executable else 0o644)
            complete.rename(target)

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


@dataclass(frozen=True, slots=True)
class DaskWorkerSettings:
    """What every worker of a cluster is prepared with; its arena must be of the director's version."""

    archives: tuple[BotArchive, ...]
    isolation: str
    limits: Limits
    fresh_bots: bool
    version: str = __version__


class DaskWorker:
    """The bots of a worker, unpacked and ready to play."""

    def __init__(self, settings: DaskWorkerSettings) -> None:
        if settings.version != __version__:
            raise UsageError(f"the cluster has arena {__version__}, and {settings.version} is needed")
        workers_that_fit(settings.limits)
        isolation = choose_isolation(settings.isolation)
        self._directory = Path(tempfile.mkdtemp(prefix=f"{DASK_WORKER_PREFIX}{process_tag()}-"))
        self._directory.chmod(0o755)  # bots run as other users
        self._bots: dict[str, Bot] = {
            archive.bot.label: unpack_bot(archive, self._directory) for archive in settings.archives
        }
        self._locks = CoreLocks()
        (self._cores,) = self._locks.take(1, settings.limits.cores)
        open_launcher()
        self._pool = BotPool(isolation, settings.limits, settings.fresh_bots)
        self._one_at_a_time = threading.Lock()
        self._watching = contextlib.ExitStack()  # in which the bots are watched

    def play(self, specs: Sequence[MatchSpec]) -> list[JobResult]:
        """Play matches one after another."""
        with self._one_at_a_time, kept_on(self._cores):
            self._watching.close()
            try:
                return [self._play(spec) for spec in specs]
            finally:
                self._watching.enter_context(self._pool.watched())

    def _play(self, spec: MatchSpec) -> JobResult:
        local_spec = replace(spec, bots=tuple(self._bots[bot.label] for bot in spec.bots))
        result = play_spec(self._pool, local_spec)
        if isinstance(result, Void):  # with the bots as the cluster knows them
            return result._replace(spec=replace(spec, void_tries=result.spec.void_tries))
        return result

    def close(self) -> None:
        """End all bots and remove their files."""
        with self._one_at_a_time:
            self._watching.close()
            self._pool.close()
        close_launcher()
        self._locks.close()
        remove_tree(str(self._directory))
