"""A bot that plays one match after another for a check, and the options it is tried with."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from arena.base.errors import BotError, LateError, OptionError, UsageError
from arena.base.records import DEFAULT_PLY_LIMIT, Bot, Limits, MatchRecord, MatchSpec, TimeControl
from arena.games import Game, find_game, make_game
from arena.games.conformance.suite import variants
from arena.games.game import IntOption
from arena.match.players.player import Player, ScriptedPlayer
from arena.match.players.process_player import ProcessPlayer
from arena.match.referee import Referee
from arena.match.single_match import MAX_TRIES, play_until_judged
from arena.protocol.messages import Request, Seating
from arena.sandbox.isolation.sandbox_policy import Isolation


@dataclass
class TriedBot:
    """A bot, whose process is kept from match to match, unless the machine stood still in one."""

    bot: Bot
    isolation: Isolation
    limits: Limits
    time_control: TimeControl
    ply_limit: int = DEFAULT_PLY_LIMIT

    def __post_init__(self) -> None:
        self.player = ProcessPlayer(self.bot, self.isolation, self.limits, measures_peak=True)
        self.matches = 0

    def begin(self, game: str, options: Mapping[str, Any] | None = None) -> None:
        """Seat the bot in a match that is not played; try again while it is unknown whether it was ready in time."""
        rules = make_game(game, **(options or {}))
        seating = Seating(0, game, rules.options, rules.players, 0, 1, self.time_control)
        for _ in range(MAX_TRIES - 1):
            try:
                return self.player.begin(seating)
            except LateError:
                self.player.close()
        return self.player.begin(seating)

    def leaves(self, game: str, options: Mapping[str, Any] | None = None) -> bool:
        """Return whether the bot left by itself after ``quit``, the last time or in one of the next tries.

        On a busy machine a bot may not be given the processor in the time that it has for that.
        """
        for _ in range(MAX_TRIES - 1):
            if self.player.exited_by_itself:
                break
            with contextlib.suppress(BotError, LateError):
                self.begin(game, options)
            self.player.close()
        return self.player.exited_by_itself

    def play(
        self, game: str, options: Mapping[str, Any], seat: int, seed: int = 0, opening: Sequence[Any] = ()
    ) -> MatchRecord:
        """Play a match; the opponents draw from a seed, by default the number of the match."""
        self.matches += 1
        rules = make_game(game, **options)
        bots = [Bot(name="opponent", version="1", command=(), directory="")] * rules.players
        bots[seat] = self.bot
        spec = MatchSpec(
            match=self.matches,
            tournament="",
            game=game,
            options=rules.options,
            bots=tuple(bots),
            rng_seed=seed or 5,
            opening=0 if opening else None,
            opening_actions=tuple(opening),
            time_control=self.time_control,
            ply_limit=self.ply_limit,
        )
        return play_until_judged(partial(self._play_once, seat=seat, seed=seed or self.matches), spec)

    def _play_once(self, spec: MatchSpec, seat: int, seed: int) -> MatchRecord:
        draw = random.Random(seed)

        def choose(request: Request) -> object:
            return draw.choice(list(request.legal or ()))

        players: list[Player] = [ScriptedPlayer(choose) for _ in spec.bots]
        players[seat] = self.player
        try:
            return Referee(spec, players, self.isolation.label).play()
        except LateError:
            self.player.close()
            raise


# Which options a bot is tried with: unusual sizes in every seat, and every option at its bounds in one seat.

MAX_PLIES_OF_SEAT = 100
MAX_LISTED = 20_000
"""A variant is left out if a match of random actions has more plies for each seat, or lists more legal actions."""


class Bounds(NamedTuple):
    """The options of a game at their bounds that are tried, and those with which a match would take too long."""

    tried: list[dict[str, Any]]
    left_out: list[dict[str, Any]]


def bounds_of(game: str) -> Bounds:
    """Return the variants of a game that ``invalid_options`` does not have."""

    def fitting(changed: dict[str, Any]) -> Game[Any] | None:
        try:
            return make_game(game, **changed)
        except OptionError:
            return None

    bounds = Bounds([], [])
    invalid = invalid_options(game)
    for changed, rules in variants(find_game(game).OPTIONS, fitting):
        if changed not in invalid:
            (bounds.tried if _is_short(rules) else bounds.left_out).append(changed)
    return bounds


def _is_short(rules: Game[Any]) -> bool:
    draw = random.Random(0)
    state = rules.initial_state()
    listed = 0
    for _ in range(MAX_PLIES_OF_SEAT * rules.players + 1):
        if rules.is_over(state):
            return True
        legal = rules.legal_actions(state)
        listed += len(legal)
        if listed > MAX_LISTED:
            return False
        state = rules.apply(state, draw.choice(legal))
    return False


def invalid_options(game: str) -> list[dict[str, Any]]:
    """Return unusual options of a game: the smallest and an odd size, and three players where the game allows them."""
    unusual = []
    for option in find_game(game).OPTIONS:
        if not isinstance(option, IntOption):
            continue
        if option.name == "players":
            values = [3]
        elif option.name == "size":
            values = [option.minimum, option.default + 1 + option.default % 2]
        else:
            continue
        for value in values:
            try:
                make_game(game, **{option.name: value})
            except UsageError:
                continue
            if option.minimum <= value <= option.maximum and value != option.default:
                unusual.append({option.name: value})
    return unusual


def options_text(options: Mapping[str, Any]) -> str:
    """Return options as text, such as "size = 9"."""
    return ", ".join(f"{name} = {value}" for name, value in options.items())
