"""What bots have said, for those who may read it: of a match, and of a bot."""

from __future__ import annotations

from arena.site.frame.model import Model
from arena.site.matches.match_model import MatchFault


class Noted(Model):
    """A note of a bot; ``ply`` counts the actions with its own."""

    ply: int
    text: str


class SeatLog(Model):
    """The output of a bot in a match.

    Attributes:
        bot: ``name@version``.
        exit: "running", "exit status N" or "signal NAME".
        stderr: all that is kept of it.
        faults: with their details.
    """

    bot: str
    seat: int
    exit: str
    stderr: str
    faults: tuple[MatchFault, ...]
    notes: tuple[Noted, ...]


class MatchLogs(Model):
    """The output of bots in a match.

    Attributes:
        address: of the match's page.
        seats: those that the reader may read.
        is_hidden: whether an embargo of its contest hides results, from the authors too.
    """

    tournament: str
    match: int
    address: str
    seats: tuple[SeatLog, ...]
    is_hidden: bool = False


class BotLogs(Model):
    """The output of a bot (as the address has it) in its latest matches with a fault, the latest first."""

    bot: str
    matches: tuple[MatchLogs, ...]
