"""A match as its page shows it: the positions, the board as shapes that come and go, clocks, notes and faults."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Le

from arena.base.enums import AnalysisState, FaultKind, Termination
from arena.site.frame.model import AsWritten, Model, ModelOfTournament, Name, Parameters

Shape = tuple[str | int | float | None, ...]
"""As a game draws it, ``("rect", x, y, width, height, style)`` for one; or ``("mark", x, y, radius, seat, text)``."""


class MatchParameters(Parameters):
    """The address of a match.

    Attributes:
        ply: the position to show: how many actions led to it; by default the last.
        embed: whether another page shows this one, without the frame of the site.
    """

    tournament: Name
    match: Annotated[int, Ge(1), Le(2**31 - 1), AsWritten]
    ply: Annotated[int, Ge(0), Le(1_000_000), AsWritten] | None = None
    embed: bool = False

    @property
    def may_be_framed(self) -> bool:
        """Whether other sites may show this address in a frame."""
        return self.embed


class Clock(Model):
    """The time of a seat.

    Attributes:
        wall_seconds: what its actions took so far.
        cpu_seconds: the CPU time of the bot for them; None where nothing measures it.
        bank_seconds: what is left of its bank; None without one.
    """

    wall_seconds: float = 0.0
    cpu_seconds: float | None = None
    bank_seconds: float | None = None


class EqualActions(Model):
    """Legal actions that are worth the same.

    Attributes:
        worth: what the position after each of them is worth, in words.
        mark: that each of them has or would have had: ``?``, ``??`` or none.
        played: the one of them that was chosen; empty if it was another one.
    """

    worth: str
    mark: str = ""
    actions: tuple[str, ...]
    played: str = ""


class PositionAnnotation(Model):
    """The annotation of a position, and of the action that led to it.

    Attributes:
        mark: of the action: ``?`` if it loses margin for certain, ``??`` if it changes the outcome.
        worth: of the position, in words.
        margin: the score of seat 0 minus that of seat 1 with best play; None if it is not known exactly.
        better: the shape on the board that stands for the best action, if the one that led here has a mark.
        choices: the legal actions, the best ones first; empty if not all are known exactly, or are not shown here.
    """

    mark: str = ""
    worth: str
    margin: int | float | None = None
    better: Shape | None = None
    choices: tuple[EqualActions, ...] = ()


class Position(Model):
    """A position, and the action that led to it.

    Attributes:
        ply: how many actions led to it.
        seat: that acted; None at the beginning.
        action: as in the record; None at the beginning, and where a seat was taken out of the match.
        notes: that the bot sent with it, as text; none for readers who may not see them.
        wall_seconds: what the action took; None in the opening.
        cpu_seconds: the bot's CPU time for it; None where nothing measures it.
        scores: of each seat, should the match end here; None if the rules have none.
        due: the seat to act; None at the end.
        said: the position as a sentence.
        lines: text next to the board, by the rules.
        board: the position as text; empty where it is too large.
    """

    ply: int
    seat: int | None
    action: Any
    text: str
    notes: tuple[str, ...] = ()
    wall_seconds: float | None = None
    cpu_seconds: float | None = None
    clock: Clock | None = None
    scores: tuple[int | float | None, ...]
    due: int | None
    said: str
    lines: tuple[str, ...] = ()
    board: str = ""
    annotation: PositionAnnotation | None = None


class Frame(NamedTuple):
    """What changes on the board from one position to the next: numbers of shapes."""

    come: tuple[int, ...]
    gone: tuple[int, ...]


class Board(Model):
    """The boards of a match.

    Attributes:
        box: what is seen: left, top, width and height, downwards.
        height: of the board; shapes count upwards from its lower edge.
        is_text: whether it is only lines of text.
        shapes: all that occur.
        frames: one for each position; the first has all of its shapes.
        outlines: one for each position: the shape that shows where the last action was.
    """

    box: tuple[float, float, float, float]
    height: float
    is_text: bool
    shapes: tuple[Shape, ...]
    frames: tuple[Frame, ...]
    outlines: tuple[Shape | None, ...]


class ListedFault(Model):
    """A fault of a bot after ``ply`` actions."""

    seat: int
    kind: FaultKind
    ply: int


class MatchFault(ListedFault):
    """A fault; ``detail`` is what happened, in one sentence, with figures for readers who may see them."""

    detail: str


class Asked(Model):
    """Whose action is awaited, in a match that is being played.

    Attributes:
        seat: that was asked; None between two questions.
        allowed_seconds: how long the action may take; None without a limit.
    """

    seat: int | None
    since: str
    allowed_seconds: float | None


class Turning(Model):
    """The action that decided a match; see ``TurningPoint``.

    Attributes:
        mark: ``?`` or ``??``.
        best: the actions that were best there, as text.
    """

    ply: int
    seat: int
    mark: str
    best: tuple[str, ...]
    sentence: str


class ViewedMatch(Model):
    """A match for the viewer; ``viewer.js`` reads its JSON.

    Attributes:
        first_ply: of the positions here: all of a match, unless there are too many.
        clocks: of each seat at the first of these positions.
        scores: of each seat at the end; empty before.
        ranks: of each seat at the end; empty before.
        termination: why the match ended; None while it is played.
        result: how it ended, as a sentence; why it has no result, before.
        opening: the number of the opening; None where the match starts from the beginning.
        problem: why there are no more positions, as a sentence; empty if all are there.
        unplayed: the actions after the last position here, as text.
        asked: whose action is awaited; None unless the match is being played.
        turning: the action that decided it; None if none is known.
        decided_ply: the ply of that action; in a match of three or more, that of the last elimination, or since which
            the winner was ahead. None if nothing is known to have decided it.
    """

    match: int
    game: str
    options: dict[str, Any]
    bots: tuple[str, ...]
    names: tuple[str, ...]
    plies: int
    first_ply: int = 0
    positions: tuple[Position, ...]
    clocks: tuple[Clock, ...]
    board: Board | None
    scores: tuple[int | float | None, ...] = ()
    ranks: tuple[int, ...] = ()
    termination: Termination | None = None
    result: str
    faults: tuple[MatchFault, ...] = ()
    opening: int | None = None
    opening_plies: int = 0
    problem: str = ""
    unplayed: tuple[str, ...] = ()
    asked: Asked | None = None
    turning: Turning | None = None
    decided_ply: int | None = None


class SeatDetails(Model):
    """A bot's resources and end in a match; see ``SeatReport`` of records.

    Attributes:
        wall_seconds: time on its own clock, all actions together.
        cpu_seconds: CPU time while an answer was due.
        off_turn_cpu_seconds: CPU time otherwise.
        exit: "running", "exit status N", "signal NAME" or "ended by the arena"; empty for readers who may not see it.
        stderr: what it wrote to stderr, shortened; empty for readers who may not see it.
    """

    wall_seconds: float
    cpu_seconds: float
    off_turn_cpu_seconds: float
    exit: str
    stderr: str


class MatchAnalysis(Model):
    """How far the analysis of a recorded match is.

    Attributes:
        state: "none" until somebody asks for it, "done" if all positions after the opening are known exactly,
            "unknown" if some are not after it was searched.
        place: in the queue, from 1; 0 if it does not wait there.
        waiting: how many wait.
        sentence: all that as text; empty if nothing is to be said.
        may_be_asked_for: whether it can be put in the queue.
    """

    state: AnalysisState
    place: int = 0
    waiting: int = 0
    sentence: str = ""
    may_be_asked_for: bool = False


class MatchPage(ModelOfTournament):
    """A match, ply by ply: the board, both clocks, notes and faults.

    Attributes:
        ply: the position to show at first.
        seats: empty before the end.
        isolation: how bots were kept from the machine.
        versions: of the arena, the protocol and Python.
        started_at: UTC, ISO 8601; empty if it is not known.
        analysis: how far it is; None before the end.
    """

    tournament: str
    is_recorded: bool
    analysis: MatchAnalysis | None = None
    shown: ViewedMatch
    ply: int
    encounter: int
    rng_seed: int
    seats: tuple[SeatDetails, ...] = ()
    time_rules: str
    isolation: str
    versions: dict[str, str]
    started_at: str
    previous: int | None
    following: int | None
