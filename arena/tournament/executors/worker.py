"""A worker process: plays the matches that arrive through its pipe, and reports those that somebody watches."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from multiprocessing.connection import Connection
from typing import Any

from arena.base.errors import ArenaError, GameError
from arena.base.live_match import LiveMatch
from arena.base.machine import run_on
from arena.base.programs.service_program import end_now, ignore_ctrl_c
from arena.base.records import Limits, MatchSpec
from arena.match.bot_pool import BotPool
from arena.match.players.off_turn import WATCH_SECONDS
from arena.sandbox.isolation.launcher import close_launcher, open_launcher
from arena.sandbox.isolation.sandbox_policy import Isolation
from arena.store.results.rows import row_of
from arena.tournament.executors.executor import JobResult, Played, Void, void_after

# A limit on the size of a watched match's state, for everything that receives it.

MAX_LIVE_BYTES = 2_000_000
"""The largest size of all actions together; 10,000 actions of a board game take a tenth of that."""


class LiveWeight:
    """Measures the size of the actions of one match at a time, each action once."""

    def __init__(self) -> None:
        self._match: tuple[int, str] | None = None
        self._bytes = self._plies = 0

    def bounded(self, live: LiveMatch) -> LiveMatch:
        """Return a state, without its actions if they are too large."""
        match = live.match, live.started_at
        if match != self._match:
            self._match, self._bytes, self._plies = match, 0, 0
        for action in live.actions[self._plies :]:
            if self._bytes > MAX_LIVE_BYTES:
                break
            self._bytes += len(pickle.dumps(action))
            self._plies += 1
        return live.without_actions() if self._bytes > MAX_LIVE_BYTES else live


# The states of watched matches, which a worker sends in addition to its results.
#
# A thread sends them, so that a match costs the same whether or not it could be watched, and so that a position is seen
# while a bot thinks. While nothing is watched, the thread waits at a pipe.

LIVE_SECONDS = 0.25
"""The shortest interval between two states of a match."""

TIMES_THE_WORK = 50
"""The wait between two states is at least this many times as long as it took to send one."""

log = logging.getLogger("arena.worker")


class Notice(Enum):
    """A message between a worker and the director that is no match, result or state."""

    READY = auto()
    """From a worker: it is ready for its first match."""
    NOT_BEGUN = auto()
    """From a worker: it does not play the match that it was given, as no match is to begin any more."""
    WIND_DOWN = auto()
    """To a worker: no match is to begin any more."""


class LiveReports:
    """Sends what a worker reports, from its main thread and about watched matches."""

    def __init__(self, pool: BotPool, pipe: Connection[Any, Any], watched: Connection[Any, Any]) -> None:
        """Prepare to send; ``watched`` brings the numbers of watched matches, or that no match is to begin any more."""
        self.is_winding_down = False
        self._pool = pool
        self._pipe = pipe
        self._watched = watched
        self._sending = threading.Lock()
        self._last: tuple[object, ...] = ()
        self._weight = LiveWeight()

    def start(self) -> None:
        """Start the thread, which ends with the process."""
        threading.Thread(target=self._run, name="live-reports", daemon=True).start()

    def send(self, message: object) -> None:
        """Send a message of the main thread."""
        with self._sending:
            self._pipe.send(message)

    def _run(self) -> None:
        matches: frozenset[int] = frozenset()
        try:
            with contextlib.suppress(EOFError, OSError):  # the director has ended
                while True:
                    while not matches or self._watched.poll():
                        message = self._watched.recv()
                        if message is Notice.WIND_DOWN:
                            self.is_winding_down = True
                        else:
                            matches = message
                    began = time.perf_counter()
                    self._report(matches)
                    time.sleep(max(LIVE_SECONDS, TIMES_THE_WORK * (time.perf_counter() - began)))
        except Exception:  # whoever watches sees less, and the match is played on
            log.exception("the states of watched matches are no longer sent")

    def _report(self, matches: frozenset[int]) -> None:
        referee = self._pool.referee
        if referee is None or referee.match not in matches:
            return
        live = referee.live()
        state = (live.match, live.started_at, len(live.actions), live.seat, len(live.faults))
        if state == self._last:
            return
        live = self._weight.bounded(live)
        with self._sending:
            if self._pool.referee is referee:  # else its result may have been sent
                self._pipe.send(live)
                self._last = state


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The settings of a worker process; ``shares_cores``: another arena on this machine plays on the same cores."""

    isolation: Isolation
    limits: Limits
    fresh_bots: bool
    cores: frozenset[int] | None = None
    shares_cores: bool = False


