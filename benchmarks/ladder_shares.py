"""What a slow bot costs the others on a supervised ladder: python -m benchmarks.ladder_shares

The matches are simulated, on a clock of their own: each takes as long as its bots say, and the better bot wins more
often. Everything else is the real thing: director, ladder, ratings, store, and who sits out.
"""

from __future__ import annotations

import argparse
import heapq
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

from arena.base.definition import Definition, GameChoice
from arena.base.records import Bot, MatchRecord, MatchSpec, SeatReport
from arena.games import make_game
from arena.match.players.player import ScriptedPlayer
from arena.match.referee import Referee
from arena.ratings import rate_results
from arena.store.results.rows import row_of
from arena.store.results.store import Store
from arena.tournament.director import run_tournament
from arena.tournament.executors.executor import Executor, JobResult, Played, Playing, WorkQueue
from arena.tournament.fair_scheduling import FairScheduling
from arena.tournament.run import Order, RunControl

QUICK_SECONDS = 1.0
"""That a quick bot thinks in a match."""


class Clock:
    """Stands still until a match ends."""

    seconds = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.seconds


class SimulatedExecutor(Executor):
    """Plays matches on a clock."""

    def __init__(self, clock: Clock, seconds: Mapping[str, float], workers: int, rng_seed: int = 0) -> None:
        """Prepare.

        Args:
            clock: is set to the end of each match.
            seconds: that each bot thinks in a match, by ``name@version``.
            workers: matches at a time.
            rng_seed: of the results.
        """
        self._clock, self._seconds, self._workers = clock, seconds, workers
        self._random = random.Random(rng_seed)
        self._strength = {label: 0.4 * k for k, label in enumerate(seconds)}
        self._running: list[tuple[float, int, MatchSpec]] = []

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, queue: WorkQueue) -> Iterator[list[JobResult]]:
        """Play matches, one for each list."""
        while True:
            while len(self._running) < self._workers and (spec := queue.take()) is not None:
                ends_at = self._clock.seconds + sum(self._seconds[bot.label] for bot in spec.bots)
                heapq.heappush(self._running, (ends_at, spec.match, spec))
            if not self._running:
                return
            self._clock.seconds, _, spec = heapq.heappop(self._running)
            yield [self._result(spec)]

    def _result(self, spec: MatchSpec) -> JobResult:
        labels = [bot.label for bot in spec.bots]
        first, second = (self._strength[label] for label in labels)
        wins = self._random.random() < 1 / (1 + exp(second - first))
        return Played(row_of(_record(spec, (1, 2) if wins else (2, 1), [self._seconds[label] for label in labels])))

    def playing(self) -> list[Playing]:
        """Return the matches that are being played."""
        return [Playing(match, 0.0) for _, match, _ in self._running]


def _record(spec: MatchSpec, ranks: tuple[int, int], seconds: Sequence[float]) -> MatchRecord:
    seats = tuple(SeatReport(wall_seconds=one) for one in seconds)
    bots = tuple(bot.label for bot in spec.bots)
    return replace(
        _template(),
        match=spec.match,
        encounter=spec.encounter,
        bots=bots,
        ranks=ranks,
        seats=seats,
        rng_seed=spec.rng_seed,
    )


@cache
def _template() -> MatchRecord:
    players = [ScriptedPlayer(lambda request: request.legal[0]) for _ in range(2)]
    bots = tuple(bot_of(f"template{k}") for k in range(2))
    options = make_game("differences", size=4).options
    spec = MatchSpec(match=1, tournament="t", game="differences", options=options, bots=bots, rng_seed=0)
    return Referee(spec, players).play()


def bot_of(name: str) -> Bot:
    """Return a bot that nobody starts."""
    return Bot(name=name, version="1", directory="/nowhere", command=("true",), digest=name)


