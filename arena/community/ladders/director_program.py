"""The director of a ladder: plays while there is something to learn, then waits for somebody new.

It ends with the process that started it, also if that was killed.
"""

from __future__ import annotations

import contextlib
import logging
import sys

from arena.base.errors import UsageError
from arena.base.programs.service_program import Idleness, TroubleNote, end_now, keep_trying, run_service
from arena.community.ladders.open_ladder import OpenLadder
from arena.community.ladders.supervised_ladder import LOOK_SECONDS, SupervisedLadder
from arena.store.home import ArenaHome, open_people
from arena.store.people.directing import LADDER, DirectorState
from arena.store.results.commit_signal import Commits
from arena.tournament.directors.supervised_run import Shutdown, SupervisedRun

NICENESS = 2
"""The site comes first."""

_log = logging.getLogger("arena.ladder")


def main(arguments: list[str]) -> int:
    """Keep a ladder going until SIGTERM; the arguments are the parent process, the home, and the ladder's file."""
    parent, directory, path = arguments
    note = TroubleNote(directory, "ladder", path)

    shutdown = Shutdown()

    def direct() -> None:
        shutdown.on_sigterm()
        keep_trying(
            lambda: _supervise(directory, path, shutdown, note),
            _log,
            f"{path} can't be played now",
            note,
            is_over=lambda: shutdown.is_asked,
            sleep=shutdown.sleep,
        )

    code = run_service(int(parent), NICENESS, direct)
    return 0 if shutdown.is_asked else code


def _supervise(directory: str, path: str, shutdown: Shutdown, note: TroubleNote) -> None:
    with (
        ArenaHome(directory) as home,
        open_people(directory) as people,
        contextlib.closing(Commits([home.store.commit_signal(), people.commit_signal()], LOOK_SECONDS)) as commits,
    ):
        ladder = OpenLadder(path, home)
        supervised = SupervisedRun(ladder.name, LADDER, home, people, shutdown)
        try:
            SupervisedLadder(ladder, supervised, home, note.clear).supervise(shutdown, commits, Idleness())
        except UsageError as error:
            supervised.say(DirectorState.UNABLE, f"{error}")
            raise


if __name__ == "__main__":
    end_now(main(sys.argv[1:]))
