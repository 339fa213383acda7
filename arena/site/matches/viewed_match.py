"""From a record to a match for the viewer: its positions by the rules, their boards, clocks and notes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from arena.analysis.text.match_view import (
    action_text,
    board_box,
    checked_drawing,
    drawing_or_reason,
    frames_of,
    is_text_board,
    outline_of,
    owned_shapes,
)
from arena.base.bot_text import EVERYBODY, Audience
from arena.base.enums import ClockKind
from arena.base.errors import ArenaError, GameError
from arena.base.records import MatchRecord
from arena.games import Drawing, Game
from arena.lab.matches.annotation import Annotation, turning_point
from arena.match.players.player import SeatClock
from arena.match.replay import states_of
from arena.site.matches.match_model import Asked, Board, Clock, Frame, MatchFault, Position, ViewedMatch
from arena.site.matches.match_sentences import (
    AnnotatedPositions,
    decided_among_many,
    eliminations,
    position_sentence,
    result_sentence,
)

# The boards of a match: around one ply if it is too long or too large, as shapes that come and go.

MAX_POSITIONS = 1000
"""Of a page."""

MAX_COMING_SHAPES = 20_000
"""In all frames of a page."""

MAX_DRAWN_SHAPES = 300_000
"""To be drawn for a page; of a larger match, only the positions that are shown, without the owners of earlier marks."""

FEWER = 2
"""The number of positions is divided by this until their boards fit."""


class DrawnPositions(NamedTuple):
    """Consecutive positions of a match from the ply ``first``, with a drawing of each and all in one board."""

    first: int
    drawings: Sequence[Drawing]
    board: Board


def drawn_positions(
    record: MatchRecord, game: Game[Any], states: Sequence[Any], wanted: int, most: int
) -> DrawnPositions:
    """Return the drawings of ``most`` positions (0: as many as a page can have) around the wanted ply.

    ``states`` are those before the first action and after each one.
    """
    most = most or MAX_POSITIONS
    try:
        shapes_each = len(checked_drawing(game, states[-1]).shapes)
    except GameError:  # perhaps it is too large; earlier ones may be as slow
        shapes_each = MAX_DRAWN_SHAPES + 1
    start = 0
    if shapes_each * len(states) > MAX_DRAWN_SHAPES:
        most = max(1, min(most, MAX_COMING_SHAPES // (shapes_each + 1)))
        start, end = _window(len(states), wanted, most)
        states = states[start:end]
    drawings = [drawing_or_reason(game, state) for state in states]
    seats = [seat for seat, _ in record.actions[start : start + len(states) - 1]]
    drawn = list(owned_shapes([drawing.shapes for drawing in drawings], seats))
    while True:
        first, end = _window(len(drawn), wanted - start, most)
        shapes, frames = frames_of(drawn[first:end])
        if most == 1 or sum(len(come) for come, _ in frames) <= MAX_COMING_SHAPES:
            break
        most = max(1, min(most, end - first) // FEWER)
    shown = drawings[first:end]
    return DrawnPositions(start + first, shown, _board_of(record, shown, shapes, frames, start + first))


def _window(count: int, wanted: int, most: int) -> tuple[int, int]:
    """Return the first of ``most`` numbers below ``count`` around a wanted one, and the number after the last."""
    first = min(max(0, wanted - most // 2), max(0, count - most))
    return first, min(count, first + most)


def _board_of(
    record: MatchRecord, drawings: Sequence[Drawing], shapes: list[Any], frames: list[list[list[int]]], first: int
) -> Board:
    height = max(drawing.height for drawing in drawings)
    left, top, width, tall = board_box(shapes, max(drawing.width for drawing in drawings), height)
    outlines = list[tuple[Any, ...] | None]()
    for ply, (come, _) in enumerate(frames, first):
        new = [shapes[number] for number in come] if ply > first else []
        outline = outline_of(record.actions[ply - 1][1], new, shapes) if ply else None
        outlines.append(tuple(outline) if outline else None)
    return Board(
        box=(left, top, width, tall),
        height=height,
        is_text=is_text_board(shapes),
        shapes=tuple(map(tuple, shapes)),
        frames=tuple(Frame(tuple(come), tuple(gone)) for come, gone in frames),
        outlines=tuple(outlines),
    )


# A record may be anybody's, and so may the rules. What can't be replayed is not shown, and the page says why; of a
# match that is too long or too large, the positions around one ply are shown.

MAX_BOARD_CHARACTERS = 300_000
"""Of the text boards of a page; where they are larger, only the position that is shown has one."""

MAX_LINES = 100
"""Beside a board."""

MAX_TEXT_CHARACTERS = 2000
"""Of a note or a line, and of the detail of a fault."""

MAX_UNPLAYED = 200
"""Actions that are listed without a position."""


class _Replay(NamedTuple):
    """The positions that the rules lead to, and why there are no more of them."""

    game: Game[Any] | None
    states: list[Any]
    problem: str


def viewed_match(
    record: MatchRecord,
    names: Mapping[str, str],
    ply: int | None = None,
    *,
    most: int = 0,
    unfinished: str = "",
    asked: Asked | None = None,
    reader: int | None = None,
    annotation: Annotation | None = None,
    audience: Audience = EVERYBODY,
) -> ViewedMatch:
    """Return a match for the viewer.

    Args:
        record: the match; if it is being played, up to now.
        names: what tables call each bot, by ``name@version``.
        ply: the position that has to be among those shown; by default the last.
        most: how many positions to show; 0 for as many as a page can have.
        unfinished: why the match has no result, as a sentence; empty if it is over.
        asked: whose action is awaited, if the match is being played.
        reader: the seat of the person who reads it; None where bots play alone.
        audience: who reads the notes and output of its bots.
    """
    replay = _replay(record)
    last = max(0, len(replay.states) - 1)
    point = turning_point(record, annotation) if annotation is not None else None
    since = None if unfinished or replay.game is None else decided_among_many(record, replay.game, replay.states)
    decided_ply = point.ply if point is not None else since
    shown_ply = decided_ply if ply is None else ply
    wanted = last if shown_ply is None else min(shown_ply, last)
    drawn = drawn_positions(record, replay.game, replay.states, wanted, most) if replay.game is not None else None
    first = drawn.first if drawn else 0
    clocks = _clocks(record)
    shown_names = tuple(names.get(bot, bot) for bot in record.bots)
    is_over = not unfinished
    annotated = None
    if annotation is not None and drawn is not None and replay.game is not None:
        plies = range(first, first + len(drawn.drawings))
        annotated = AnnotatedPositions(annotation, shown_names, replay.game, replay.states, plies, wanted)
    return ViewedMatch(
        match=record.match,
        game=record.game,
        options=as_json_types(dict(record.options)),
        bots=record.bots,
        names=shown_names,
        plies=len(record.actions),
        first_ply=first,
        positions=_positions(record, shown_names, replay, drawn, clocks, wanted, reader, annotated, audience),
        clocks=_clocks_before(record, clocks, first),
        board=drawn.board if drawn else None,
        scores=finite(record.scores) if is_over else (),
        ranks=record.ranks if is_over else (),
        termination=record.termination if is_over else None,
        result=unfinished or _result(record, shown_names, replay, since, reader),
        faults=tuple(
            MatchFault.of(fault, detail=fault.told_to(audience, record.bots[fault.seat])[:MAX_TEXT_CHARACTERS])
            for fault in record.faults
        ),
        opening=record.opening,
        opening_plies=record.opening_plies,
        problem=replay.problem,
        unplayed=tuple(
            json.dumps(action)[:MAX_TEXT_CHARACTERS] for _, action in record.actions[last : last + MAX_UNPLAYED]
        )
        if replay.problem
        else (),
        asked=asked,
        turning=annotated.turning(record) if annotated is not None else None,
        decided_ply=decided_ply,
    )


def _replay(record: MatchRecord) -> _Replay:
    positions, problem = list[tuple[Game[Any], Any]](), ""
    try:
        positions.extend(states_of(record))
    except ArenaError as error:
        problem = str(error)[:MAX_TEXT_CHARACTERS]
    return _Replay(positions[0][0] if positions else None, [state for _, state in positions], problem)


def _result(record: MatchRecord, names: Sequence[str], replay: _Replay, since: int | None, reader: int | None) -> str:
    """Return how a match ended; who was eliminated when and by whose action; or since when the winner was ahead."""
    sentences = [result_sentence(record, names, reader)]
    eliminated = eliminations(replay.game, replay.states) if replay.game is not None else []
    for ply, out in eliminated:
        seat, action = record.actions[ply - 1]
        if replay.game is None or action is None:  # a fault, which is in the result already
            continue
        who = "You were" if out == reader else f"{names[out]} was"
        own = "your own" if seat == reader else "its own"
        whose = own if out == seat else "your" if seat == reader else f"{names[seat]}’s"
        sentences.append(f"{who} eliminated at ply {ply}, by {whose} {action_text(replay.game, action)}.")
    if since and not eliminated:
        who = "You were" if reader is not None and record.ranks[reader] == 1 else "The winner was"
        sentences.append(f"{who} ahead from ply {since} on.")
    return " ".join(sentences)


def _positions(
    record: MatchRecord,
    names: Sequence[str],
    replay: _Replay,
    drawn: DrawnPositions | None,
    clocks: Sequence[Clock | None],
    wanted: int,
    reader: int | None,
    annotated: AnnotatedPositions | None,
    audience: Audience,
) -> tuple[Position, ...]:
    game, states = replay.game, replay.states
    if game is None or drawn is None:
        nothing: tuple[None, ...] = (None,) * len(record.bots)
        sentence = position_sentence(record, names, 0, "", nothing, None, reader)
        return (Position(ply=0, seat=None, action=None, text="", scores=nothing, due=None, said=sentence),)
    plies = range(drawn.first, drawn.first + len(drawn.drawings))
    size = len(_text_board(record, game, states[wanted], wanted))
    with_board = plies if size * len(plies) <= MAX_BOARD_CHARACTERS else range(wanted, wanted + 1)
    notes: dict[int, list[str]] = {}
    for after, note in record.notes_for(audience):
        notes.setdefault(after + 1, []).append(note_text(note))
    positions = []
    for ply, drawing in zip(plies, drawn.drawings, strict=True):
        state = states[ply]
        seat, action = record.actions[ply - 1] if ply else (None, None)
        text = action_text(game, action) if ply else ""
        scores, due = _scores(game, state, len(names)), _due(game, state)
        position = Position(
            ply=ply,
            seat=seat,
            action=as_json_types(action),
            text=text,
            notes=tuple(notes.get(ply, ())),
            wall_seconds=record.wall_seconds[ply - 1] if ply else None,
            cpu_seconds=record.cpu_seconds[ply - 1] if ply else None,
            clock=clocks[ply - 1] if ply else None,
            scores=scores,
            due=due,
            said=position_sentence(record, names, ply, text, scores, due, reader),
            lines=tuple(line[:MAX_TEXT_CHARACTERS] for line in drawing.notes[:MAX_LINES]),
            board=_text_board(record, game, state, ply) if ply in with_board else "",
            annotation=annotated.at(ply) if annotated is not None else None,
        )
        positions.append(position)
    return tuple(positions)


def _scores(game: Game[Any], state: Any, seats: int) -> tuple[int | float | None, ...]:
    try:
        return finite(game.scores(state))
    except GameError:
        return (None,) * seats


def _due(game: Game[Any], state: Any) -> int | None:
    try:
        return game.seat_to_act(state)
    except GameError:
        return None


def _text_board(record: MatchRecord, game: Game[Any], state: Any, ply: int) -> str:
    try:
        text = game.render_after(state, [(seat, action) for seat, action in record.actions[:ply]])
    except GameError as error:
        text = str(error)
    return text[:MAX_BOARD_CHARACTERS]


def _clocks(record: MatchRecord) -> list[Clock | None]:
    """Return the time of the seat that acted, after each action."""
    rules = [record.time_control_of(seat) for seat in range(len(record.bots))]
    banks = [SeatClock(time_control) for time_control in rules]
    so_far = [Clock(bank_seconds=bank.bank_seconds) for bank in banks]
    clocks = list[Clock | None]()
    for (seat, _), wall, cpu in zip(record.actions, record.wall_seconds, record.cpu_seconds, strict=True):
        if wall is not None:
            banks[seat].charge(cpu if rules[seat].clock is ClockKind.CPU and cpu is not None else wall)
            before = so_far[seat]
            so_far[seat] = Clock(
                wall_seconds=round(before.wall_seconds + wall, 6),
                cpu_seconds=before.cpu_seconds if cpu is None else round((before.cpu_seconds or 0.0) + cpu, 6),
                bank_seconds=banks[seat].bank_seconds,
            )
        clocks.append(so_far[seat])
    return clocks


def _clocks_before(record: MatchRecord, clocks: Sequence[Clock | None], first: int) -> tuple[Clock, ...]:
    seen = {seat: clock for (seat, _), clock in zip(record.actions[:first], clocks[:first], strict=True)}
    banks = [SeatClock(record.time_control_of(seat)).bank_seconds for seat in range(len(record.bots))]
    return tuple(seen.get(seat) or Clock(bank_seconds=bank_seconds) for seat, bank_seconds in enumerate(banks))


def finite(scores: Sequence[int | float]) -> tuple[int | float | None, ...]:
    """Return scores; those that JSON has no number for are None."""
    return tuple(score if math.isfinite(score) else None for score in scores)


def as_json_types(value: Any) -> Any:
    """Return a value as JSON has it: tuples as lists, and None for what JSON has no number for."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)


def note_text(note: Any) -> str:
    """Return a bot's note in a line: a map as ``name value, …``."""
    if isinstance(note, dict):
        note = ", ".join(f"{name} {value}" for name, value in note.items())
    return str(note)[:MAX_TEXT_CHARACTERS]
