"""The program that makes the signed results of contests, once everybody may see everything; again after a correction.

Nobody's request makes one: that takes long, and anybody may ask.
"""

from __future__ import annotations

import logging
import sys
import time

from arena.contests.visibility import visible
from arena.errors import DatabaseError, UsageError
from arena.home import ArenaHome, open_people
from arena.people.contest import ContestPhase, StoredContest, phase_of
from arena.service_program import service_program
from arena.site.publish.contest_results import current_version, make_result, version_of
from arena.site.publish.result_place import result_path
from arena.store.people.people_store import PeopleStore

PAUSE_SECONDS = 2.0
AWAY_SECONDS = 5.0
NICENESS = 10
"""Everything that is played and looked at comes first."""

_log = logging.getLogger("arena.results")


def main(arguments: list[str]) -> int:
    """Make results until SIGTERM.

    Args:
        arguments: the process that started this one, 0 if it runs alone; the home, and the URL of its store or "".
    """
    parent, directory, store = arguments
    with service_program(int(parent), NICENESS):
        while True:
            try:
                with ArenaHome(directory, store=store or None) as home, open_people(directory) as people:
                    while True:
                        make_results(home, people)
                        time.sleep(PAUSE_SECONDS)
            except (DatabaseError, UsageError, OSError) as error:
                _log.error("no results can be made now: %s", error)
                time.sleep(AWAY_SECONDS)
    return 0


def make_results(home: ArenaHome, people: PeopleStore) -> None:
    """Make the results that are missing, or older than what was recorded.

    Raises:
        UsageError: if one can't be made.
    """
    for stored in people.contests.all():
        if _is_over(stored, people.contests.now()):
            found = [home.store.find_tournament(name) for name in stored.contest.tournaments]
            tournaments = [one for one in found if one is not None]
            is_there = len(tournaments) == len(found) and all(one.finished_at is not None for one in tournaments)
            if is_there and version_of(result_path(home.directory, stored.name)) != current_version(tournaments):
                make_result(home, stored.name, tournaments)


def _is_over(stored: StoredContest, now: str) -> bool:
    """Return whether everything is played, and everybody may see it."""
    return phase_of(stored, now) is ContestPhase.FINISHED and visible(stored, (), now).has_all


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