def ladder_of(names: Sequence[str], **settings: Any) -> Definition:
    """Return a ladder of simulated bots."""
    game = GameChoice(game="differences", options=make_game("differences", size=4).options, players=2)
    entrants = tuple(map(bot_of, names))
    return Definition(name="t", games=(game,), entrants=entrants, format="ladder", settings=settings)


class UntilThen(RunControl):
    """Stops a run at a time."""

    def __init__(self, clock: Clock, end_seconds: float, scheduling: FairScheduling | None) -> None:
        self._clock, self._end_seconds, self.scheduling = clock, end_seconds, scheduling

    def order(self) -> Order:
        """Stop when it is over."""
        return Order.STOP if self._clock.seconds >= self._end_seconds else Order.PLAY


class Outcome(NamedTuple):
    """What came of some hours.

    Attributes:
        matches: of the quick bots among themselves.
        precision: of the quick bots: the sum of 1 / sigma².
        slow_matches: of the slow one.
        slow_share: of the workers' time, in matches with the slow bot.
    """

    matches: int
    precision: float
    slow_matches: int
    slow_share: float


def simulated(bots: int, slowness: float, workers: int, hours: float, has_scheduling: bool, rng_seed: int) -> Outcome:
    """Simulate a ladder.

    Args:
        bots: how many quick ones.
        slowness: how many times as long the slow one thinks; 0 for a ladder without it.
        workers: matches at a time.
        hours: on the clock.
        has_scheduling: whether slow bots sit out rounds.
        rng_seed: of results and pairings.
    """
    names = [f"quick{k}" for k in range(bots)] + ["slow"] * (slowness > 0)
    seconds = {f"{name}@1": QUICK_SECONDS * (slowness if name == "slow" else 1.0) for name in names}
    clock = Clock()
    control = UntilThen(clock, 3600 * hours, FairScheduling(clock) if has_scheduling else None)
    with tempfile.TemporaryDirectory() as directory:
        store = Store(Path(directory) / "arena.sqlite3")
        definition = replace(ladder_of(names), rng_seed=rng_seed)
        executor = SimulatedExecutor(clock, seconds, workers, rng_seed)
        run_tournament(definition, store, executor=executor, control=control)
        results = [(record.bots, record.ranks) for record in store.records("t")]
        store.close()
    ratings = rate_results(results)
    played = Counter("slow@1" in record_bots for record_bots, _ in results)
    spent = {
        slow: sum(sum(seconds[bot] for bot in names) for names, _ in results if ("slow@1" in names) == slow)
        for slow in (False, True)
    }
    return Outcome(
        matches=played[False],
        precision=sum(1 / rating.sigma**2 for bot, rating in ratings.items() if bot != "slow@1"),
        slow_matches=played[True],
        slow_share=spent[True] / (clock.seconds * workers),
    )


def main() -> None:
    """Print what a slow bot costs, with and without turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bots", type=int, default=11, help="quick ones (11)")
    parser.add_argument("--slowness", type=float, default=50.0, help="of the slow one (50)")
    parser.add_argument("--hours", type=float, default=1.0, help="on the simulated clock (1)")
    arguments = parser.parse_args()
    fair = 1 / (arguments.bots + 1)
    print(
        f"{arguments.bots} quick bots and one that thinks {arguments.slowness:g} times as long: its share is {fair:.1%}"
    )
    for workers in (1, 2, 4):
        alone, plain, scheduling = (
            simulated(arguments.bots, slowness, workers, arguments.hours, has_scheduling, 1)
            for slowness, has_scheduling in ((0, False), (arguments.slowness, False), (arguments.slowness, True))
        )
        for name, one in (("results alone", plain), ("shares of time", scheduling)):
            print(
                f"{workers} workers, {name:14}: others' matches {one.matches / alone.matches:6.1%}, precision"
                f" {one.precision / alone.precision:6.1%} of those without it; slow bot: {one.slow_matches} matches,"
                f" {one.slow_share:.1%} of the time"
            )


if __name__ == "__main__":
    main()
