"""A person in a seat: asked through a function, without a clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from arena.base.bot_text import BotText
from arena.base.enums import Termination
from arena.base.errors import ArenaError
from arena.base.records import Bot, Fault, SeatReport
from arena.match.players.player import Answer, Player, Request
from arena.protocol.messages import Seating, Wants

HUMAN = Bot(name="human", version="1", command=(), directory="")
"""Stands for a person among the bots of a match."""


class TakenBackError(ArenaError):
    """A person wants to take an action back: the match is broken off, and may begin again from an earlier state.

    Attributes:
        kept: how many actions stay.
    """

    def __init__(self, kept: int) -> None:
        super().__init__(f"everything after {kept} actions is taken back")
        self.kept = kept


class LeftMatchError(ArenaError):
    """A person has left the match before its end; the text is a sentence."""


class HumanPlayer(Player):
    """Answers with what a person types.

    Attributes:
        watching: entered while the person is waited for: the bots of the match are watched meanwhile.
    """

    def __init__(self, read: Callable[[int, Request], Any]) -> None:
        """Seat a person.

        Args:
            read: called with the seat and the request; returns a legal action, or raises TakenBackError or
                LeftMatchError to break the match off.
        """
        self.wants = Wants(observation=False)
        self.watching: Callable[[], AbstractContextManager[None]] = nullcontext
        self._read = read
        self._seat = 0

    def begin(self, seating: Seating) -> None:
        """Take the seat."""
        self._seat = seating.seat

    def ask(self, request: Request) -> Answer:
        """Wait for the person, as long as it takes."""
        asked = time.perf_counter()
        with self.watching():
            action = self._read(self._seat, request)
        return Answer(action, time.perf_counter() - asked)

    def end(
        self, ranks: Sequence[int], scores: Sequence[float], termination: Termination, faults: Sequence[Fault]
    ) -> SeatReport:
        """Leave the seat."""
        return SeatReport(exit=BotText("human"))
