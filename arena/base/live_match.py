"""A match while it is played, as the arena sends it to whoever watches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.base.records import Fault
from arena.base.seat_report import checks_of_play, fields_of, require
from arena.base.stored import from_stored


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSummary:
    """A ``LiveMatch`` without its actions; ``plies`` is their number."""

    match: int
    started_at: str
    plies: int
    seat: int | None = None
    since: str
    allowed_seconds: float | None = None
    bank_seconds: tuple[float | None, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, stored: object) -> LiveSummary:
        """Return a summary from its JSON; StoreError if it has an unknown field, or is malformed."""
        return from_stored(cls, stored, "the summary of a live match")


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveMatch:
    """A match that has no record yet. What is in records too has the same names and the same form.

    Attributes:
        match: its number in the tournament, from 1.
        started_at: UTC, ISO 8601; another one if the match is played again.
        actions: ``[seat, action]`` each, the opening included; the action is None where a seat was taken out.
        wall_seconds: parallel to ``actions``; None in the opening.
        cpu_seconds: parallel to ``actions``; None where it can't be measured.
        left_out: how many more actions there are, because all of them would be too large; then there are none here, and
            no faults.
        seat: the seat that was asked for the next action; None before the first question and after the last answer.
        since: when it was asked, UTC, ISO 8601; without a seat, when the match began.
        allowed_seconds: how long the action may take, at ``since``: the lower of the limit per action and the bank.
        bank_seconds: what each seat had left in its bank at ``since``; None without one.
    """

    match: int
    started_at: str
    actions: tuple[Sequence[Any], ...]
    wall_seconds: tuple[float | None, ...]
    cpu_seconds: tuple[float | None, ...]
    left_out: int = 0
    faults: tuple[Fault, ...] = ()
    seat: int | None = None
    since: str
    allowed_seconds: float | None = None
    bank_seconds: tuple[float | None, ...]

    @property
    def summary(self) -> LiveSummary:
        """The state of the match, without its actions."""
        same = {name: getattr(self, name) for name in LiveSummary.__slots__ if name != "plies"}
        return LiveSummary(plies=len(self.actions) + self.left_out, **same)

    def without_actions(self) -> LiveMatch:
        """Return the same match with all actions left out."""
        plies = len(self.actions) + self.left_out
        return replace(self, actions=(), wall_seconds=(), cpu_seconds=(), faults=(), left_out=plies)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON types, with what bots have said, to store it."""
        values = {name: getattr(self, name) for name in self.__slots__}
        values["faults"] = [fields_of(fault) for fault in self.faults]
        return values

    @classmethod
    def from_json(cls, stored: object) -> LiveMatch:
        """Return a live match from its JSON; StoreError if it has an unknown field, or is malformed."""
        live = from_stored(cls, stored, "a live match")
        require(live._checks(), "a live match")
        return live

    def _checks(self) -> Iterator[tuple[str, bool]]:
        seats, plies = len(self.bank_seconds), len(self.actions)
        yield from checks_of_play(self, seats)
        yield "actions are left out of some", self.left_out == 0 or (self.left_out > 0 and plies == 0)
        yield "seat is not one of the seats", self.seat is None or 0 <= self.seat < seats
