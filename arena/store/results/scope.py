"""The scope of a table: which tournaments count."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which tournaments count; those that are deleted never do.

    A tournament that is named, or belongs to the season, counts in any format. Where none is named all of them count,
    but comparisons and the trials of tuning, which are experiments, only on request.

    Attributes:
        tournaments: their names.
        season: the name of a season, whose tournaments are added to the named ones.
        since: only those begun at this time or later; UTC if it has no time zone.
        comparisons: whether comparisons that are not named count.
    """

    tournaments: tuple[str, ...] = ()
    season: str | None = None
    since: datetime | None = None
    comparisons: bool = False

    @property
    def is_named(self) -> bool:
        """Whether it names tournaments, or a season."""
        return bool(self.tournaments) or self.season is not None

    def includes(self, format_name: str, created_at: str) -> bool:
        """Return whether a tournament counts, provided that it is one of the named ones or none are named.

        Args:
            format_name: its format.
            created_at: when it was begun (UTC, ISO 8601).
        """
        if self.since is not None and created_at < _stored_form(self.since):
            return False
        return self.comparisons or self.is_named or format_name not in EXPERIMENTS


COMPARISON = "comparison"
EXPERIMENTS = (COMPARISON, "trials")
"""The formats of the tournaments that ``arena compare`` and ``arena tune`` play."""

ALL_TOURNAMENTS = Scope(comparisons=True)
ALL_BUT_COMPARISONS = Scope()


def _stored_form(time: datetime) -> str:
    """Return a time as the store writes it, so that texts compare as times do."""
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds")
