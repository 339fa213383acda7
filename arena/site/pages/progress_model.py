"""How far a tournament has got."""

from __future__ import annotations

from arena.site.frame.model import Model


class PlayingMatch(Model):
    """A match that is being played.

    Attributes:
        match: its number.
        names: what tables call its bots, per seat.
        ply: actions so far; None if nobody watches it, in which case that is not known.
    """

    match: int
    names: tuple[str, ...]
    ply: int | None = None


class Progress(Model):
    """What is being played.

    Attributes:
        recorded: matches with a record.
        expected: how many there will be; None if that is open.
        matches_per_second: in the last while; None at the beginning.
        seconds_left: about; None if that is not known.
        estimated_at: when (UTC, ISO 8601) it was that long; None if that is not known.
        status: the state of the format in a few words; may be empty.
        playing: some of the matches that are being played.
    """

    recorded: int
    expected: int | None
    matches_per_second: float | None = None
    seconds_left: float | None = None
    estimated_at: str | None = None
    status: str = ""
    playing: tuple[PlayingMatch, ...] = ()

    @property
    def share(self) -> float | None:
        """How much of it has been played, from 0 to 1; None if the end is open."""
        return self.recorded / self.expected if self.expected else None
