"""A bot that plays one match after another against opponents that draw their actions, with one process."""

from __future__ import annotations

import contextlib
import random
from functools import partial
from typing import Any

from arena.base.errors import BotError, LateError
from arena.base.records import Bot, Limits, MatchRecord, MatchSpec, TimeControl
from arena.games import make_game
from arena.match.late_tries import MAX_TRIES, play_until_judged
from arena.match.players.player import Player, Request
from arena.match.players.process_player import ProcessPlayer
from arena.match.players.scripted import ScriptedPlayer
from arena.match.referee import Referee
from arena.protocol.messages import Seating
from arena.sandbox.isolation.sandbox_policy import Isolation


class TriedBot:
    """A bot, and the matches it has played.

    Attributes:
        player: it; its process is kept from match to match, unless the machine stood still in one.
        matches: how many have begun.
    """

    def __init__(self, bot: Bot, isolation: Isolation, limits: Limits, time_control: TimeControl) -> None:
        self.player = ProcessPlayer(bot, isolation, limits, measures_peak=True)
        self.matches = 0
        self._bot = bot
        self._isolation = isolation
        self._time_control = time_control

    def begin(self, game: str) -> None:
        """Seat it in a match that is not played, again while nobody can tell whether it was ready in time.

        Raises:
            BotError: if it does not start.
            LateError: if nobody can tell after several tries.
        """
        rules = make_game(game)
        seating = Seating(0, game, rules.options, rules.players, 0, 1, self._time_control)
        for _ in range(MAX_TRIES - 1):
            try:
                return self.player.begin(seating)
            except LateError:
                self.player.close()
        return self.player.begin(seating)

    def leaves(self, game: str) -> bool:
        """Return whether it left by itself after ``quit``, the last time or in one of the next tries.

        On a busy machine a bot may not be given the processor in the time that it has for that.
        """
        for _ in range(MAX_TRIES - 1):
            if self.player.exited_by_itself:
                break
            with contextlib.suppress(BotError, LateError):
                self.begin(game)
            self.player.close()
        return self.player.exited_by_itself

    def play(self, game: str, options: dict[str, Any], seat: int, seed: int = 0) -> MatchRecord:
        """Play a match.

        Args:
            game: the game's name or dotted path.
            options: its options.
            seat: the bot's seat.
            seed: what the opponents draw from; by default the number of the match.
        """
        self.matches += 1
        rules = make_game(game, **options)
        bots = [Bot(name="opponent", version="1", command=(), directory="")] * rules.players
        bots[seat] = self._bot
        spec = MatchSpec(
            match=self.matches,
            tournament="",
            game=game,
            options=rules.options,
            bots=tuple(bots),
            rng_seed=seed or 5,
            time_control=self._time_control,
        )
        return play_until_judged(partial(self._play_once, seat=seat, seed=seed or self.matches), spec)

    def _play_once(self, spec: MatchSpec, seat: int, seed: int) -> MatchRecord:
        draw = random.Random(seed)

        def choose(request: Request) -> object:
            return draw.choice(list(request.legal or ()))

        players: list[Player] = [ScriptedPlayer(choose) for _ in spec.bots]
        players[seat] = self.player
        try:
            return Referee(spec, players, self._isolation.label).play()
        except LateError:
            self.player.close()
            raise
