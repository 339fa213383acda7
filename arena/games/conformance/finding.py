"""What a check finds out about a game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from arena.base.errors import GameError


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A mistake in the rules of a game.

    Attributes:
        game: the game's name, or its dotted path.
        check: the check that found it, such as "scores"; ``CHECKS`` has all of them.
        sentence: what is wrong, and what is expected.
        options: the options of the game that was played.
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
        sentence: what is wrong, and what is expected.
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
