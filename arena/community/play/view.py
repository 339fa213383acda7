"""What the page of an unrated match shows, and where on the board a person's actions are."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from arena.analysis.text.match_view import STRIP, action_targets, action_text
from arena.base.enums import Termination
from arena.base.errors import IllegalActionError
from arena.base.records import MatchRecord, TimeControl
from arena.games import Game
from arena.games.squares import Square, as_square, format_square
from arena.lab.matches.annotation import Annotation
from arena.match.replay import final_ranks
from arena.site.matches.boards import shapes_at
from arena.site.matches.match_model import Board, Shape, Turning
from arena.site.matches.match_sentences import result_sentence
from arena.site.matches.playing_model import Place, PlayedAction, PlayView
from arena.site.matches.positions import record_of_nobody
from arena.site.matches.viewed_match import note_text, viewed_match

MAX_PLACES = 400
"""Of squares or actions on a board."""

MAX_REFUSAL_CHARACTERS = 200

BAND = 0.09
"""The share of a board, at its edge, in which a line across it is pressed."""
OUTSIDE = 0.4
"""How far such a band reaches out of the board, in squares."""
LEAST = 0.3
"""Of the sides of what is pressed, in squares."""


class Legal(NamedTuple):
    """An action that may be played, and its text."""

    action: Any
    text: str


def places_on(
    game: Game[Any],
    state: Any,
    board: Board | None,
    legal: Sequence[Legal],
    playable: Collection[Any],
    played: Iterable[Any],
    names: Sequence[str],
    person: int | None,
) -> list[Place]:
    """Return the places on a board; raise GameError if the rules are wrong.

    The person may play ``legal`` now; ``playable`` is for the seat to act, whoever that is.
    """
    if board is None or board.is_text:
        return []
    shapes = shapes_at(board, 0)
    squares = _squares(shapes)
    if squares and any(as_square(action) for action in playable or played):
        texts = {square: one.text for one in legal if (square := as_square(one.action)) is not None}
        contents = _contents(shapes, names, person)
        refusals = _refusals(game, state, squares, playable)
        return [
            _place_of_square(square, texts.get(square, ""), contents.get(square, []), refusals.get(square, ""))
            for square in squares
        ]
    shown = legal[:MAX_PLACES]
    targets = action_targets(game, state, [one.action for one in shown])
    gaps = _gaps(targets)
    placed = [(one.text, target) for one, target in zip(shown, targets, strict=True) if target is not None]
    return [_place_of_target(text, target, gaps) for text, target in placed]


def _squares(shapes: Iterable[Sequence[Any]]) -> list[Square]:
    """Return the squares of the board, row by row from the top; none if it has too many."""
    for kind, *values in shapes:
        if kind == "rect" and values[-1] == "board" and values[:2] == [0, 0]:
            columns, rows = int(values[2]), int(values[3])
            if columns * rows <= MAX_PLACES:
                return [(x, y) for y in range(rows, 0, -1) for x in range(1, columns + 1)]
    return []


def _refusals(game: Game[Any], state: Any, squares: Iterable[Square], playable: Collection[Any]) -> dict[Square, str]:
    """Return why squares can't be played now, by the rules; nothing if no square can, as nobody expects one then."""
    free = {square for action in playable if (square := as_square(action)) is not None}
    refusals: dict[Square, str] = {}
    for square in squares if free else ():
        if square not in free:
            try:
                game.apply(state, square)
            except IllegalActionError as error:
                refusals[square] = error.reason[:MAX_REFUSAL_CHARACTERS]
    return refusals


def _contents(shapes: Iterable[Sequence[Any]], names: Sequence[str], person: int | None) -> dict[Square, list[str]]:
    contents: dict[Square, list[str]] = {}
    for kind, *values in shapes:
        description, x, y = "", values[0], values[1]
        if kind == "mark":
            description = str(values[4] or "mark")
            if values[3] < len(names):
                description = f"your {description}" if values[3] == person else f"{description} of {names[values[3]]}"
        elif kind == "text" and values[-1] != "label":
            description = str(values[3])
        elif kind == "disc":
            description = "mark"
        elif kind == "rect" and str(values[-1]).startswith("seat") and max(values[2:4]) <= 1:
            description, x, y = f"of seat {values[-1][4:]}", x + values[2] / 2, y + values[3] / 2
        if description:
            contents.setdefault((int(x) + 1, int(y) + 1), []).append(description)
    return contents


def _place_of_square(square: Square, text: str, contents: Sequence[str], refusal: str) -> Place:
    x, y = square
    description = ", ".join([f"{format_square(square)}: column {x}, row {y}", *contents])
    label = description if contents else f"{description}, empty"
    return Place(action=text, label=label, refusal=refusal, is_empty=not contents, box=(x - 1, y - 1, 1, 1))


def _is_strip(target: Shape) -> bool:
    return target[0] == "rect" and target[-1] == "label"


def _gaps(targets: Iterable[Shape | None]) -> dict[bool, float]:
    """Return how far apart the lines across the board are: the upright ones, and the others."""
    gaps = {}
    for is_upright in (True, False):
        middles = sorted(
            float(target[1 if is_upright else 2] or 0)
            for target in targets
            if target is not None and _is_strip(target) and (target[3] == STRIP) == is_upright
        )
        gaps[is_upright] = min((b - a for a, b in itertools.pairwise(middles) if b > a), default=1.0)
    return gaps


