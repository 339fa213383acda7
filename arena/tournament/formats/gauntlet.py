"""Gauntlet: a few challengers against a field that does not play among itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Annotated

from annotated_types import MinLen

from arena.base.errors import DefinitionError, UnknownNameError
from arena.base.text import toml_value
from arena.tournament.formats.format import Field, FixedFormat, Pairing, Round
from arena.tournament.formats.round_robin import MAX_GROUPS


@dataclass(frozen=True, slots=True, kw_only=True)
class GauntletSettings:
    """``[gauntlet]``: always needed.

    Attributes:
        challengers: the names of the entrants who meet all others; at least one.
    """

    challengers: Annotated[Sequence[str], MinLen(1)] = ()


class Gauntlet(FixedFormat[GauntletSettings]):
    """Every challenger meets everybody in the field; with more than two players, every group from the field."""

    Settings = GauntletSettings

    def __init__(self, field: Field[GauntletSettings]) -> None:
        super().__init__(field)
        names = field.settings.challengers
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
                f"gauntlet.challengers = {toml_value(names)}: expected at least {field.players - 1} other entrants"
                f" to meet, got {len(self._others)}"
            )

        groups = comb(len(self._others), field.players - 1)
        if groups * len(self._challengers) > MAX_GROUPS:
            raise DefinitionError(
                f"entrants: expected at most {MAX_GROUPS} pairings; the field of {len(self._others)} makes {groups}"
                " groups for each challenger"
            )

    def rounds(self) -> Iterator[Round]:
        """Yield a round for each group from the field: each challenger meets it once."""
        for group in combinations(self._others, self.field.players - 1):
            yield Round(tuple((challenger, *group) for challenger in self._challengers))

    def late_pairings(self, entrant: int) -> tuple[Pairing, ...]:
        """Return whom a late entrant meets: a challenger every group from the field, one of the field the challengers,
        each together with every group from the rest of the field.
        """
        if entrant in self._challengers:
            return tuple((entrant, *group) for group in combinations(self._others, self.field.players - 1))
        rest = [k for k in self._others if k != entrant]
        groups = list(combinations(rest, self.field.players - 2))
        return tuple((challenger, *group, entrant) for challenger in self._challengers for group in groups)
