"""Round robin: everybody meets everybody.

For two players, in rounds where everybody plays once, by the circle method (the tables of FIDE's Handbook, C.05 annex
1, are made the same way); with an odd number one entrant has a bye in each round. For more players a round is one pass
through all groups, or, with ``groups``, through as many, chosen so that everybody plays and meets everybody as equally
as can be.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

from arena.errors import DefinitionError
from arena.tournament.formats.format import Field, FixedFormat, Round
from arena.tournament.formats.groups import balanced_groups

MOST_GROUPS = 1_000_000


class RoundRobin(FixedFormat):
    """Everybody meets everybody; ``encounters`` says how often."""

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        players, wanted = field.players, field.settings.get("groups")
        if players == 2:
            if wanted is not None:
                raise DefinitionError(f"round_robin.groups = {wanted}: only for games of more than two players")
            return
        possible = comb(field.entrants, players)
        if wanted is not None and wanted > possible:
            raise DefinitionError(
                f"round_robin.groups = {wanted}: {field.entrants} entrants make {possible} groups of {players}; no more"
                " are accepted"
            )
        if (wanted or possible) > MOST_GROUPS:
            raise DefinitionError(
                f"entrants: {field.entrants} of them make {possible} groups of {players}; let some of them meet with"
                f" round_robin.groups = N, at most {MOST_GROUPS}"
            )

    def rounds(self) -> Iterator[Round]:
        """Yield every round of one pass."""
        entrants, players = self.field.entrants, self.field.players
        wanted = self.field.settings.get("groups")
        if players == 2:
            yield from circle(entrants)
        elif wanted is None or wanted == comb(entrants, players):
            yield Round(tuple(combinations(range(entrants), players)))
        else:
            yield Round(tuple(balanced_groups(entrants, players, wanted, self.field.rng_seed)))


def circle(entrants: int) -> Iterator[Round]:
    """Yield rounds in which everybody meets somebody else, by the circle method.

    One entrant stays and the others move around it. With an odd number, an empty chair takes part: whoever meets it has
    a bye.
    """
    chairs = entrants + entrants % 2
    turning = list(range(1, chairs))
    for _ in range(chairs - 1):
        row = [0, *turning]
        met = [(row[k], row[-1 - k]) for k in range(chairs // 2)]
        byes = tuple(min(pair) for pair in met if entrants in pair)
        yield Round(tuple((min(pair), max(pair)) for pair in met if entrants not in pair), byes)
        turning = [turning[-1], *turning[:-1]]
