"""From a definition to its schedule: every match with its fair seats, opening and seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import permutations
from typing import Any

from arena.base.definition import SETTLED, Definition
from arena.base.records import MatchSpec, ScheduledMatch, Seating
from arena.base.seeds import derived_seed
from arena.tournament.formats.format import FixedFormat, Format, Pairing, Round, formats_of
from arena.tournament.openings import openings_of

# Fair seats: who sits where, and who acts right after whom.
#
# An encounter is played in all seat rotations, so everybody sits in every seat equally often. Rotations keep the order
# around the board, though: with three or more players somebody would always act right after the same rival. So the
# order around the board changes from encounter to encounter.
#
# For a prime number of players m there is an exact design: in the orders 0, j, 2j, … (mod m) for j = 1 … m - 1
# everybody follows everybody else exactly once (a complete set of sequentially counterbalanced circles; E. J.
# Williams, Australian Journal of Scientific Research A 2, 1949). For other numbers, and between groups that share
# members, the planner takes the order that makes the counts so far most even.

MAX_EXAMINED = 200
"""How many orders around the board are compared; all of them for up to six players."""


class SeatPlanner:
    """Chooses the order around the board for each encounter, and remembers what it chose."""

    def __init__(self) -> None:
        self._follows: Counter[tuple[int, int]] = Counter()

    def order(self, pairing: Pairing) -> tuple[int, ...]:
        """Return the pairing in the order it sits in the first rotation."""
        if len(pairing) == 2:
            return pairing
        chosen = min(
            (tuple(pairing[k] for k in order) for order in _orders(len(pairing))),
            key=lambda seats: sum(self._follows[step] for step in steps(seats)),
        )
        self.note(chosen)
        return chosen

    def note(self, seats: tuple[int, ...]) -> None:
        """Count an encounter that was scheduled earlier."""
        if len(seats) > 2:
            self._follows.update(steps(seats))


def steps(seats: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return ``(x, y)`` for everybody: y acts right after x."""
    return [(seats[k - 1], seats[k]) for k in range(len(seats))]


