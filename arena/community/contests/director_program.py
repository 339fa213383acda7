"""The program that plays contests: a process for each that has something to play.

Each process holds the locks of its tournaments while it plays; killed at any moment, it continues when started again.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterable

from arena.base.programs.service_program import (
    STEADY_SECONDS,
    Idleness,
    ProblemNote,
    Programs,
    end_now,
    keep_trying,
    run_service,
)
from arena.community.contests.contest_places import has_work
from arena.community.contests.played_contest import PlayedContest
from arena.community.contests.stages import remove_embargoed_home
from arena.store.home import ArenaHome, open_people
from arena.store.people.contest import ContestPhase, phase_of
from arena.tournament.directors.supervised_run import Shutdown

PAUSE_SECONDS = 1.0
SHUTDOWN_SECONDS = 4.0
AGAIN_SECONDS = 5.0
"""Pause before restarting the process of a contest that has failed."""
NICENESS = 2
"""The site comes first."""

_log = logging.getLogger("arena.contest")


def main(arguments: list[str]) -> int:
    """Play contests until SIGTERM; the arguments are the process that started this one, and the home."""
    parent, directory = arguments
    note = ProblemNote(directory, "contests")

    def direct() -> None:
        processes = _Processes(directory)
        try:
            keep_trying(lambda: _supervise(directory, processes, note), _log, "contests can't be played now", note)
        finally:
            processes.close()

    return run_service(int(parent), NICENESS, direct)


def _supervise(directory: str, processes: _Processes, note: ProblemNote) -> None:
    _remove_revealed_homes(directory)
    with open_people(directory) as people:
        idleness, is_busy = Idleness(), True
        while not idleness.is_over(is_busy):
            names = [stored.name for stored in people.contests.all() if has_work(stored, people)]
            is_busy = processes.keep_running(names) or bool(names)
            note.clear()
            time.sleep(PAUSE_SECONDS)


def _remove_revealed_homes(directory: str) -> None:
    """Remove embargoed homes of revealed contests that a killed program has left."""
    with ArenaHome(directory) as home, open_people(directory) as people:
        for stored in people.contests.all():
            if phase_of(stored, people.contests.now()) is ContestPhase.FINISHED:
                remove_embargoed_home(home, stored.contest)


class _Processes:
    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._programs: Programs[str] = Programs(_run_contest, SHUTDOWN_SECONDS)
        self._not_before: defaultdict[str, float] = defaultdict(float)
        self._notes: dict[str, ProblemNote] = {}

    def keep_running(self, names: Iterable[str]) -> bool:
        """Start the processes of contests that don't run and have not just failed; return whether any runs."""
        for name, code in self._programs.ended():
            note = self._note(name)
            if code:
                sentence = f"the process of contest {name} has ended ({code}); it is started again"
                _log.error("%s", sentence)
                note.report(sentence)
                self._not_before[name] = time.monotonic() + AGAIN_SECONDS
            else:
                note.clear()
        for name in names:
            if name not in self._programs.running:
                if time.monotonic() >= self._not_before[name]:
                    self._programs.start(name, os.getpid(), self._directory, name)
            elif time.monotonic() > self._not_before[name] + STEADY_SECONDS:
                self._note(name).clear()
        return bool(self._programs.running)

    def _note(self, name: str) -> ProblemNote:
        return self._notes.setdefault(name, ProblemNote(self._directory, "contests", name))

    def close(self) -> None:
        self._programs.close()


def _run_contest(parent: int, directory: str, name: str) -> None:
    """Play a contest until there is nothing to do for now. Runs in a process of its own."""
    run_service(parent, 0, lambda: _play_contest(directory, name))
    end_now(0)


def _play_contest(directory: str, name: str) -> None:
    with ArenaHome(directory) as home, open_people(directory) as people:
        shutdown = Shutdown()
        shutdown.on_sigterm()
        contest = PlayedContest(name, home, people, shutdown)
        try:
            while not shutdown.is_asked and (pause_seconds := contest.step()) is not None:
                shutdown.sleep(pause_seconds)
        finally:
            contest.close()


if __name__ == "__main__":
    end_now(main(sys.argv[1:]))
