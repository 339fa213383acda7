"""A round robin or a gauntlet that plays until it is decided: each round is a batch of encounters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from arena.base.definition import gone
from arena.base.errors import DefinitionError
from arena.base.results import StoredResult, points_of
from arena.base.text import counted
from arena.base.until import check_until, first_pairings
from arena.tournament.formats.format import (
    FOR_TWO,
    Field,
    FixedFormat,
    Format,
    Meeting,
    NoSettings,
    Pairing,
    Round,
    StopLimits,
)

if TYPE_CHECKING:  # NumPy takes long to import, and a tournament file is read without it
    from arena.tournament.formats.deciding import Deciding

MATCHES = 2
"""The matches of an encounter of two bots."""


class UntilDecided(Format[Any]):
    """A fixed format that is played until it is decided who is better than whom."""

    Settings = NoSettings
    players = FOR_TWO

    def __init__(self, field: Field[Any], planned: Format[Any]) -> None:
        """Begin.

        Args:
            field: the entrants, with what is to be decided.
            planned: the format, which says who meets whom.

        Raises:
            DefinitionError: if it can't be decided, or not by so few matches.
        """
        if not isinstance(planned, FixedFormat) or planned.has_own_openings or field.until is None:
            raise DefinitionError('until: expected format = "round-robin" or "gauntlet", whose encounters can go on')
        if field.players not in self.players:
            raise DefinitionError(f"until: expected a game for 2 players, not for {field.players}")
        self._planned = planned
        self._pairings: list[Pairing] = [pairing for upcoming in planned.rounds() for pairing in upcoming.pairings]
        self.until = field.until
        super().__init__(field)
        check_until(self.until, len(field.taking_part))  # however many have left since
        self._deciding: Deciding | None = None
        self._seen: set[object] = set()
        meeting = first_pairings(len(self._active), len(self._pairings))
        self._do_all_meet = meeting == len(self._pairings)
        fewest = MATCHES * field.games * max(1, self.until.min_encounters) * meeting
        if self.until.max_matches is not None and self.until.max_matches < fewest:
            raise DefinitionError(
                f"until.max_matches = {self.until.max_matches}: the first {counted(fewest, 'match')} are those in which"
                f" {'every pair meets' if self._do_all_meet else 'all bots begin'}; expected at least as"
                f" many"
            )

    @property
    def _active(self) -> tuple[int, ...]:
        absent = gone(self.field.absences)
        return tuple(k for k in self.field.taking_part if k not in absent)

    @property
    def deciding(self) -> Deciding:
        """What is decided so far, and what is played next."""
        from arena.tournament.formats.deciding import Deciding

        if self._deciding is None:
            entrants, games = self.field.entrants, self.field.games
            self._deciding = Deciding(self.until, entrants, self._active, self._pairings, games)
        return self._deciding

    def next_round(self) -> Round | None:
        missing = self.deciding.advance()
        if not missing.any():
            return None
        pairings = [pairing for pairing in self._pairings if missing[pairing] > 0]
        return Round(tuple(pairings), further=tuple(int(missing[pairing]) for pairing in pairings))

    def add_results(self, meetings: Sequence[Meeting]) -> None:
        for meeting in meetings:
            first, second = meeting.pairing
            bot = self.field.bots[first]  # sits elsewhere in every second match
            by_encounter: dict[int, list[StoredResult]] = defaultdict(list)
            for result in meeting.results:
                by_encounter[result.encounter].append(result)
            for results in by_encounter.values():
                share = fmean(points_of(result.ranks, result.bots.index(bot)) for result in results)
                tied = fmean(result.ranks[0] == result.ranks[1] for result in results)
                opening_key = frozenset(
                    (result.game, result.bots, result.opening_hash, result.actions_hash) for result in results
                )
                self.deciding.add(first, second, share, tied, is_new=opening_key not in self._seen)
                self._seen.add(opening_key)
        self.deciding.advance()

    def stop_limits(self) -> StopLimits:
        return StopLimits(matches=self.until.max_matches, hours=self.until.max_hours)

    def late_pairings(self, entrant: int) -> tuple[Pairing, ...]:
        return self._planned.late_pairings(entrant)

    def plan(self) -> str:
        return f"plays until the {self.until.shown} decided"

    def status(self) -> str:
        look = self.deciding.look
        if look is None:
            return "every pair meets" if self._do_all_meet else "every bot meets a few rivals"
        return f"{len(look.needed) - len(look.open)} of {counted(len(look.needed), 'claim')} decided"
