"""What a worker reports of watched matches, and how much that may weigh."""

from __future__ import annotations

import contextlib
import logging
import pickle
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

from arena.base.live_match import LiveMatch
from arena.match.bot_pool import BotPool

# A bound to what the state of a watched match weighs, wherever it goes from here.

MAX_LIVE_BYTES = 2_000_000
"""Of all actions; 10,000 actions of a game with a board weigh a tenth of that."""


class LiveWeight:
    """Knows what the actions of one match at a time weigh, and looks at each only once."""

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


# The states of watched matches, sent by a worker beside its results.
#
# A thread sends them, so that a match costs the same whether or not it could be watched, and so that a position is seen
# while a bot thinks. While nothing is watched, the thread waits at a pipe.

LIVE_SECONDS = 0.25
"""Between two states of a match, at least."""

TIMES_THE_WORK = 50
"""The wait between two states is at least this many times as long as it took to send one."""

log = logging.getLogger("arena.worker")


class WindDown:
    """The message to a worker that no match is to begin any more."""


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
                        if isinstance(message, WindDown):
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
