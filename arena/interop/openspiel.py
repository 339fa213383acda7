"""The games for OpenSpiel, and OpenSpiel's bots for the arena. Needs the extra ``openspiel``.

Importing this module registers ``arena_plusminus``, ``arena_plaid``, ``arena_coprimality``, ``arena_differences`` and
``arena_multiplication``, with the games' options as parameters:

    import pyspiel
    import arena.interop.openspiel

    game = pyspiel.load_game("arena_differences(size=5)")

Returns are known at the end, from 1 for beating all others to -1; they sum to zero. ``run_bot`` turns anything with
OpenSpiel's ``step(state)`` into an arena bot.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import pyspiel

from arena.botkit import Clock, MatchInfo, run
from arena.games import GAMES, Game, make_game
from arena.games.options import IntOption
from arena.interop.spaces import GameSpace, rewards, space_of

PREFIX = "arena_"


class Rules:
    """The arena's game with its actions and states as numbers.

    OpenSpiel's C++ side may return a game without its Python half, so states refer to this object instead of the game.
    A state is cloned by pickling; clones share one object for each game and its options.
    """

    def __init__(self, name: str, options: tuple[tuple[str, Any], ...]) -> None:
        self.game = make_game(name, **dict(options))
        self.space: GameSpace = space_of(self.game)
        self.index_of = self.space.index_of()

    def __reduce__(self) -> tuple[Any, ...]:
        return rules_of, (self.game.name, tuple(self.game.options.items()))


@lru_cache(maxsize=64)
def rules_of(name: str, options: tuple[tuple[str, Any], ...]) -> Rules:
    """Return the rules of a game with its options, the same object for equal arguments."""
    return Rules(name, options)


class ArenaGame(pyspiel.Game):  # type: ignore[misc]
    """A game of the arena as an OpenSpiel game.

    Attributes:
        kind: the arena's class of the game.
        rules: the arena's game with its options.
    """

    kind: ClassVar[type[Game[Any]]]

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        self.rules = rules_of(self.kind.name, tuple((params or {}).items()))
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.rules.space.actions),
            max_chance_outcomes=0,
            num_players=self.rules.game.players,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.rules.space.max_plies,
        )
        super().__init__(_game_type(self.kind), info, params or {})

    def new_initial_state(self, state: Any = None) -> ArenaState:
        """Return the state before the first action."""
        return ArenaState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> ArenaObserver:
        """Return the observer, which turns states into strings and tensors."""
        return ArenaObserver(self.rules)


class ArenaState(pyspiel.State):  # type: ignore[misc]
    """A position as an OpenSpiel state.

    Attributes:
        position: the arena's state.
    """

    def __init__(self, game: ArenaGame) -> None:
        super().__init__(game)
        self.rules = game.rules
        self.position: Any = self.rules.game.initial_state()

    def current_player(self) -> int:
        """Return the seat to act."""
        seat = self.rules.game.seat_to_act(self.position)
        return int(pyspiel.PlayerId.TERMINAL) if seat is None else seat

    def _legal_actions(self, player: int) -> list[int]:
        return sorted(self.rules.index_of[action] for action in self.rules.game.legal_actions(self.position))

    def _apply_action(self, action: int) -> None:
        self.position = self.rules.game.apply(self.position, self.rules.space.actions[action])

    def _action_to_string(self, player: int, action: int) -> str:
        return self.rules.game.format_action(self.rules.space.actions[action])

    def is_terminal(self) -> bool:
        """Return whether the match has ended."""
        return self.rules.game.is_over(self.position)

    def returns(self) -> list[float]:
        """Return each seat's reward; zero before the end."""
        if not self.is_terminal():
            return [0.0] * self.rules.game.players
        return rewards(self.rules.game, self.position)

    def __str__(self) -> str:
        return json.dumps(self.rules.game.observation(self.position))


class ArenaObserver:
    """OpenSpiel's observer; all information is public, so all players observe the same."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.tensor = np.zeros(len(rules.space.encode(rules.game.initial_state())), np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: ArenaState, player: int) -> None:
        """Fill the tensor."""
        self.tensor[:] = self._rules.space.encode(state.position)

    def string_from(self, state: ArenaState, player: int) -> str:
        """Return the observation as JSON."""
        return str(state)


def run_bot(
    make_bot: Callable[[ArenaGame, int, int], Any], *, name: str | None = None, version: str | None = None
) -> None:
    """Play in the arena with an OpenSpiel bot.

    Args:
        make_bot: called with the game, the seat and the match's rng_seed when a match begins; returns an object whose
            ``step(state)`` returns the index of an action.
        name: the bot's name.
        version: the bot's version.
    """
    seated: dict[int, tuple[ArenaGame, Any]] = {}

    def begin(match: MatchInfo) -> None:
        game = REGISTERED[match.game.name](match.game.options)
        seated[match.seat] = game, make_bot(game, match.seat, match.rng_seed)

    def choose(rules: Game[Any], position: Any, clock: Clock) -> Any:
        seat = rules.seat_to_act(position)
        assert seat is not None
        game, bot = seated[seat]
        state = game.new_initial_state()
        state.position = position
        return game.rules.space.actions[bot.step(state)]

    run(choose, on_match=begin, name=name, version=version)


def _max_players(kind: type[Game[Any]]) -> int:
    numbers = (option for option in kind.OPTIONS if isinstance(option, IntOption))
    return next((option.maximum for option in numbers if option.name == "players"), 2)


def _game_type(kind: type[Game[Any]]) -> Any:
    return pyspiel.GameType(
        short_name=f"{PREFIX}{kind.name}",
        long_name=f"Grid arena: {kind.name}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=_max_players(kind),
        min_num_players=2,
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={option.name: option.default for option in kind.OPTIONS},
    )


def _registered(kind: type[Game[Any]]) -> type[ArenaGame]:
    """Register the class of a game with OpenSpiel.

    It is a class, not a function, because OpenSpiel releases it after Python has shut down, when only classes are left.
    """
    found = type(f"Arena{kind.__name__}", (ArenaGame,), {"kind": kind})
    pyspiel.register_game(_game_type(kind), found)
    return found


REGISTERED = {kind.name: _registered(kind) for kind in GAMES.values()}
