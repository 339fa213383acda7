"""The program of a director that keeps a ladder going: it plays while there is something to learn, and then waits for
somebody new. It ends with the process that started it, also if that was killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import sys
import time

from arena.errors import UsageError
from arena.executors.cores import available_cores
from arena.home import ArenaHome
from arena.ladders.open_ladder import OpenLadder
from arena.tournament.director import run_tournament

PAUSE_SECONDS = 1.0
AWAY_SECONDS = 5.0
NICENESS = 2
"""The site comes first."""

_PR_SET_PDEATHSIG = 1

_log = logging.getLogger("arena.ladder")


def main(arguments: list[str]) -> int:
    """Keep a ladder going until SIGTERM.

    Args:
        arguments: the process that started this one, the home, the URL of its store or "", and the ladder's file.
    """
    parent, directory, store, path = arguments
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
        said = ""
        while True:
            try:
                with ArenaHome(directory, store=store or None) as home:
                    _keep_going(OpenLadder(path, home), home)
            except UsageError as error:
                if str(error) != said:  # else once every few seconds
                    said = str(error)
                    _log.error("%s can't be played now: %s", path, error)
                time.sleep(AWAY_SECONDS)
    return 0


def _keep_going(ladder: OpenLadder, home: ArenaHome) -> None:
    while True:
        definition = ladder.definition()
        if len(definition.entrants) >= ladder.players:
            progress = run_tournament(
                definition,
                home.store,
                workers=definition.workers or max(1, len(available_cores()) - 1),
                log_path=home.log_path(definition.name),
                refresh=ladder.refresh,
            )
            if not progress.is_complete:  # some matches were void again and again
                time.sleep(AWAY_SECONDS)
                continue
        while ladder.refresh() is None:
            time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
