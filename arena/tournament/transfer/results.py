"""What a merge or an import has done."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedTournament:
    """What was taken of a tournament.

    Attributes:
        name: the tournament.
        is_new: whether it did not exist here.
        taken: matches whose records were taken.
        already_here: matches with the same record on both sides.
        differing: matches that were played on both sides; the records here stay.
        differing_results: how many of these ended otherwise there.
        lines_taken: matches by which the schedule has become longer.
        left: matches that are still to be played.
        is_finished: whether the tournament is finished.
        absent_bots: entrants (``name@version``) that have not been submitted here with the same files.
        refusal: why nothing was taken, in a sentence; None if nothing was refused.
    """

    name: str
    is_new: bool = False
    taken: int = 0
    already_here: int = 0
    differing: int = 0
    differing_results: int = 0
    lines_taken: int = 0
    left: int = 0
    is_finished: bool = False
    absent_bots: tuple[str, ...] = ()
    refusal: str | None = None

    @property
    def has_changed(self) -> bool:
        """Whether anything was taken."""
        return self.is_new or self.taken > 0 or self.lines_taken > 0
