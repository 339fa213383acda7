"""Trials: variants of a bot, each against the one it began with; see ``arena/tournament/tuning.py``.

1. Entrant 0 is the start, which each other entrant meets; it sits in all other seats of games for more.
2. A variant that was drawn several times has as many rounds.
3. Each encounter has an opening of its own: a model of the results takes them as independent.

Pages know this format, and the web process does without the NumPy that a comparison takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.base.errors import DefinitionError
from arena.tournament.formats.format import FixedFormat, Round

MAX_DRAWN = 10_000
"""Rounds of a pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialsSettings:
    """How often each variant was drawn; empty if each was drawn once."""

    drawn: Sequence[int] = ()


class Trials(FixedFormat[TrialsSettings]):
    """Every variant meets the start."""

    Settings = TrialsSettings
    has_fixed_field = True
    has_own_openings = True

    def check_field(self) -> None:
        """Raise DefinitionError unless there are a start and a variant, and each variant was drawn."""
        if self.field.entrants < 2:
            raise DefinitionError(f"entrants: expected at least 2 in trials, got {self.field.entrants}")
        drawn = self.field.settings.drawn
        if drawn and (len(drawn) != self.field.entrants - 1 or min(drawn) < 1 or sum(drawn) > MAX_DRAWN):
            raise DefinitionError(
                f"trials.drawn: expected a number from 1 for each variant, together at most {MAX_DRAWN:,}"
            )

    def rounds(self) -> Iterator[Round]:
        """Yield a round for each time that a variant was drawn."""
        drawn = self.field.settings.drawn or [1] * (self.field.entrants - 1)
        for entrant, times in enumerate(drawn, 1):
            for _ in range(times):
                yield Round(((entrant, *[0] * (self.field.players - 1)),))
