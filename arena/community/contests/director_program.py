"""The program that plays contests: a process for each that has something to play.

Each process holds the locks of its tournaments while it plays; killed at any moment, it continues when started again.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import sys
import time
from multiprocessing.context import SpawnProcess

from arena.base.programs.service_program import (
    STEADY_SECONDS,
    Idleness,
    TroubleNote,
    end_now,
    keep_trying,
    run_service,
    starting_process,
)
from arena.community.contests.contest_homes import remove_hidden_home_of
from arena.community.contests.contest_places import has_work
from arena.community.contests.played_contest import PlayedContest
from arena.store.home import ArenaHome, open_people
from arena.store.people.contest import ContestPhase, phase_of
from arena.tournament.directors.supervised_run import Shutdown

PAUSE_SECONDS = 1.0
SHUTDOWN_SECONDS = 4.0
AGAIN_SECONDS = 5.0
"""Before the process of a contest that has ended is started again."""
NICENESS = 2
"""The site comes first."""

_log = logging.getLogger("arena.contest")


def main(arguments: list[str]) -> int:
    """Play contests until SIGTERM; the arguments are the process that started this one, and the home."""
    parent, directory = arguments
    note = TroubleNote(directory, "contests")

    def direct() -> None:
        processes = _Processes(directory)
        try:
            keep_trying(lambda: _supervise(directory, processes, note), _log, "contests can't be played now", note)
        finally:
            processes.close()

    return run_service(int(parent), NICENESS, direct)


def _supervise(directory: str, processes: _Processes, note: TroubleNote) -> None:
    _remove_what_is_left(directory)
    with open_people(directory) as people:
        idleness, is_busy = Idleness(), True
        while not idleness.is_over(is_busy):
            names = [stored.name for stored in people.contests.all() if has_work(stored, people)]
            for name in names:
                processes.start(name)
            is_busy = bool(names) or processes.are_running
            note.clear()
            time.sleep(PAUSE_SECONDS)


def _remove_what_is_left(directory: str) -> None:
    """Remove embargoed homes of revealed contests, where the program was killed before it could."""
    with ArenaHome(directory) as home, open_people(directory) as people:
        for stored in people.contests.all():
            if phase_of(stored, people.contests.now()) is ContestPhase.FINISHED:
                remove_hidden_home_of(home, stored.contest)


class _Processes:
    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._running: dict[str, SpawnProcess] = {}
        self._not_before: dict[str, float] = {}
        self._notes: dict[str, TroubleNote] = {}

    @property
    def are_running(self) -> bool:
        return any(process.is_alive() for process in self._running.values())

    def start(self, name: str) -> None:
        """Start the process of a contest, unless it runs, or has ended just now."""
        process = self._running.get(name)
        note = self._notes.setdefault(name, TroubleNote(self._directory, "contests", name))
        if process is not None:
            if process.is_alive():
                if time.monotonic() > self._not_before.get(name, 0.0) + STEADY_SECONDS:
                    note.clear()
                return
            if process.exitcode:
                sentence = f"the process of contest {name} has ended ({process.exitcode}); it is started again"
                _log.error("%s", sentence)
                note.say(sentence)
                self._not_before[name] = time.monotonic() + AGAIN_SECONDS
            else:
                note.clear()
            process.close()
            del self._running[name]
        if time.monotonic() >= self._not_before.get(name, 0.0):
            process = multiprocessing.get_context("spawn").Process(
                target=_play, args=(os.getpid(), self._directory, name)
            )
            with starting_process():
                process.start()
                self._running[name] = process

    def close(self) -> None:
        for process in self._running.values():
            process.terminate()
        deadline = time.monotonic() + SHUTDOWN_SECONDS
        for process in self._running.values():
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()


def _play(parent: int, directory: str, name: str) -> None:
    """Play a contest until there is nothing to do for now. Runs in a process of its own."""
    run_service(parent, 0, lambda: _play_here(directory, name))
    end_now(0)


def _play_here(directory: str, name: str) -> None:
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
