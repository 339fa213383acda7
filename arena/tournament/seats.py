"""Fair seats: who sits where, and who acts right after whom.

An encounter is played in all seat rotations, so everybody sits in every seat equally often. Rotations keep the order
around the board, though: with three or more players somebody would always act right after the same rival. So the order
around the board changes from encounter to encounter.

For a prime number of players m there is an exact design: in the orders 0, j, 2j, … (mod m) for j = 1 … m - 1 everybody
follows everybody else exactly once (a complete set of sequentially counterbalanced circles; E. J. Williams, Australian
Journal of Scientific Research A 2, 1949). For other numbers, and between groups that share members, the order is taken
that evens out best what has been played.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import permutations

from arena.base.seeds import derived_seed
from arena.tournament.formats.format import Pairing

MAX_EXAMINED = 200
"""Orders around the board that are compared; all of them for up to six players."""


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
        """Remember an encounter that has been scheduled before."""
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
