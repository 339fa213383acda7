"""A person in a seat: asked through a function, without a clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from arena.errors import BotError
from arena.players.player import Answer, Player, Request
from arena.protocol.messages import Seating, Wants
from arena.records import Bot, Fault, SeatReport

HUMAN = Bot("human", "1", (), "")


class HumanPlayer(Player):
    """Answers with what a person types."""

    def __init__(self, read: Callable[[int, Request], Any]) -> None:
        """Seat a person.

        Args:
            read: is given the seat and the request and returns a legal action; raises EOFError when nobody is there.
        """
        self.wants = Wants(observation=False)
        self._read = read
        self._seat = 0

    def begin(self, seating: Seating) -> None:
        """Take the seat."""
        self._seat = seating.seat

    def ask(self, request: Request) -> Answer:
        """Wait for the person, as long as it takes."""
        asked = time.perf_counter()
        try:
            action = self._read(self._seat, request)
        except EOFError as error:
            raise BotError("exit", "the input ended") from error
        return Answer(action, time.perf_counter() - asked)

    def end(
        self, ranks: Sequence[int], scores: Sequence[float], termination: str, faults: Sequence[Fault]
    ) -> SeatReport:
        """Leave the seat."""
        return SeatReport(exit="human")
