"""The games for OpenSpiel, and OpenSpiel's bots for the arena. Needs the extra ``openspiel``.

Importing this module registers the games of the package, as ``arena_differences`` and so on, with their options as
parameters; ``register`` does the same for an external game:

    import pyspiel
    from arena.interop.openspiel import register

    game = pyspiel.load_game("arena_differences(size=5)")
    hex7 = pyspiel.load_game(register("hex:Hex"), {"size": 7})

Returns are known at the end, from 1 for beating all others to -1; they sum to zero. ``run_bot`` turns anything with
OpenSpiel's ``step(state)`` into an arena bot.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, ClassVar

from arena.base.errors import UsageError
from arena.botkit import Clock, MatchInfo, run
from arena.games import GAMES, Game, find_game
from arena.games.game import IntOption
from arena.interop.spaces import GameSpace, kind_and_options, rewards, space_of

try:
    import numpy as np
    import pyspiel
except ImportError:
    raise UsageError(
        "games for OpenSpiel need the package open_spiel; try: pip install 'grid-arena[openspiel]'"
    ) from None

PREFIX = "arena_"


class ArenaGame(pyspiel.Game):  # type: ignore[misc]
    """A game of the arena as an OpenSpiel game: ``kind`` is its class, ``space`` has its actions and states as numbers.

    OpenSpiel's C++ side may return a game without its Python half, so states refer to the space instead of the game.
    """

    kind: ClassVar[type[Game[Any]]]

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        self.params = params or {}
        self.space = space_of(self.kind(**self.params))
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.space.actions),
            max_chance_outcomes=0,
            num_players=self.space.game.players,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.space.max_plies,
        )
        super().__init__(_game_type(self.kind), info, self.params)

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded_game, (self.kind, self.params)

    def new_initial_state(self, state: Any = None) -> ArenaState:
        """Return the state before the first action."""
        return ArenaState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> ArenaObserver:
        """Return the observer, which turns states into strings and tensors."""
        return ArenaObserver(self.space)


class ArenaState(pyspiel.State):  # type: ignore[misc]
    """A position as an OpenSpiel state; ``position`` is the arena's."""

    def __init__(self, game: ArenaGame) -> None:
        super().__init__(game)
        self.space = game.space
        self.position: Any = self.space.game.initial_state()

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded_state, (*kind_and_options(self.space.game), self.serialize())

    def current_player(self) -> int:
        """Return the seat to act."""
        seat = self.space.game.seat_to_act(self.position)
        return int(pyspiel.PlayerId.TERMINAL) if seat is None else seat

    def _legal_actions(self, player: int) -> list[int]:
        return self.space.legal_indices(self.position)

    def _apply_action(self, action: int) -> None:
        self.position = self.space.game.apply(self.position, self.space.actions[action])

    def _action_to_string(self, player: int, action: int) -> str:
        return self.space.game.format_action(self.space.actions[action])

    def is_terminal(self) -> bool:
        """Return whether the match has ended."""
        return self.space.game.is_over(self.position)

    def returns(self) -> list[float]:
        """Return each seat's reward; zero before the end."""
        if not self.is_terminal():
            return [0.0] * self.space.game.players
        return rewards(self.space.game, self.position)

    def __str__(self) -> str:
        return json.dumps(self.space.game.observation(self.position))


class ArenaObserver:
    """OpenSpiel's observer; all information is public, so all players observe the same."""

    def __init__(self, space: GameSpace) -> None:
        self._space = space
        self.tensor = np.zeros(space.length, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: ArenaState, player: int) -> None:
        """Fill the tensor."""
        self.tensor[:] = self._space.encode(state.position)

    def string_from(self, state: ArenaState, player: int) -> str:
        """Return the observation as JSON."""
        return str(state)


def register(game: str) -> str:
    """Make a game (a name, or a dotted path such as "hex:Hex") known to OpenSpiel, and return its name there.

    Raises:
        UsageError: if there is no such game, it has no method ``space``, or OpenSpiel can't have its name.
    """
    kind = find_game(game)
    space_of(kind())
    return _register(kind)


def run_bot(
    make_bot: Callable[[ArenaGame, int, int], Any], *, name: str | None = None, version: str | None = None
) -> None:
    """Play in the arena with an OpenSpiel bot.

    ``make_bot`` is called with the game, the seat and the match's rng_seed when a match begins, and returns an object
    whose ``step(state)`` returns the index of an action.
    """
    seated: dict[int, tuple[ArenaGame, Any]] = {}

    def begin(match: MatchInfo) -> None:
        game = _loaded_game(*kind_and_options(match.game))
        seated[match.seat] = game, make_bot(game, match.seat, match.rng_seed)

    def choose(rules: Game[Any], position: Any, clock: Clock) -> Any:
        seat = rules.seat_to_act(position)
        assert seat is not None
        game, bot = seated[seat]
        state = game.new_initial_state()
        state.position = position
        return game.space.actions[bot.step(state)]

    run(choose, on_match=begin, name=name, version=version)


def _loaded_game(kind: type[Game[Any]], options: dict[str, Any]) -> Any:
    return REGISTERED[_register(kind)](options)


def _loaded_state(kind: type[Game[Any]], options: dict[str, Any], serialized: str) -> Any:
    return _loaded_game(kind, options).deserialize_state(serialized)


def _register(kind: type[Game[Any]]) -> str:
    """Register the class of a game with OpenSpiel, unless it is, and return its name there.

    It is registered by a class, not a function, because OpenSpiel releases it after Python has shut down, when only
    classes are left.
    """
    name = f"{PREFIX}{kind.name}"
    if name in REGISTERED:
        known = REGISTERED[name].kind
        if (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
            raise UsageError(
                f"game {kind.name!r} of {kind.__module__}:{kind.__qualname__}: OpenSpiel has the one of"
                f" {known.__module__}:{known.__qualname__} under this name already; expected another name"
            )
        return name
    if not re.fullmatch(r"\w+", name, re.ASCII):
        raise UsageError(f"game {kind.name!r}: for OpenSpiel a name has only letters, digits and underscores")
    registered = type(f"Arena{kind.__name__}", (ArenaGame,), {"kind": kind})
    pyspiel.register_game(_game_type(kind), registered)
    REGISTERED[name] = registered
    return name


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


REGISTERED: dict[str, type[ArenaGame]] = {}
"""The classes by their names in OpenSpiel."""

for _kind in GAMES.values():
    _register(_kind)
