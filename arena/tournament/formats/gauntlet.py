"""Gauntlet: a few challengers against a field that does not play among itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

from arena.errors import DefinitionError, UnknownNameError
from arena.tournament.formats.format import Field, FixedFormat, Round
from arena.tournament.formats.round_robin import MOST_GROUPS


class Gauntlet(FixedFormat):
    """Every challenger meets everybody in the field; with more players, every group of others from the field."""

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        names = field.settings.get("challengers", [])
        if not names:
            raise DefinitionError(
                f"gauntlet.challengers is missing: expected names of entrants: {', '.join(field.names)}"
            )
        for name in names:
            if name not in field.names:
                raise DefinitionError(f"gauntlet.challengers: {UnknownNameError('entrant', name, field.names)}")
        self._challengers = sorted({field.names.index(name) for name in names})
        self._others = [k for k in range(field.entrants) if k not in self._challengers]
        if len(self._others) < field.players - 1:
            raise DefinitionError(
                f"gauntlet.challengers = {names}: that leaves {len(self._others)} for them to meet, and"
                f" {field.players - 1} are needed"
            )

        groups = comb(len(self._others), field.players - 1)
        if groups * len(self._challengers) > MOST_GROUPS:
            raise DefinitionError(
                f"entrants: {len(self._others)} to meet make {groups} groups for each challenger; at most {MOST_GROUPS}"
                " pairings are accepted"
            )

    def rounds(self) -> Iterator[Round]:
        """Yield a round for each group from the field: each challenger meets it once."""
        for group in combinations(self._others, self.field.players - 1):
            yield Round(tuple((challenger, *group) for challenger in self._challengers))
