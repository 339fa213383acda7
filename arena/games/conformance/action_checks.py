"""Checks of actions, and of what people see of a position."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from math import isfinite
from typing import Any

from arena.base.errors import IllegalActionError
from arena.games.conformance.finding import MistakeError, are_same, as_lists, exact, problem_on_the_wire, shown
from arena.games.conformance.position import Position, shown_by
from arena.games.drawing import Drawing, shape_problem
from arena.games.game import Space

# Checks of actions: exactly the legal ones are accepted, and each has a text that is read back.

_SAMPLE = 40
"""The most legal actions to try in one position; if there are more, a random sample of this size."""

NONSENSE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**64, -(2**70), 0.0, 1.5, float("nan"), float("inf"), "", " ", "?", "nonsense", "\0",
    "é" * 300, b"", b"+", (), [], [[]], (1,), (0, 0), (1, 1, 1), (-1, -1), (1.0, 1.0), (True, True), ("1", "1"),
    (None, None), ("", 1), ([1], [1]), ((1, 1), (1, 1)), (2**64, 1), (10**9, 10**9), (float("nan"), 1), {}, {"x": 1},
    {1: 2}, {1, 2}, object, [1, [2, [3, [4]]]], list(range(100)),
)  # fmt: skip
"""Values that are no actions, or actions of another game."""

NONSENSE_TEXTS = ("", " ", "?", "\0", "!?!", "nonsense nonsense", "\n", "٣٣", "9" * 50, "-" * 200)


def check_legal_actions(position: Position) -> None:
    """Legal actions are plain values, each listed once, in the same order at every call."""
    calls, legal = position.calls, position.legal
    problem = next(filter(None, map(_problem_of, legal)), None)
    if problem is not None:
        raise MistakeError(problem)
    twice, count = Counter(map(exact, legal)).most_common(1)[0] if legal else (None, 0)
    if count > 1:
        action = next(action for action in legal if exact(action) == twice)
        raise MistakeError(f"legal_actions has {shown(action)} {count} times")
    again = calls("legal_actions", position.state)
    if not are_same(list(again), legal):
        raise MistakeError(
            f"legal_actions returned {shown(legal)}, then {shown(again)} for the same state; expected one order"
        )


def _problem_of(action: Any) -> str | None:
    if action is None:
        return "legal_actions has None, which in records takes a seat out of the match"
    problem = problem_on_the_wire(action, "a legal action")
    if problem is not None:
        return problem
    try:
        hash(action)
    except TypeError:
        return f"the legal action {shown(action)} is not hashable; expected text, numbers, and tuples of them"
    return None


def _sample(actions: list[Any], seed: int) -> list[Any]:
    if len(actions) <= _SAMPLE:
        return actions
    return random.Random(seed).sample(actions, _SAMPLE)


def check_apply(position: Position) -> None:
    """Every legal action is accepted, made of tuples or of lists, and is not changed."""
    calls = position.calls
    for action in _sample(position.legal, len(position.line)):
        following = position.state_after(action)
        listed = as_lists(action)
        if listed == action:
            continue
        with shown_by(action):
            listed_state = position.state_after(listed)
            if listed != as_lists(action):
                raise MistakeError(f"apply changed the action {shown(as_lists(action))} to {shown(listed)}")
            if not are_same(calls("observation", listed_state), calls("observation", following)):
                _raise_for_lists(position, action)


def _raise_for_lists(position: Position, action: Any) -> None:
    """Require that an action leads to the same state as a list and as a tuple, unless by chance."""
    for form in (action, as_lists(action)):
        states = [position.calls("observation", position.state_after(form)) for _ in range(5)]
        if not all(are_same(state, states[0]) for state in states):
            raise MistakeError("apply led to two different states from the same one", check="repeatability", ends=True)
    raise MistakeError(f"apply led to another state with the list {as_lists(action)} than with the tuple")


def check_refusal(position: Position, elsewhere: Iterable[Any]) -> None:
    """``apply`` refuses all else, such as actions of other positions, with IllegalActionError and nothing else."""
    legal = {exact(action) for action in position.legal}
    tried: set[str] = set()
    for key, form, candidate in chain(_FORMS_OF_NONSENSE, map(_with_forms, _candidates(position, elsewhere))):
        if key in tried or form in legal:
            continue
        tried.add(key)
        _require_refusal(position, candidate)


def _exact_or_none(candidate: Any) -> Any:
    """Return the exact form of a candidate if it can be compared; no action is None."""
    try:
        form = exact(candidate)
        hash(form)
    except TypeError:
        return None
    return form


def _with_forms(candidate: Any) -> tuple[str, Any, Any]:
    return repr(candidate), _exact_or_none(candidate), candidate


_FORMS_OF_NONSENSE = tuple(map(_with_forms, NONSENSE))


def _candidates(position: Position, elsewhere: Iterable[Any]) -> Iterator[Any]:
    yield from elsewhere
    space = position.calls.space
    if isinstance(space, Space):  # what is legal nowhere is in no position
        yield from _sample(list(space.actions), len(position.line))
    for action in _sample(position.legal, len(position.line) + 1)[:4]:
        yield from _variations(action)


def _variations(action: Any) -> Iterator[Any]:
    if type(action) is int:
        yield from (action - 1, action + 1, float(action), str(action), -action, action + 10**6)
        if action in (0, 1):
            yield bool(action)
    elif type(action) is str:
        yield from (action + action, action[:-1], f" {action}", f"{action} ", action.swapcase(), action.encode())
    elif type(action) is tuple:
        yield from (action[:-1], (*action, *action[-1:]), action[::-1], (action,), {part: part for part in action})
        for index, part in enumerate(action):
            for variation in _variations(part):
                yield (*action[:index], variation, *action[index + 1 :])
    yield [action, action]


def _require_refusal(position: Position, candidate: Any) -> None:
    occasion = "" if position.legal else " after the end of the match"
    try:
        position.calls("apply", position.state, candidate)
    except IllegalActionError as error:
        if type(error.reason) is not str or not error.reason:
            raise MistakeError(
                f"apply refused {shown(candidate)} without a reason; expected IllegalActionError(action, reason)"
            ) from error
        return
    except MistakeError as mistake:
        raise MistakeError(
            f"{mistake.sentence} for {shown(candidate)}{occasion}; expected IllegalActionError, for values of any type",
            ends=mistake.ends,
            is_timeout=mistake.is_timeout,
        ) from mistake
    raise MistakeError(f"apply accepted {shown(candidate)}{occasion}, which is not among the legal actions")


def check_text(position: Position) -> None:
    """``parse_action`` reads back what ``format_action`` writes, and refuses text that is no action."""
    calls = position.calls
    texts = set()
    for action in _sample(position.legal, len(position.line)):
        text = calls("format_action", action)
        if type(text) is not str or not text.strip() or not text.isprintable():
            raise MistakeError(f"format_action returned {shown(text)} for {shown(action)}; expected a line of text")
        texts.add(text)
        listed = calls("format_action", as_lists(action))
        if listed != text:
            raise MistakeError(f"format_action returned {shown(listed)} for the list {as_lists(action)}, not {text!r}")
        _require_read_back(position, action, text)
    for nonsense in NONSENSE_TEXTS:
        if nonsense not in texts:
            _require_no_action(position, nonsense)


def _require_read_back(position: Position, action: Any, text: str) -> None:
    try:
        read = position.calls("parse_action", text)
    except IllegalActionError as error:
        raise MistakeError(
            f"parse_action refused {text!r} ({error.reason}), which format_action returned for {shown(action)}"
        ) from error
    if exact(read) != exact(action) or read != action:
        raise MistakeError(
            f"parse_action returned {shown(read)} for {text!r}, which format_action returned for {shown(action)}"
        )


def _require_no_action(position: Position, text: str) -> None:
    """Require that a text is refused; digits may also be read as a number that ``apply`` refuses."""
    try:
        read = position.calls("parse_action", text)
    except IllegalActionError:
        return
    except MistakeError as mistake:
        raise MistakeError(f"{mistake.sentence} for the text {shown(text)}; expected IllegalActionError") from mistake
    if text.isdigit() and type(read) is int:
        _require_refusal(position, read)
        return
    raise MistakeError(f"parse_action returned {shown(read)} for the text {shown(text)}; expected IllegalActionError")


# Checks of what people see of a position: its board on a terminal, and its shapes.


def check_render(position: Position) -> None:
    """The drawings for a terminal are printable text."""
    calls, state = position.calls, position.state
    listed = [(seat, as_lists(action)) for seat, action in position.actions]
    drawn = {
        "render": calls("render", state),
        "render_after": calls("render_after", state, position.actions),
        "render_after, with the actions as lists,": calls("render_after", state, listed),
    }
    for method, text in drawn.items():
        if type(text) is not str:
            raise MistakeError(f"{method} returned {shown(text)}, of the type {type(text).__name__}; expected text")
        invalid = next((character for character in text if not character.isprintable() and character != "\n"), None)
        if invalid is not None:
            raise MistakeError(f"{method} returned text with the control character {invalid!r}; expected lines of text")
    if len(set(drawn.values()) - {drawn["render"]}) > 1:
        raise MistakeError("render_after draws another board if the actions are lists, as they are in records")


def check_drawing(position: Position) -> None:
    """A drawing is a ``Drawing`` with a size, shapes as documented, and lines of text beside the board."""
    drawing = position.calls("drawing", position.state)
    if not isinstance(drawing, Drawing):
        raise MistakeError(f"drawing returned {shown(drawing)}; expected an arena.games.Drawing")
    if not (_are_numbers((drawing.width, drawing.height)) and drawing.width > 0 and drawing.height > 0):
        raise MistakeError(
            f"drawing has the width {shown(drawing.width)} and the height {shown(drawing.height)}; expected numbers"
            " above 0"
        )
    problem = next(filter(None, map(shape_problem, drawing.shapes)), None)
    if problem is not None:
        raise MistakeError(f"drawing: {problem}")
    notes = drawing.notes
    if not isinstance(notes, list | tuple) or not all(type(note) is str and note.isprintable() for note in notes):
        raise MistakeError(f"drawing has the notes {shown(notes)}; expected a tuple of lines of text")


def _are_numbers(values: Any) -> bool:
    return all(type(value) in (int, float) and isfinite(value) for value in values)
