"""A worker of a Dask cluster: unpacks the bots once, then plays matches one after another."""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arena.base.errors import UsageError
from arena.base.records import Bot, Limits, MatchSpec
from arena.base.version import __version__
from arena.match.bot_pool import BotPool
from arena.sandbox.isolation.launcher_client import close_launcher, open_launcher
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.process_tag import process_tag
from arena.sandbox.isolation.removal import remove_tree
from arena.sandbox.isolation.stale_cleanup import DASK_WORKER_PREFIX
from arena.tournament.executors.bot_archive import BotArchive, unpack_bot
from arena.tournament.executors.executor import JobResult, Void
from arena.tournament.executors.worker import play_spec


@dataclass(frozen=True, slots=True)
class DaskWorkerSettings:
    """What every worker of a cluster is prepared with.

    Attributes:
        archives: the bots.
        isolation: the level asked for; "auto" is the strongest of each machine.
        limits: what a bot may use.
        fresh_bots: launch every bot again for every match.
        version: of the director's arena; the worker's must be the same.
    """

    archives: tuple[BotArchive, ...]
    isolation: str
    limits: Limits
    fresh_bots: bool
    version: str = __version__


class DaskWorker:
    """The bots of a worker, unpacked and ready to play."""

    def __init__(self, settings: DaskWorkerSettings) -> None:
        """Unpack the bots and choose the isolation level.

        Raises:
            UsageError: if this machine has another version of the arena, or does not support the level.
        """
        if settings.version != __version__:
            raise UsageError(f"the cluster has arena {__version__}, and {settings.version} is needed")
        isolation = choose_isolation(settings.isolation)
        self._directory = Path(tempfile.mkdtemp(prefix=f"{DASK_WORKER_PREFIX}{process_tag()}-"))
        self._directory.chmod(0o755)  # bots run as other users
        self._bots: dict[str, Bot] = {
            archive.bot.label: unpack_bot(archive, self._directory) for archive in settings.archives
        }
        open_launcher()
        self._pool = BotPool(isolation, settings.limits, settings.fresh_bots)
        self._one_at_a_time = threading.Lock()
        self._rest = contextlib.ExitStack()  # in which the bots are watched

    def play(self, specs: Sequence[MatchSpec]) -> list[JobResult]:
        """Play matches one after another."""
        with self._one_at_a_time:
            self._rest.close()
            try:
                return [self._play(spec) for spec in specs]
            finally:
                self._rest.enter_context(self._pool.watched())

    def _play(self, spec: MatchSpec) -> JobResult:
        here = replace(spec, bots=tuple(self._bots[bot.label] for bot in spec.bots))
        result = play_spec(self._pool, here)
        if isinstance(result, Void):  # with the bots as the cluster knows them
            return result._replace(spec=replace(spec, void_tries=result.spec.void_tries))
        return result

    def close(self) -> None:
        """End all bots and remove their files."""
        with self._one_at_a_time:
            self._rest.close()
            self._pool.close()
        close_launcher()
        remove_tree(str(self._directory))
