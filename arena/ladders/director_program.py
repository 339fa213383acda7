"""The program of a director that keeps a ladder going: it plays while there is something to learn, and then waits for
somebody new. It ends with the process that started it, also if that was killed.
"""

from __future__ import annotations

import logging
import sys
import time

from arena.errors import UsageError
from arena.executors.cores import available_cores
from arena.home import ArenaHome
from arena.ladders.open_ladder import OpenLadder
from arena.service_program import service_program
from arena.tournament.director import run_tournament

PAUSE_SECONDS = 1.0
AWAY_SECONDS = 5.0
NICENESS = 2
"""The site comes first."""

_log = logging.getLogger("arena.ladder")


def main(arguments: list[str]) -> int:
    """Keep a ladder going until SIGTERM.

    Args:
        arguments: the process that started this one, 0 if it runs alone; the home, the URL of its store
            or "", and the ladder's file.
    """
    parent, directory, store, path = arguments
    with service_program(int(parent), NICENESS):
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