def _place_of_target(text: str, target: Shape, gaps: dict[bool, float]) -> Place:
    kind, *values = target
    numbers: list[Any] = values[:-1]
    if _is_strip(target):
        x, y, width, height = numbers
        is_upright = width == STRIP
        gap = min(1.0, gaps[is_upright])
        if is_upright:
            box = (x + width / 2 - gap / 2, -OUTSIDE, gap, OUTSIDE + BAND * height)
        else:
            box = (-OUTSIDE, y + height / 2 - gap / 2, OUTSIDE + BAND * width, gap)
        label = f"{text}, {'upright' if is_upright else 'level'} line"
        return Place(action=text, label=label, box=_rounded(box), preview=target)
    if kind == "rect":
        box = tuple(numbers)
    elif kind == "disc":
        x, y, radius = numbers
        box = (x - radius, y - radius, 2 * radius, 2 * radius)
    else:
        xs, ys = numbers[::2], numbers[1::2]
        width, height = max(LEAST, max(xs) - min(xs)), max(LEAST, max(ys) - min(ys))
        box = ((min(xs) + max(xs) - width) / 2, (min(ys) + max(ys) - height) / 2, width, height)
    return Place(action=text, label=text, box=_rounded(box), preview=target)


def _rounded(box: Sequence[float]) -> tuple[float, float, float, float]:
    left, low, width, height = (round(float(value), 3) for value in box)
    return left, low, width, height


MAX_LEGAL = 400
MAX_LISTED = 400
MAX_TEXT_CHARACTERS = 200

PERSON_NAME = "you"


class Played(NamedTuple):
    """An action of an unrated match; a person's has neither seconds nor a note.

    ``fault`` is the kind of the fault by which a seat forfeited, where its action is None.
    """

    seat: int
    action: Any
    seconds: float | None = None
    note: Any = None
    fault: str = ""


def view_of(
    path: str,
    game: Game[Any],
    state: Any,
    actions: Sequence[Played],
    names: Sequence[str],
    person: int | None,
    time_control: TimeControl,
    ended: MatchRecord | None = None,
    annotation: Annotation | None = None,
) -> PlayView:
    """Return what the page of a match shows; raise GameError if the rules are wrong.

    ``person`` is the seat of whoever plays; None where two bots do. Once a match is over, ``ended`` is its record, and
    ``annotation`` what is known of its actions.
    """
    faults = ended.faults if ended is not None else ()
    seconds = tuple(played.seconds for played in actions)
    record = replace(
        record_of_nobody(path, game, state, [[played.seat, played.action] for played in actions]),
        bots=tuple(names),
        ranks=tuple(final_ranks(game, state, [fault.seat for fault in faults])),
        termination=ended.termination if ended is not None else Termination.NORMAL,
        faults=faults,
        wall_seconds=seconds,
        cpu_seconds=seconds,
        time_control=time_control,
    )
    is_over = ended is not None
    unfinished = "" if is_over else "This match is being played."
    shown = viewed_match(record, {}, len(actions), most=1, unfinished=unfinished, reader=person, annotation=annotation)
    seat_to_act = None if is_over else game.seat_to_act(state)
    playable = [] if seat_to_act is None else game.legal_actions(state)
    is_persons_turn = seat_to_act is not None and seat_to_act == person
    offered = playable if is_persons_turn else ()
    legal = [Legal(action, action_text(game, action)[:MAX_TEXT_CHARACTERS]) for action in offered]
    listed = actions[-MAX_LISTED:]
    last_actions = [played.action for played in actions[-1:]]
    return PlayView(
        shown=shown,
        places=tuple(places_on(game, state, shown.board, legal, playable, last_actions, names, person)),
        legal=tuple(action.text for action in legal[:MAX_LEGAL]),
        legal_count=len(legal),
        action_format=game.action_format[:MAX_TEXT_CHARACTERS],
        actions=tuple(
            PlayedAction(
                seat=played.seat,
                text=action_text(game, played.action)[:MAX_TEXT_CHARACTERS],
                seconds=played.seconds,
                mark=annotation.mark(index) if annotation is not None else "",
            )
            for index, played in enumerate(listed, len(actions) - len(listed))
        ),
        left_out=len(actions) - len(listed),
        notes=tuple(
            f"{ply}: {note_text(played.note)}"
            for ply, played in enumerate(actions, 1)
            if is_over and played.note is not None
        )[-MAX_LISTED:],
        result=result_sentence(record, names, person) if is_over else "",
        analysis=_analysis_sentence(annotation, shown.turning) if annotation is not None else "",
    )


def _analysis_sentence(annotation: Annotation, turning: Turning | None) -> str:
    if turning is not None:
        return turning.sentence
    known_from = annotation.unknown_before
    if known_from >= len(annotation.actions):
        return "What decided it is not known: the board is too large for a short analysis."
    if known_from:
        return f"After ply {known_from} no action gave anything away; what came before is not known."
    return "No action gave anything away."
