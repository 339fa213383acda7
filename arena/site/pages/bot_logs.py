"""What bots have said, for those who may read it: of a match, and of a bot."""

from __future__ import annotations

from arena.site.frame.model import Model
from arena.site.matches.match_model import MatchFault


class Noted(Model):
    """A note of a bot.

    Attributes:
        ply: how many actions there were with its own.
        text: the note.
    """

    ply: int
    text: str


class SeatLog(Model):
    """What a bot has said in a match.

    Attributes:
        bot: ``name@version``.
        seat: where it sat.
        exit: "running", "exit status N" or "signal NAME".
        stderr: all of it that is kept.
        faults: with their details.
        notes: in order.
    """

    bot: str
    seat: int
    exit: str
    stderr: str
    faults: tuple[MatchFault, ...]
    notes: tuple[Noted, ...]


class MatchLogs(Model):
    """What bots have said in a match.

    Attributes:
        tournament: the tournament's name.
        match: the number of the match.
        address: of the match's page.
        seats: those that whoever asks may read.
        is_hidden: whether results of its contest are hidden, and so from the authors, too.
    """

    tournament: str
    match: int
    address: str
    seats: tuple[SeatLog, ...]
    is_hidden: bool = False


class BotLogs(Model):
    """What a bot has said in its latest matches with a fault.

    Attributes:
        bot: as the address has it.
        matches: the latest first.
    """

    bot: str
    matches: tuple[MatchLogs, ...]
