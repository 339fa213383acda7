"""Enumerations of values that are sent and stored. Each member is its text, on the wire and in JSON."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class _WithWords(StrEnum):
    """An enumeration whose members have words beside their value, in the order of the annotations."""

    def __new__(cls, value: str, *words: str) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        for name, word in zip(cls.__annotations__, words, strict=True):
            setattr(member, name, word)
        return member


class FaultKind(_WithWords):
    """What a bot did wrong.

    Attributes:
        meaning: the violation, as a sentence that begins with "the bot".
        hint: the advice to the author, if the cause is not known more exactly.
        sentence: what happened, for everybody.
    """

    meaning: str
    hint: str
    sentence: str

    START = (
        "start",
        "can't be executed, exits before `ready`, or is not ready in time",
        "run the command of bot.toml by hand; the bot must start, read the hello message and answer with ready",
        "the bot could not be started, or was not ready in time",
    )
    EXIT = (
        "exit",
        "exits, is killed by a signal, or closes its standard output",
        "the bot must keep running from match to match, until it is sent quit or its input ends; see its stderr",
        "the bot ended before the match did",
    )
    TIMEOUT = (
        "timeout",
        "does not answer, or does not read, in time",
        "flush after every message, read exactly the announced number of bytes, and watch the clock of each act",
        "the bot did not answer in time",
    )
    PROTOCOL = (
        "protocol",
        "sends text, an invalid frame, a message or field that is missing or of the wrong type, the wrong `ply`, or an"
        " unrequested message",
        "compare the bytes with protocol.md; nothing but frames may go to stdout (print to stderr instead)",
        "the bot sent something that is no valid message",
    )
    ILLEGAL = (
        "illegal",
        "sends an illegal action",
        "choose from the list under legal in each act, and start every match afresh",
        "the bot sent an illegal action",
    )
    LIMIT = (
        "limit",
        "exceeds a limit: memory, processes, files, CPU time, text on stderr, the size of a message or of a note",
        "use less of the resource, or ask the director for a higher limit ([limits] in the tournament file)",
        "the bot used more than its limits allow",
    )


class Termination(StrEnum):
    """Why a match ended: by its rules, by a forfeit, or by adjudication: at the limit of plies, or settled."""

    NORMAL = "normal"
    FORFEIT = "forfeit"
    ADJUDICATION = "adjudication"
    VOID = "void"


class IsolationLevel(_WithWords):
    """How a bot is confined, from the weakest level to the strongest; ``restricts`` says what a level limits.

    Records show a level with "+cgroup" appended where control groups limit the sum of memory and processes.
    """

    restricts: str

    NONE = "none", "nothing beyond what the operating system does anyway"
    LIMITS = "limits", "memory, files and processes of a bot, but neither what it reads nor the network"
    LANDLOCK = (
        "landlock",
        "also what it reads and writes, the network, other processes, rarely used parts of the kernel",
    )
    BUBBLEWRAP = "bubblewrap", "the same by namespaces: a bot does not even see other processes and files"


class OffTurn(StrEnum):
    """What bots may do while others are to act."""

    AUTO = "auto"
    RUN = "run"
    FREEZE = "freeze"


class ClockKind(StrEnum):
    """What a clock counts: wall time, or CPU time of a bot and all it starts."""

    WALL = "wall"
    CPU = "cpu"


class Decision(StrEnum):
    """What a sequential test has decided: H1 is accepted, H1 is rejected (H0 is accepted), or nothing yet."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    OPEN = "open"


class TournamentState(StrEnum):
    """How far a tournament has got."""

    NOT_BEGUN = "not begun"
    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"
    IDLE = "idle"
    """A ladder with nothing to play until a bot enters, or another version of one."""


class CorrectionKind(_WithWords):
    """What a director has corrected after matches had been recorded; ``shown`` is a noun for tables and lists."""

    shown: str

    WITHDRAW = "withdraw", "withdrawal"
    DISQUALIFY = "disqualify", "disqualification"
    REPLACE = "replace", "replacement"
    VOID = "void", "voided match"
    ENTER = "enter", "late entry"
    UNDO = "undo", "undoing"


class EventKind(StrEnum):
    """What has changed in a tournament: the kind of an event in its log."""

    CREATED = "created"
    SCHEDULE = "schedule"
    DEFINITION = "definition"
    RESULTS = "results"
    FINISHED = "finished"
    REOPENED = "reopened"
    CORRECTION = "correction"
    RENAMED = "renamed"
    DELETED = "deleted"
    RESTORED = "restored"
    IMPORTED = "imported"
    ANNOTATED = "annotated"


class AnalysisState(StrEnum):
    """The state of a requested analysis of a recorded match."""

    NONE = "none"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    UNKNOWN = "unknown"
    """It was searched, and some positions stay unknown."""


class DisqualifiedMatches(StrEnum):
    """What becomes of the matches of a disqualified bot."""

    ANNUL = "annul"
    KEEP = "keep"


class OpeningChoice(StrEnum):
    """How the openings of a tournament are chosen, other than at random."""

    INFORMATION = "information"
    BOOK = "book"


class ClaimKind(StrEnum):
    """What is claimed about two bots when a tournament plays until it is decided."""

    BETTER = "better"
    EQUAL = "equal"


class StopReason(StrEnum):
    """Why a tournament that plays until it is decided has stopped."""

    DECIDED = "decided"
    """Every claim that was needed is that one bot is better."""
    EQUAL = "equal"
    """Everything is decided, and some bots are equal within the indifference."""
    MATCHES = "max_matches"
    HOURS = "max_hours"
    REPEATS = "repeats"
    """The bots that are not distinguished yet only repeat matches that they have played."""
