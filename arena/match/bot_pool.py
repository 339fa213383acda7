"""Plays matches one after another in this process; each bot is launched once and kept for the next match."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from types import TracebackType
from typing import NamedTuple

from arena.base.errors import UsageError
from arena.base.records import DEFAULT_LIMITS, Bot, Limits, MatchRecord, MatchSpec
from arena.match.players.function_player import FunctionBot, FunctionPlayer
from arena.match.players.off_turn import RunningBots
from arena.match.players.player import HumanPlayer
from arena.match.players.process_player import ProcessPlayer
from arena.match.referee import Observer, Referee
from arena.sandbox.isolation.sandbox_policy import Isolation

KEPT_BOTS = 16
"""The most bots that stay alive between matches; those idle the longest are ended first."""

NO_ISOLATION = Isolation()

IN_PROCESS = "in-process"
"""The isolation of a match in which a Python function plays, as records show it."""


class PoolKey(NamedTuple):
    """The key of a kept player: a bot and the number of its copy: a bot that plays itself runs once for each seat."""

    bot: Bot
    copy: int


class BotPool:
    """Plays match specs. Use as a context manager, so that no bot is left running.

    Attributes:
        players: the bots that are kept, those idle the longest first.
    """

    def __init__(
        self,
        isolation: Isolation = NO_ISOLATION,
        limits: Limits = DEFAULT_LIMITS,
        fresh_bots: bool = False,
        shares_cores: bool = False,
    ) -> None:
        """Prepare to play matches; ``shares_cores``: another arena plays on the same cores, and records say so."""
        self.players: dict[PoolKey, ProcessPlayer | FunctionPlayer] = {}
        self.referee: Referee | None = None
        self._isolation = isolation
        self._limits = limits
        self._fresh_bots = fresh_bots
        self._shares_cores = shares_cores
        self._running_bots = RunningBots()

    def __enter__(self) -> BotPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close(is_interrupted=isinstance(error, KeyboardInterrupt))

    def play(
        self,
        spec: MatchSpec,
        observer: Observer | None = None,
        people: Mapping[int, HumanPlayer] | None = None,
        before_asking: Callable[[], None] | None = None,
    ) -> MatchRecord:
        """Play one match.

        Args:
            before_asking: called before a player is asked, when no clock runs.

        Raises:
            VoidMatchError: if the arena itself failed; the bots of the match have been ended.
        """
        people = people or {}
        for person in people.values():
            person.watching = self.watched
        if spec.void_tries:
            self.close()  # a bot that should have been idle may have disturbed the last try
        keys = {
            seat: PoolKey(bot, spec.bots[:seat].count(bot)) for seat, bot in enumerate(spec.bots) if seat not in people
        }
        bots = {seat: self.take(key) for seat, key in keys.items()}
        self.freeze_kept()
        if spec.void_tries:
            for player in bots.values():
                player.is_frozen_off_turn = True
        seated = [people[seat] if seat in people else bots[seat] for seat in range(len(spec.bots))]
        try:
            self.referee = Referee(spec, seated, self._label(spec), observer, before_asking)
            record = self.referee.play()
        except BaseException as error:
            for player in bots.values():
                _close(player, is_interrupted=isinstance(error, KeyboardInterrupt))
            raise
        finally:
            self.referee = None
        self._keep_for_next_match({key: bots[seat] for seat, key in keys.items()})
        return replace(record, shares_cores=True) if self._shares_cores else record

    def watched(self) -> AbstractContextManager[None]:
        """Return a context in which no match is played, or a person thinks: all bots are watched meanwhile."""
        self.freeze_kept()
        return self._running_bots.watched()

    def freeze_kept(self) -> None:
        """Freeze all bots that are kept: none of them is in a match now.

        A bot whose next match begins at once is not frozen in between, which would cost 13 µs and disturbs nobody.
        """
        for player in self.players.values():
            if isinstance(player, ProcessPlayer):
                player.freeze()

    def _label(self, spec: MatchSpec) -> str:
        return IN_PROCESS if any(bot.is_function for bot in spec.bots) else self._isolation.label

    def take(self, key: PoolKey) -> ProcessPlayer | FunctionPlayer:
        """Return the player that is kept under a key, which is no longer kept then, or a new one."""
        if (player := self.players.pop(key, None)) is not None:
            return player
        if isinstance(key.bot, FunctionBot):
            return FunctionPlayer(key.bot, self._limits)
        if key.bot.is_function:
            raise UsageError(f"bot {key.bot.label!r} is a Python function: it plays only in a process that has it")
        return ProcessPlayer(key.bot, self._isolation, self._limits, self._running_bots)

    def _keep_for_next_match(self, players: Mapping[PoolKey, ProcessPlayer | FunctionPlayer]) -> None:
        if self._fresh_bots:
            for player in players.values():
                player.close()
            return
        self.players.update(players)
        while len(self.players) > max(KEPT_BOTS, len(players)):
            self.players.pop(next(iter(self.players))).close()

    def close(self, *, is_interrupted: bool = False) -> None:
        """End every bot; if this program ``is_interrupted`` and is to end at once, none is waited for."""
        while self.players:
            _close(self.players.popitem()[1], is_interrupted)


def _close(player: ProcessPlayer | FunctionPlayer, is_interrupted: bool) -> None:
    if is_interrupted:
        player.close(grace_seconds=0)
    else:
        player.close()
