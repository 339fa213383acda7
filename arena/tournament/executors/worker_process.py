"""A worker process as the director sees it: its pipes, and the matches that it has been given."""

from __future__ import annotations

import contextlib
import select
import time
from collections import deque
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from arena.base.records import MatchSpec
from arena.tournament.executors.live_reports import WindDown

MIN_SPECS = 2
"""Matches a worker has at least: the one it plays and the next one, so that it never waits for the director."""


class WorkerProcess:
    """A worker process, and the matches it has.

    Attributes:
        process: the process.
        pipe: to it.
        is_ready: whether it has said that it is.
        given: the matches that it has been given and that it has not answered; it plays the first.
        since: when it began to play that, in seconds of ``time.time``.
        wanted: how many it should have.
    """

    def __init__(self, process: BaseProcess, pipe: Connection[Any, Any], watching: Connection[Any, Any]) -> None:
        self.process = process
        self.pipe = pipe
        self.is_ready = False
        self.given: deque[MatchSpec] = deque()
        self.since = 0.0
        self.wanted = MIN_SPECS
        self._watching = watching
        self._watched: frozenset[int] = frozenset()
        self._unsent: list[MatchSpec] = []
        self._is_winding_down = False
        self._poll = select.poll()
        self._poll.register(pipe.fileno(), select.POLLIN)

    def give(self, spec: MatchSpec) -> None:
        """Add a match; ``send`` sends it."""
        if not self.given:
            self.since = time.time()
        self.given.append(spec)
        self._unsent.append(spec)

    def send(self) -> None:
        """Send the matches to play; if the worker has died, that is noticed when its answer is awaited."""
        if self._unsent:
            with contextlib.suppress(ConnectionError):
                self.pipe.send(self._unsent)
            self._unsent = []

    def watch(self, matches: frozenset[int]) -> None:
        """Tell it which of the matches that it has been given are watched, if that has changed."""
        if not matches and not self._watched:
            return
        watched = matches.intersection(spec.match for spec in self.given)
        if watched != self._watched:
            self._watched = watched
            with contextlib.suppress(ConnectionError):
                self._watching.send(watched)

    def wind_down(self) -> None:
        """Tell it to begin no match any more, once."""
        if not self._is_winding_down:
            self._is_winding_down = True
            with contextlib.suppress(ConnectionError):
                self._watching.send(WindDown())

    def close(self) -> None:
        """Close the pipes: it ends when it has played its match."""
        self.pipe.close()
        self._watching.close()

    def receive(self) -> Iterator[Any]:
        """Yield what it has sent, at least one message.

        Raises:
            EOFError: if it has ended.
            ConnectionError: if it has ended.
        """
        yield self.pipe.recv()
        while self._poll.poll(0):
            yield self.pipe.recv()
