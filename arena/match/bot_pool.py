"""Runs matches one after another in this process, launching each bot once and keeping it for the next match."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from arena.isolation.launch_spec import Isolation
from arena.match.referee import Observer, Referee
from arena.players.bystanders import Bystanders
from arena.players.human import HumanPlayer
from arena.players.process_player import ProcessPlayer
from arena.records import DEFAULT_LIMITS, Bot, Limits, MatchRecord, MatchSpec

KEPT_BOTS = 16
"""Bots that stay alive between matches; of more, those idle the longest are ended."""

NO_ISOLATION = Isolation()

_Place = tuple[Bot, int]
"""A bot, and which of its copies: a bot that plays itself runs once for each seat."""


class BotPool:
    """Plays match specs. Use as a context manager, so that no bot is left running."""

    def __init__(
        self, isolation: Isolation = NO_ISOLATION, limits: Limits = DEFAULT_LIMITS, fresh_bots: bool = False
    ) -> None:
        """Prepare to run matches.

        Args:
            isolation: the level from ``choose_isolation``.
            limits: what a bot may use.
            fresh_bots: launch every bot anew for every match.
        """
        self._isolation = isolation
        self._limits = limits
        self._fresh_bots = fresh_bots
        self._bystanders = Bystanders()
        self._players: dict[_Place, ProcessPlayer] = {}  # in the order of their last use

    def __enter__(self) -> BotPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def play(
        self, spec: MatchSpec, observer: Observer | None = None, people: Mapping[int, HumanPlayer] | None = None
    ) -> MatchRecord:
        """Play one match.

        Args:
            spec: the match.
            observer: is shown each state.
            people: the seats that people sit in; all others are taken by bots.

        Raises:
            VoidMatchError: if the arena itself failed; the bots of the match have been ended.
        """
        people = people or {}
        if spec.void_tries:
            self.close()  # somebody's rest may have been what disturbed the last try
        places = {seat: (bot, spec.bots[:seat].count(bot)) for seat, bot in enumerate(spec.bots) if seat not in people}
        bots = {seat: self._take(place) for seat, place in places.items()}
        for player in bots.values():
            player.is_stopped_off_turn = bool(spec.void_tries)
        seated = [people[seat] if seat in people else bots[seat] for seat in range(len(spec.bots))]
        try:
            record = Referee(spec, seated, self._isolation.label, observer).play()
        except BaseException:
            for player in bots.values():
                player.close()
            raise
        self._keep({place: bots[seat] for seat, place in places.items()})
        return record

    def _take(self, place: _Place) -> ProcessPlayer:
        """Return the player that was kept, or a new one."""
        if place in self._players:
            return self._players.pop(place)
        return ProcessPlayer(place[0], self._isolation, self._limits, self._bystanders)

    def _keep(self, players: dict[_Place, ProcessPlayer]) -> None:
        if self._fresh_bots:
            for player in players.values():
                player.close()
            return
        self._players.update(players)
        while len(self._players) > max(KEPT_BOTS, len(players)):
            self._players.pop(next(iter(self._players))).close()

    def close(self) -> None:
        """End every bot."""
        while self._players:
            self._players.popitem()[1].close()
