"""The program of the checker: checks submissions until nothing waits, or the process that started it has ended."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from pathlib import Path

from arena.base.errors import StoreError
from arena.base.programs.service_program import DIRECTORY, Idleness, ProblemNote, end_now, keep_trying, run_service
from arena.community.submissions.checker import Checker
from arena.community.submissions.upload_directory import UploadDirectory, tell_owners
from arena.community.uploads.containment import can_contain_uploads, note_containment
from arena.store.home import CHECKING, ArenaHome, open_people, uploads_path
from arena.store.results.events import Commits
from arena.store.results.lock import FileLock

PAUSE_SECONDS = 0.5
LOOK_SECONDS = 5.0
"""Also without a commit: a check that was postponed is done again when its time has come."""
NICENESS = 5
"""A tournament that is being played comes first."""

_log = logging.getLogger("arena.checker")


def main(arguments: list[str]) -> int:
    """Check submissions until SIGTERM; the arguments are the process that started this one, and the home."""
    parent, directory = arguments
    note = ProblemNote(directory, "checker")

    def check() -> None:
        containment = can_contain_uploads()
        note_containment(directory, "" if containment.is_enough else containment.reason)
        if not containment.is_enough:  # the supervisor tries again later
            _log.error("nothing is checked: %s", containment.reason)
            note.report(f"nothing is checked: {containment.reason}")
            return
        keep_trying(lambda: _run(directory, note), _log, "nothing can be checked now", note)

    return run_service(int(parent), NICENESS, check)


class CheckerLock:
    """The lock of the one checker that works on a home; the system releases it when its process ends."""

    def __init__(self, directory: str) -> None:
        path = Path(directory, DIRECTORY, "checking.lock")
        self._lock = FileLock(path, f"{directory}: another checker is at work")
        self._held = contextlib.ExitStack()
        self._is_held = False

    def is_held(self) -> bool:
        """Take the lock if it is free; return whether this process has it."""
        if not self._is_held:
            with contextlib.suppress(StoreError):
                self._held.enter_context(self._lock)
                self._is_held = True
        return self._is_held

    def close(self) -> None:
        """Release the lock."""
        self._held.close()
        self._is_held = False


def _run(directory: str, note: ProblemNote) -> None:
    with (
        ArenaHome(directory) as home,
        open_people(directory) as people,
        contextlib.closing(CheckerLock(directory)) as lock,
        contextlib.closing(Commits([people.commit_signal()], LOOK_SECONDS)) as commits,
    ):
        uploads = UploadDirectory(uploads_path(directory))
        uploads.remove_unfinished(CHECKING)
        checker = Checker(home, people, uploads, lock.is_held)
        tell_owners(people, home.store)
        idleness, has_checked = Idleness(), False
        while not idleness.is_over(has_checked):
            note.clear()
            has_checked = commits.are_new() and _check_all(checker)
            if not has_checked:
                time.sleep(PAUSE_SECONDS)


def _check_all(checker: Checker) -> bool:
    """Check all waiting submissions; return whether there were any."""
    has_checked = False
    while checker.check_next():
        has_checked = True
    return has_checked


if __name__ == "__main__":
    end_now(main(sys.argv[1:]))