def run_worker(
    pipe: Connection[Any, Any], watched: Connection[Any, Any], settings: WorkerSettings, log_queue: Any
) -> None:
    """Play the matches that arrive through the pipe until it is closed. The target of a worker process."""
    ignore_ctrl_c()  # the director handles it
    with contextlib.suppress(KeyboardInterrupt):
        try:
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # KeyboardInterrupt, for which no game is blamed
            _die_with_director()
            _log_through(log_queue)
            if settings.cores is not None:
                with contextlib.suppress(OSError):
                    run_on(settings.cores)
            open_launcher(launches_only_bots=True)
            _play_what_arrives(pipe, watched, settings)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is ending anyway, and nothing is left to interrupt
    close_launcher()
    log.info("worker %d ends", os.getpid())
    end_now(0)


def _play_what_arrives(pipe: Connection[Any, Any], watched: Connection[Any, Any], settings: WorkerSettings) -> None:
    with BotPool(settings.isolation, settings.limits, settings.fresh_bots, settings.shares_cores) as pool:
        reports = LiveReports(pool, pipe, watched)
        reports.start()
        with contextlib.suppress(ConnectionError):  # the director may have ended in the meantime
            reports.send(Notice.READY)
        log.info("worker %d is ready", os.getpid())
        while True:
            try:
                specs = _next_specs(pipe, pool)
            except (EOFError, ConnectionError):
                break
            for spec in specs:
                reports.send(Notice.NOT_BEGUN if reports.is_winding_down else play_spec(pool, spec))


def _next_specs(pipe: Connection[Any, Any], pool: BotPool) -> list[MatchSpec]:
    """Wait for matches; meanwhile bots are frozen, and watched if it takes a while."""
    if not pipe.poll():
        pool.freeze_kept()
        if not pipe.poll(WATCH_SECONDS):
            with pool.watched():
                return list(pipe.recv())
    return list(pipe.recv())


def play_spec(pool: BotPool, spec: MatchSpec, before_asking: Callable[[], None] | None = None) -> JobResult:
    """Play a match; any failure of our own makes it void, and so does a mistake of the game."""
    try:
        record = pool.play(spec, before_asking=before_asking)
    except GameError as error:
        log.warning("match %d has no result: %s", spec.match, error)
        return Void(spec, str(error), error)
    except (ArenaError, OSError, MemoryError) as error:
        log.warning("match %d is void: %s", spec.match, error)
        return void_after(spec, error, f"{type(error).__name__}: {error}")
    except Exception as error:  # a defect of ours must neither end the tournament nor count as a bot's fault
        log.exception("match %d is void", spec.match)
        return Void(spec, f"defect in the arena: {type(error).__name__}: {error}")
    for fault in record.faults:
        log.info("match %d: %s: %s: %s", spec.match, record.bots[fault.seat], fault.kind, fault.detail.for_operator())
    return Played(row_of(record))


def _die_with_director() -> None:
    """End this process when the director ends, even by kill -9; the fork server then ends the bots."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, name="watch-director", daemon=True).start()


def _log_through(log_queue: Any) -> None:
    if log_queue is None:
        return
    root = logging.getLogger("arena")
    root.handlers = [logging.handlers.QueueHandler(log_queue)]
    root.setLevel(logging.INFO)
    root.propagate = False
