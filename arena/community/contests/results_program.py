"""Makes the signed results of contests, once all results are public, and again after a correction."""

from __future__ import annotations

import contextlib
import logging
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from arena.base.errors import ArenaError, DatabaseError, UsageError, failing_as
from arena.base.folder import check_unlinked
from arena.base.programs.service_program import Idleness, ProblemNote, end_now, keep_trying, run_service
from arena.base.version import __version__
from arena.community.contests.contest_places import result_path, state_of
from arena.community.contests.visibility import are_results_public
from arena.site.publish.publishing import publish
from arena.site.publish.signature import signing_key
from arena.store.home import ArenaHome, open_people
from arena.store.people.people_store import PeopleStore
from arena.store.results.values import StoredTournament

MATCH_PAGES = 200
"""Of each tournament; the records are complete."""

_FIRST_DAY = (1980, 1, 1, 0, 0, 0)


def version_of(path: Path) -> str:
    """Return the version of the result in a file; "" without one."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.comment.decode("utf-8", "replace")
    except (OSError, zipfile.BadZipFile):
        return ""


def current_version(tournaments: Sequence[StoredTournament]) -> str:
    """Return the version of a result of these tournaments as they are now."""
    return "; ".join((f"arena {__version__}", "without what bots wrote", *map(state_of, tournaments)))


def make_result(home: ArenaHome, contest: str, tournaments: Sequence[StoredTournament]) -> Path:
    """Write the result of a contest, all at once; raise UsageError if it can't be written."""
    path = result_path(home.directory, contest)
    with failing_as(UsageError, f"{path}: can't be written"):
        check_unlinked(home.directory, path.parent)
        path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="arena-result-") as directory:
        folder, packed = Path(directory, "folder"), path.with_suffix(".new")
        names = [tournament.name for tournament in tournaments]
        publish(home, names, folder, max_matches=MATCH_PAGES, key=signing_key(home.directory))
        with contextlib.suppress(FileNotFoundError):
            packed.unlink()
        _pack(folder, packed, path.stem, current_version(tournaments))
        packed.replace(path)
    return path


def _pack(folder: Path, path: Path, contest: str, version: str) -> None:
    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = version.encode()
        for file in sorted(path_in_folder for path_in_folder in folder.rglob("*") if path_in_folder.is_file()):
            entry = zipfile.ZipInfo(f"{contest}/{file.relative_to(folder).as_posix()}", _FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with file.open("rb") as source, archive.open(entry, "w") as target:
                while piece := source.read(1 << 20):
                    target.write(piece)


# No request of a visitor makes a result: that takes long, and anybody may ask.

PAUSE_SECONDS = 2.0
AGAIN_SECONDS = 60.0
"""Pause before trying again to make a result that failed, unless more is recorded sooner."""
NICENESS = 10
"""Matches and pages come first."""

_log = logging.getLogger("arena.contest")


def main(arguments: list[str]) -> int:
    """Make results until SIGTERM; the arguments are the process that started this one, and the home."""
    parent, directory = arguments
    note, complaint = ProblemNote(directory, "results"), "the results of contests can't be signed and packed now"
    work = partial(_run, directory, ResultMaker(), note)
    return run_service(int(parent), NICENESS, partial(keep_trying, work, _log, complaint, note))


def _run(directory: str, maker: ResultMaker, note: ProblemNote) -> None:
    with ArenaHome(directory) as home, open_people(directory) as people:
        idleness = Idleness()
        while not idleness.is_over(maker.has_failed):
            maker.make_results(home, people)
            note.clear()
            time.sleep(PAUSE_SECONDS)


@dataclass(frozen=True, slots=True)
class _Failure:
    """A result that could not be made; ``again_at`` is monotonic."""

    version: str
    sentence: str
    again_at: float


class ResultMaker:
    """Makes results, and remembers those that can't be made, so that it logs each failure once."""

    def __init__(self, seconds: Callable[[], float] = lambda: time.monotonic()) -> None:
        self._seconds = seconds
        self._failures: dict[str, _Failure] = {}

    @property
    def has_failed(self) -> bool:
        """Whether it could not make a result, and will try again."""
        return bool(self._failures)

    def make_results(self, home: ArenaHome, people: PeopleStore) -> None:
        """Make the results that are missing, or older than what was recorded; one that can't be made stops no other."""
        for stored in people.contests.all():
            if are_results_public(stored, people.contests.now()):
                found = [home.store.find_tournament(name) for name in stored.contest.tournaments]
                finished = [tournament for tournament in found if tournament is not None and tournament.finished_at]
                if len(finished) == len(found):
                    self._make_result(home, stored.name, finished)

    def _make_result(self, home: ArenaHome, contest: str, tournaments: list[StoredTournament]) -> None:
        version, failure = current_version(tournaments), self._failures.get(contest)
        if version_of(result_path(home.directory, contest)) == version:
            return
        if failure is not None and failure.version == version and self._seconds() < failure.again_at:
            return
        note = ProblemNote(home.directory, "results", contest)
        try:
            make_result(home, contest, tournaments)
        except DatabaseError:
            raise
        except Exception as error:  # whatever is in its records, the other contests get their results
            if failure is None or (failure.version, failure.sentence) != (version, str(error)):
                is_ours = not isinstance(error, (ArenaError, OSError))
                _log.error("the result of contest %s can't be made: %s", contest, error, exc_info=is_ours)
            note.report(f"the result of contest {contest} can't be made: {error}")
            self._failures[contest] = _Failure(version, str(error), self._seconds() + AGAIN_SECONDS)
        else:
            self._failures.pop(contest, None)
            note.clear()


if __name__ == "__main__":
    end_now(main(sys.argv[1:]))
