"""The program of the play host: it lets people play against bots in the browser, until it is ended.

It has one core for itself and its bots where workers of tournaments have others: ``executors/cores.py`` gives them the
first ones. Where they share one, it stands back.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time

from arena.base.programs.service_program import Idleness, TroubleNote, end_now, keep_trying, run_service
from arena.community.play.host import Host, MenuMaker
from arena.community.uploads.containment import can_contain_uploads
from arena.store.home import ArenaHome, open_people
from arena.store.results.commit_signal import Commits
from arena.tournament.executors.worker_start import available_cores

PAUSE_SECONDS = 0.05
UNUSED_PAUSE_SECONDS = 0.5
"""While nobody plays; a process for a match takes longer to start."""
LOOK_SECONDS = 5.0
"""From one look at who waits to the next, if nothing is committed."""
NICENESS = 10
"""Matches of tournaments come first."""
CORES_PER_PLAY_CORE = 4

_log = logging.getLogger("arena.community.play")


def main(arguments: list[str]) -> int:
    """Let people play until SIGTERM; the arguments are the parent process, the home, and the number of slots."""
    parent, directory, slots = arguments
    note = TroubleNote(directory, "play")

    def let_play() -> None:
        _keep_to_own_cores()
        keep_trying(lambda: _run(directory, int(slots), note), _log, "nobody can play now", note)

    return run_service(int(parent), NICENESS, let_play)


def _keep_to_own_cores() -> None:
    """Leave the first cores to workers of tournaments."""
    cores = available_cores()
    own = max(1, len(cores) // CORES_PER_PLAY_CORE)
    if len(cores) > 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores[-own:])


def _run(directory: str, slots: int, note: TroubleNote) -> None:
    containment = can_contain_uploads()
    uncontained = "" if containment.is_enough else f"only example bots can be played against: {containment.reason}"
    if uncontained:
        _log.error("%s", uncontained)
    isolation = "auto" if containment.isolation is None else containment.isolation.label
    with (
        open_people(directory) as people,
        ArenaHome(directory) as home,
        contextlib.closing(MenuMaker(home, slots, containment.is_enough)) as menu,
        contextlib.closing(Commits([people.commit_signal()], LOOK_SECONDS)) as commits,
        contextlib.closing(Host(people.unrated_matches, commits, menu, slots, (directory, isolation))) as host,
    ):
        people.unrated_matches.release_left()  # by a play host that was killed: there is one at a time
        idleness = Idleness()
        while not idleness.is_over(host.is_used):
            host.step()
            note.say(uncontained) if uncontained else note.clear()
            time.sleep(PAUSE_SECONDS if host.is_used else UNUSED_PAUSE_SECONDS)


if __name__ == "__main__":
    end_now(main(sys.argv[1:]))
