"""The program of the checker: a process that checks submissions until it is ended.

It ends with the process that started it, also if that was killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import sys
import time

from arena.errors import DatabaseError, UsageError
from arena.home import ArenaHome, open_people, uploads_path
from arena.submissions.checker import Checker
from arena.submissions.upload_directory import CHECKING, UploadDirectory
from arena.uploads.containment import can_contain_uploads

PAUSE_SECONDS = 0.5
AWAY_SECONDS = 5.0
UNCONTAINED_SECONDS = 600.0
NICENESS = 5
"""A tournament that is being played comes first."""

_PR_SET_PDEATHSIG = 1

_log = logging.getLogger("arena.checker")


def main(arguments: list[str]) -> int:
    """Check submissions until SIGTERM.

    Args:
        arguments: the process that started this one, the home, and the URL of its store or "".
    """
    parent, directory, store = arguments
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger().handlers[0].setLevel(logging.WARNING)  # the log of a run has more, in its own file
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != int(parent):
        return 0
    os.nice(NICENESS)
    with contextlib.suppress(KeyboardInterrupt):
        while not (containment := can_contain_uploads()).is_enough:
            _log.error("nothing is checked: %s", containment.reason)
            time.sleep(UNCONTAINED_SECONDS)
        _run(directory, store or None)
    return 0


def _run(directory: str, store: str | None) -> None:
    while True:
        try:
            with ArenaHome(directory, store=store) as home, open_people(directory) as people:
                uploads = UploadDirectory(uploads_path(directory))
                uploads.remove_unfinished(CHECKING)
                checker = Checker(home, people, uploads)
                while True:
                    if not checker.check_next():
                        time.sleep(PAUSE_SECONDS)
        except (DatabaseError, UsageError):
            _log.exception("nothing can be checked now")
            time.sleep(AWAY_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