def rotations(seats: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return all seat rotations: (a, b, c), (b, c, a), (c, a, b)."""
    return [seats[k:] + seats[:k] for k in range(len(seats))]


@cache
def _orders(players: int) -> list[tuple[int, ...]]:
    """Return orders around the board of seats 0 to players - 1, the exact design first where there is one."""
    design = []
    if all(players % d for d in range(2, players)):
        design = [tuple(j * k % players for k in range(players)) for j in range(1, players)]
    if players <= 6:
        return design + [(0, *rest) for rest in permutations(range(1, players)) if (0, *rest) not in design]
    shuffled = (
        tuple(sorted(range(players), key=lambda k: derived_seed("order", number, k))) for number in range(MAX_EXAMINED)
    )
    return design + [tuple(order) for order in shuffled]


# If the rounds of a format are known in advance, the whole tournament is scheduled at once, pass by pass, so that
# everybody has always played about equally often. Otherwise each round is scheduled when the last one has been played.


def schedule(definition: Definition) -> Iterator[ScheduledMatch]:
    """Yield every match that is known before the first one is played: all, or the first round.

    In each pass, every pairing of a game plays the same opening, unless the format has one for each round.

    Raises:
        DefinitionError: if there is no opening of that many plies, the openings are not chosen yet or one of them can't
            be played, or the format does not fit.
        GameError: if the rules of a game are wrong.
    """
    scheduler, formats = Scheduler(definition), formats_of(definition)
    if not formats[0].needs_results:
        yield from scheduler.passes(formats, range(definition.encounters))
    elif (upcoming := formats[0].next_round()) is not None:
        yield from scheduler.round_in_all_games(upcoming, formats[0].encounters_per_round)


class Scheduler:
    """Gives matches their numbers, seats, openings and seeds, one round after another."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._openings = [openings_of(definition, game) for game in range(len(definition.games))]
        self._planner = SeatPlanner()
        self._match = self._encounter = 0
        self._met: Counter[frozenset[int]] = Counter()
        self.round = 1

    def continue_after(self, scheduled: Iterable[ScheduledMatch | Seating]) -> None:
        """Continue a schedule, given all its matches in order."""
        for line in scheduled:
            if line.encounter != self._encounter:
                self._planner.note(line.seats)
                self._note_meeting(line.seats)
            self._match, self._encounter, self.round = line.match, line.encounter, line.round + 1

    def _note_meeting(self, seats: Iterable[int]) -> None:
        if self._definition.until is not None:  # nobody else asks, and of 1,000 bots all pairs take 130 MB
            self._met[frozenset(seats)] += 1

    def passes(
        self, formats: Sequence[Format[Any]], numbers: range, absent: frozenset[int] = frozenset()
    ) -> Iterator[ScheduledMatch]:
        """Yield the matches of passes, counted from 0, in formats whose rounds are known; not of absent entrants."""
        for number in numbers:
            for game, planned in enumerate(formats):
                assert isinstance(planned, FixedFormat)
                for upcoming in planned.rounds():
                    opening = self.round - 1 if planned.has_own_openings else number
                    yield from self.lines((p for p in upcoming.pairings if absent.isdisjoint(p)), game, opening)
                    self.round += 1

    def round_in_all_games(self, upcoming: Round, encounters: int) -> Iterator[ScheduledMatch]:
        """Yield the matches of a round in all games, and advance to the next round."""
        if upcoming.further:
            yield from self.further_round(upcoming)
            return
        for number in range(encounters if upcoming.encounters is None else upcoming.encounters):
            opening = (self.round - 1) * encounters + number
            for game in range(len(self._definition.games)):
                yield from self.lines(upcoming.pairings, game, opening)
        self.round += 1

    def further_round(self, upcoming: Round) -> Iterator[ScheduledMatch]:
        """Yield the matches of a round whose pairings play on, opening by opening, and advance to the next round."""
        games = range(len(self._definition.games))
        begun = [self._met[frozenset(pairing)] // len(games) for pairing in upcoming.pairings]
        ends = [first + count for first, count in zip(begun, upcoming.further, strict=True)]
        for opening in range(min(begun), max(ends)):
            meeting = [
                pairing
                for pairing, first, end in zip(upcoming.pairings, begun, ends, strict=True)
                if first <= opening < end
            ]
            for game in games if meeting else ():
                yield from self.lines(meeting, game, opening)
        self.round += 1

    def lines(self, pairings: Iterable[Pairing], game: int, opening: int) -> Iterator[ScheduledMatch]:
        """Yield one encounter of each pairing from the same opening, in the current round."""
        for pairing in pairings:
            yield from self.encounter(self._planner.order(pairing), game, opening)

    def encounter(self, seats: tuple[int, ...], game: int, opening: int) -> Iterator[ScheduledMatch]:
        """Yield the matches of an encounter in the current round, whose first one has these seats."""
        self._encounter += 1
        self._note_meeting(seats)
        for rotated in rotations(seats):
            self._match += 1
            yield ScheduledMatch(
                match=self._match,
                encounter=self._encounter,
                round=self.round,
                game=game,
                seats=rotated,
                opening=opening,
                opening_actions=self._openings[game].take(opening),
                rng_seed=derived_seed("match", self._definition.rng_seed, self._match),
            )


def spec_of(scheduled: ScheduledMatch, definition: Definition) -> MatchSpec:
    """Return everything a worker needs to play a scheduled match."""
    choice = definition.games[scheduled.game]
    return MatchSpec(
        match=scheduled.match,
        tournament=definition.name,
        game=choice.game,
        options=choice.options,
        bots=tuple(definition.entrants[entrant] for entrant in scheduled.seats),
        rng_seed=scheduled.rng_seed,
        opening=scheduled.opening,
        opening_actions=scheduled.opening_actions,
        encounter=scheduled.encounter,
        time_control=definition.time_control,
        ply_limit=definition.ply_limit,
        ends_settled=definition.adjudicate == SETTLED,
    )
