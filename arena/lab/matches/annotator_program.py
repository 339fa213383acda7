"""The annotator: finds what actions of recorded matches lost, and puzzles. Requested matches come first."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from arena.base.errors import ArenaError, DatabaseError, StoreError
from arena.base.programs.service_program import Idleness, ProblemNote, end_now, keep_trying, run_service
from arena.lab.matches.annotating import Annotator, NotAnnotated, TournamentAnnotator
from arena.lab.matches.annotation import SEATS, Annotated, is_analysed_here
from arena.lab.matches.puzzle import is_searched, keep_puzzles
from arena.lab.matches.puzzle_search import find_puzzles
from arena.lab.solving.limits import Limits, free_memory_bytes
from arena.sandbox.isolation.procfs import queued_seconds
from arena.store.home import ANNOTATOR_LOCK, ArenaHome
from arena.store.results.annotations import AskedMatch
from arena.store.results.events import Commits
from arena.store.results.lock import FileLock
from arena.store.results.values import StoredTournament

MATCH_SECONDS = 0.5
"""The time in one match for what no table and no proof knows; ``arena lab annotate`` searches longer."""
ASKED_SECONDS = 30.0
"""The time for all questions of a requested match; the last one may take as long again."""
PREPARE_SECONDS = 20.0
"""The time to make the table of a game."""
TOURNAMENT_SECONDS = 600.0
"""The time for one tournament in one run of the program, so that one that is never done does not hold up others."""
PUZZLE_SECONDS = 60.0
PUZZLE_QUESTION_SECONDS = 5.0
MAX_PUZZLES = 20
MAX_PUZZLE_MATCHES = 2000
MOST_MEMORY_BYTES = 512 * 2**20
SHARE_OF_LOOKS = 0.01
"""The most of a core for finding which matches of a large tournament have no annotation yet."""
CROWDED_SHARE = 0.1
"""A processor is wanted by others if this process waits for one for more than this share of its working time."""
PAUSES_PER_WORK = 9
"""The pause after work on such a machine, in times of that work: lowest priority alone still costs matches 5 %."""
MAX_PAUSE_SECONDS = 10.0

_log = logging.getLogger("arena.lab.annotator")


class Pace:
    """Lets the annotator work a tenth of the time while others want the processors, whose caches it shares.

    A requested match is searched without pauses: somebody waits for it.
    """

    def __init__(
        self,
        clock: Callable[[], float] = lambda: time.monotonic(),
        queued: Callable[[], float] = lambda: 0.0,
        pause: Callable[[float], None] = lambda seconds: time.sleep(seconds),
    ) -> None:
        """Begin to work; ``queued`` returns for how many seconds this process has waited for a processor so far."""
        self._clock, self._queued, self._pause = clock, queued, pause
        self._paused_seconds = 0.0
        self.start()

    def work_clock(self) -> float:
        """Return the time in seconds, without pauses."""
        return self._clock() - self._paused_seconds

    def rest(self) -> None:
        """Pause after some work if others want the processors."""
        worked_seconds = self._clock() - self._since
        if self._queued() - self._queued_before > CROWDED_SHARE * worked_seconds:
            seconds = min(PAUSES_PER_WORK * worked_seconds, MAX_PAUSE_SECONDS)
            self._paused_seconds += seconds
            self._pause(seconds)
        self.start()

    def start(self) -> None:
        """Begin to work, after a time in which there was nothing to do."""
        self._since, self._queued_before = self._clock(), self._queued()


@dataclass(slots=True)
class _Progress:
    """How far a tournament is annotated: its state when it was done, when to look again, and the time that is left."""

    state: object = None
    look_at: float = 0.0
    left_seconds: float = TOURNAMENT_SECONDS


class Annotations:
    """Annotates the matches of a home by the rules of the arena's own games for two, and finds puzzles in them.

    The rules of other games are not run where nobody has asked for it: ``arena lab annotate`` does so.

    Attributes:
        waits: whether a tournament that may have something to annotate has to wait until the next look.
    """

    def __init__(self, home: ArenaHome, pace: Pace | None = None) -> None:
        self._home, self._pace = home, pace or Pace()
        self._clock = self._pace.work_clock
        self._progress: dict[int, _Progress] = {}
        self.waits = False
        self._requests = home.store.analysis_requests
        self._note = ProblemNote(home.directory, "annotator")

    def step(self) -> bool:
        """Search a requested match, or annotate the latest tournament that has something new.

        Return whether there was either.
        """
        self.waits = False
        request = self._requests.claim()
        if request is not None:
            self._search(request)
            return True
        for tournament in reversed(self._home.store.tournaments()):
            progress = self._progress.setdefault(tournament.number, _Progress())
            state = (tournament.recorded, tournament.finished_at, len(tournament.corrections))
            if state == progress.state or progress.left_seconds <= 0:
                continue
            if self._clock() < progress.look_at:
                self.waits = True
                continue
            self._annotate(tournament, progress)
            progress.state = None if self._requests.waiting() else state
            return True
        return False

    def _annotate(self, tournament: StoredTournament, progress: _Progress) -> None:
        games, annotator = _own_games(tournament), self._annotator(tournament, MATCH_SECONDS)
        self._pace.start()
        with self._noting_problems(tournament):
            for game in games:
                if self._requests.waiting():
                    return
                self._annotate_game(annotator.annotate(game), progress)
            if games and tournament.finished_at is not None and not is_searched(self._home.directory, tournament):
                self._find_puzzles(tournament, games)

    def _search(self, request: AskedMatch) -> None:
        began = self._clock()
        tournament = next(
            (stored for stored in self._home.store.tournaments() if stored.number == request.tournament), None
        )
        if tournament is not None:
            annotator = self._annotator(tournament, ASKED_SECONDS, counts_all=True)
            with self._noting_problems(tournament):
                for game in _own_games(tournament):
                    for _ in annotator.annotate(game, request.match, again=True):
                        pass
        self._requests.finish(request, max(1, round(self._clock() - began)))

    def _annotator(
        self, tournament: StoredTournament, match_seconds: float, *, counts_all: bool = False
    ) -> TournamentAnnotator:
        annotator = partial(
            Annotator,
            limits=Limits(memory_bytes=min(free_memory_bytes(), MOST_MEMORY_BYTES)),
            match_seconds=match_seconds,
            prepare_seconds=PREPARE_SECONDS,
            counts_all=counts_all,
        )
        return TournamentAnnotator(self._home.store, tournament, annotator)

    @contextlib.contextmanager
    def _noting_problems(self, tournament: StoredTournament) -> Iterator[None]:
        try:
            yield
        except DatabaseError:
            raise
        except ArenaError as error:  # one malformed record keeps no other tournament from being annotated
            _log.warning("%s is not annotated to its end: %s", tournament.name, error)
            self._note.report(f"{tournament.name} is not annotated to its end: {error}")
        else:
            self._note.clear()

    def _annotate_game(self, annotations: Generator[Annotated | NotAnnotated, None, None], progress: _Progress) -> None:
        began = looked = self._clock()
        is_asked = False
        with contextlib.closing(annotations):
            for number, annotation in enumerate(annotations):
                looked = self._clock() if not number else looked
                if isinstance(annotation, NotAnnotated):
                    _log.info("match %d is not annotated: %s", annotation.match, annotation.reason)
                self._pace.rest()
                is_asked = bool(self._requests.waiting())
                if is_asked or self._clock() - began >= progress.left_seconds:
                    break
        now = self._clock()
        looked = now if looked == began else looked
        progress.left_seconds -= now - looked
        if not is_asked:
            progress.look_at = max(progress.look_at, now + (looked - began) / SHARE_OF_LOOKS)

    def _find_puzzles(self, tournament: StoredTournament, games: list[str]) -> None:
        store = self._home.store
        records = (record for game in games for record in store.records(tournament, game))
        chosen = islice((candidate for candidate in records if len(candidate.bots) == SEATS), MAX_PUZZLE_MATCHES)
        deadline = self._clock() + PUZZLE_SECONDS
        memory_bytes = min(free_memory_bytes(), MOST_MEMORY_BYTES)
        limits = Limits(deadline=deadline, memory_bytes=memory_bytes, clock=self._clock)
        found = find_puzzles(chosen, MAX_PUZZLES, limits, PUZZLE_QUESTION_SECONDS, lambda *_: self._pace.rest())
        keep_puzzles(self._home.directory, tournament, found.puzzles)
        store.annotations.announce(tournament)


def _own_games(tournament: StoredTournament) -> list[str]:
    return sorted({game.game for game in tournament.definition.games if is_analysed_here(game.game, game.players)})


# The program: it annotates what has been recorded, and ends when it has had nothing to do for a while.

PAUSE_SECONDS = 1.0
NICENESS = 19
"""Matches and pages come first."""


def main(arguments: list[str]) -> int:
    """Annotate until SIGTERM; the arguments are the process that started this one, and the home."""
    parent, directory = arguments
    note = ProblemNote(directory, "annotator", "away")
    work = partial(run_until_idle, directory, note)
    return run_service(int(parent), NICENESS, partial(keep_trying, work, _log, "no matches can be annotated now", note))


def run_until_idle(directory: str, note: ProblemNote) -> None:
    """Annotate until there has been nothing to do for a while; StoreError if the home is missing or away."""
    with contextlib.ExitStack() as opened:
        home = opened.enter_context(ArenaHome(directory, must_exist=True))  # never creates a home that is away
        try:
            opened.enter_context(FileLock(Path(directory, ANNOTATOR_LOCK), "another arena serve annotates"))
        except StoreError:
            return  # another annotator is at work, or the home can't be written to
        home.store.analysis_requests.forget_claimed()
        commits = opened.enter_context(contextlib.closing(Commits([home.store.commit_signal()])))
        pace = Pace(queued=lambda: queued_seconds(os.getpid()))
        annotations, idleness = Annotations(home, pace), Idleness()
        is_busy = True
        while not idleness.is_over(is_busy or annotations.waits):
            is_busy = (is_busy or commits.are_new()) and annotations.step()
            note.clear()
            if not is_busy:
                time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    end_now(main(sys.argv[1:]))
