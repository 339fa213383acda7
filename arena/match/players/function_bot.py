"""A bot that is a Python function: it plays in the arena's own process, without isolation."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from arena.base.records import Bot
from arena.botkit.seat import Choose
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.sandbox_policy import Isolation


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionBot(Bot):
    """A Python function as a bot.

    Attributes:
        function: called with the game, the state and the clock, as by ``arena.botkit.run``.
    """

    function: Choose = field(compare=False, repr=False)


def isolation_for(bots: Collection[Bot], wanted: str) -> Isolation:
    """Return the isolation level for some bots; functions alone need none, and nothing is tried out for them."""
    return Isolation() if bots and all(bot.is_function for bot in bots) else choose_isolation(wanted)
