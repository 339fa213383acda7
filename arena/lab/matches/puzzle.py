"""A puzzle: a position in which exactly one action keeps the outcome, and a bot has missed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.lab.solving.worth import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A legal action of a puzzle.

    Attributes:
        text: the action, as people write it.
        outcome: for seat 0, with best play after it.
        margin: that it leads to, for seat 0; None if only the outcome is known.
    """

    text: str
    outcome: Outcome
    margin: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A bot that has missed the solution.

    Attributes:
        bot: its ``name@version``.
        match: the number of the match.
        ply: how many actions led to the position.
        text: what it played; in a position that is the same up to symmetry, perhaps.
    """

    bot: str
    match: int
    ply: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """A position in which exactly one action keeps the outcome.

    Attributes:
        game: the game's name or dotted path.
        options: the game's options.
        actions: ``[seat, action]`` each, from the beginning of the match to the position.
        seat: to act.
        goal: the outcome for seat 0 that the solution keeps.
        choices: all legal actions, in the order of the rules.
        solution: the number of the choice that keeps the outcome.
        misses: some that have missed it; the first is of the match that ``actions`` are from.
        missed: how often it was missed.
        met: how often bots had to act in this position, up to symmetry.
        lines_log2: the logarithm to base 2 of about how many lines of play there are from here: the difficulty.
        tempting: how many other choices leave the seat at least as far ahead at once.
    """

    game: str
    options: Mapping[str, Any]
    actions: tuple[Sequence[Any], ...]
    seat: int
    goal: Outcome
    choices: tuple[Choice, ...]
    solution: int
    misses: tuple[Miss, ...]
    missed: int
    met: int
    lines_log2: float
    tempting: int

    @property
    def goal_in_words(self) -> str:
        """What the seat to act can reach: "win" or "draw"."""
        return "draw" if self.goal is Outcome.DRAW else "win"

    def verb(self, outcome: Outcome) -> str:
        """Return an outcome as the seat to act sees it: "wins", "draws" or "loses"."""
        if outcome is Outcome.DRAW:
            return "draws"
        return "wins" if (outcome is Outcome.WIN) == (self.seat == 0) else "loses"

    def faults(self) -> list[str]:
        """Return what contradicts itself in a puzzle that was read, in a few words each."""
        own = Outcome.WIN if self.seat == 0 else Outcome.LOSS
        found = {
            "solution is no choice": not 0 <= self.solution < len(self.choices),
            "an action is not of one of two seats": not all(
                len(pair) == 2 and type(pair[0]) is int and 0 <= pair[0] <= 1 for pair in self.actions
            ),
            "seat is not one of two": self.seat not in (0, 1),
            "there is nothing to keep": self.goal not in (own, Outcome.DRAW),
            "nobody has missed it": not self.misses,
        }
        if not any(found.values()):
            keeping = [number for number, choice in enumerate(self.choices) if choice.outcome is self.goal]
            found["another choice keeps the outcome"] = keeping != [self.solution]
        return [text for text, is_so in found.items() if is_so]
