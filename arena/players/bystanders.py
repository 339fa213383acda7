"""The bots that run in one place while one of them is to act: the others are to leave it the processor.

On a fast turn nobody is looked at. A turn that takes longer than ``FIRST_LOOK_SECONDS`` has them looked at, and so has
every look at the bot itself, which comes ten times a second: whoever works although it is to rest is stopped until it
is asked. What a bot may use of another's time is so bounded from the first turn on, at next to no cost.
"""

from __future__ import annotations

from typing import Protocol

FIRST_LOOK_SECONDS = 0.02
"""After so long a turn the others are looked at for the first time."""


class Running(Protocol):
    """A bot that can be looked at while another is to act."""

    def keep_still(self) -> None:
        """Stop it if it works although it is to rest."""

    def update_cpu(self) -> None:
        """Bring what is known of its CPU time up to date."""

    def possible_cpu_seconds(self) -> float:
        """Return the CPU time that it and all it started have used, with what they may have used unseen."""

    def cpu_seconds_at_rest(self) -> float:
        """Return what it has used since it was to rest; 0 if it need not."""


class Bystanders:
    """All bots that are running in one place.

    Attributes:
        looked_at: when they were last kept still, as ``time.perf_counter()`` tells.
    """

    def __init__(self) -> None:
        self.looked_at = 0.0
        self._bots: list[Running] = []

    def join(self, bot: Running) -> None:
        """Add a bot that has been launched."""
        self._bots.append(bot)

    def leave(self, bot: Running) -> None:
        """Remove a bot that has been ended."""
        if bot in self._bots:
            self._bots.remove(bot)

    def keep_still(self, acting: Running | None) -> None:
        """Stop all that work although they are to rest.

        Args:
            acting: the bot that is to act, if any.
        """
        for bot in self._bots:
            if bot is not acting:
                bot.keep_still()

    def update_cpu(self) -> None:
        """Bring what is known of everybody's CPU time up to date."""
        for bot in self._bots:
            bot.update_cpu()

    def possible_cpu_seconds(self) -> float:
        """Return the CPU time that all may have used together."""
        return sum(bot.possible_cpu_seconds() for bot in self._bots)

    def taken_seconds(self, acting: Running) -> float:
        """Return the CPU time that the others have used although they were to rest."""
        return sum(bot.cpu_seconds_at_rest() for bot in self._bots if bot is not acting)
