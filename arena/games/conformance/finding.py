"""What a check finds out about a game, and values compared as the wire carries them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from arena.base.errors import GameError, repr_of
from arena.base.records import DEFAULT_LIMITS, Limits
from arena.base.text import shortened_text
from arena.protocol.frames import HEADER_BYTES, MAX_BYTES_TO_BOT, decode_body, encode_frame

# What a check finds out about a game.


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A mistake in the rules of a game.

    Attributes:
        game: the game's name, or its dotted path.
        check: the check that found it, one of ``CHECKS``.
        sentence: what is wrong, and what is expected.
        line: the shortest line of play found that shows it, from the start; None takes the seat to act out.
        line_text: the same line in the game's own text, such as "c4, d5".
    """

    game: str
    check: str
    sentence: str
    options: Mapping[str, Any] = field(default_factory=dict)
    line: tuple[Any, ...] = ()
    line_text: str = ""

    def __str__(self) -> str:
        where = f" after {self.line_text}" if self.line else ""
        return f"the game {self.game!r} is at fault ({self.check}): {self.sentence}{where}"


class MistakeError(Exception):
    """Raised by a check at the first mistake it meets.

    Attributes:
        check: the check that it belongs to; None for the one that raised it.
        action: the action of the seat to act that shows it; None if the position alone does.
        ends: whether nothing else can be concluded about this game: its states change, its answers differ, it hangs.
        is_timeout: whether a method did not return.
    """

    def __init__(
        self,
        sentence: str,
        *,
        check: str | None = None,
        action: Any = None,
        ends: bool = False,
        is_timeout: bool = False,
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.check = check
        self.action = action
        self.ends = ends
        self.is_timeout = is_timeout


def unexaminable(error: Exception, module: str) -> MistakeError:
    """Return the mistake of a game whose values make a check itself fail: too deep, too large, or without a text."""
    return MistakeError(f"a value of the game can't be examined: that {problem_of(error, module)}", ends=True)


def problem_of(error: BaseException, module: str) -> str:
    """Return what an exception of a game says, with the author's file and line: "raised KeyError: 3 (hex.py:41)"."""
    problem = GameError.raised("", "", error, module)
    return problem.problem + (f" ({problem.place})" if problem.place else "")


# Actions and observations as the wire carries them, compared strictly: ``True``, ``1`` and ``1.0`` differ.

_WIDE = Limits(message_depth=64, message_nodes=MAX_BYTES_TO_BOT)
"""What the other end of the wire reads; the arena's own limits are for messages from bots."""

_INTEGERS = range(-(2**63), 2**64)
_KINDS: Mapping[type, str] = {bool: "bool", int: "int", float: "float", str: "str"}


def exact(value: Any) -> Any:
    """Return a value so that two are equal if they are the same on the wire: tuples are lists, types differ."""
    kind = _KINDS.get(type(value))
    if kind is not None:  # most values; a look at classes takes longer
        return (kind, value)
    if isinstance(value, list | tuple):
        return ("list", *map(exact, value))
    if isinstance(value, Mapping):
        return ("map", *sorted((str(key), exact(part)) for key, part in value.items()))
    return (next((name for kind, name in _KINDS.items() if isinstance(value, kind)), type(value).__name__), value)


def are_same(value: Any, other: Any) -> bool:
    """Return whether two values are the same on the wire."""
    return repr(value) == repr(other) or bool(exact(value) == exact(other))


def as_lists(action: Any) -> Any:
    """Return an action as it arrives from the wire and from a record: with lists in place of tuples."""
    return [as_lists(part) for part in action] if isinstance(action, list | tuple) else action


def as_json(value: Any) -> Any:
    """Return an action as JSON can carry it; what it can't carry as text."""
    try:
        return json.loads(json.dumps(as_lists(value)))
    except (TypeError, ValueError, RecursionError):
        return repr_of(value)


def shown(value: Any) -> str:
    """Return a value as short text."""
    return shortened_text(repr_of(value))


def problem_on_the_wire(value: Any, name: str, depth: int = 1) -> str | None:
    """Return what in a value can't be sent, in words; None if all of it can."""
    if depth > DEFAULT_LIMITS.message_depth:
        return f"{name[:80]}… is nested deeper than {DEFAULT_LIMITS.message_depth} levels"
    if isinstance(value, Mapping):
        invalid = next((key for key in value if not isinstance(key, str)), None)
        if invalid is not None:
            return f"{name} has the key {shown(invalid)}; keys are texts"
        parts = [(f"{name}[{key!r}]", part) for key, part in value.items()]
    elif isinstance(value, list | tuple):
        parts = [(f"{name}[{number}]", part) for number, part in enumerate(value)]
    else:
        return _problem_of_scalar(value, name)
    return next(filter(None, (problem_on_the_wire(part, part_name, depth + 1) for part_name, part in parts)), None)


def _problem_of_scalar(value: Any, name: str) -> str | None:
    if value is None or isinstance(value, bool | str):
        return None
    if isinstance(value, float):
        return None if isfinite(value) else f"{name} is {value}; numbers are finite"
    if isinstance(value, int):
        return None if value in _INTEGERS else f"{name} is {shown(value)}; whole numbers have at most 64 bits"
    return (
        f"{name} is {shown(value)}, of the type {type(value).__name__};"
        " expected text, numbers, True, False, None, lists, and maps with texts as keys"
    )


def over_the_wire(observation: Mapping[str, Any], legal: list[Any]) -> dict[str, Any]:
    """Return an observation as a bot receives it; MistakeError if the message with the legal actions can't be sent."""
    try:
        frame = encode_frame({"type": "act", "legal": legal, "observation": observation})
        if len(frame) > MAX_BYTES_TO_BOT:
            raise MistakeError(
                f"the observation and the legal actions take {len(frame):,} bytes on the wire; a message has at most"
                f" {MAX_BYTES_TO_BOT:,}",
                ends=True,
            )
        received: dict[str, Any] = decode_body(frame[HEADER_BYTES:], _WIDE)["observation"]
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        problem = problem_on_the_wire(observation, "observation")
        raise MistakeError(problem or f"observation can't be sent to a bot: {error}") from error
    return received
