"""The games as PettingZoo environments (AEC, with action masks). Needs the extra ``pettingzoo``.

    from arena.interop.pettingzoo import env

    differences = env("differences", size=5)

An external game is named by its dotted path, and has a method ``space``. Agents are ``seat_0``, ``seat_1``, …. An
observation is a map of ``observation``, the vector of ``arena.interop.spaces``, and ``action_mask``. Rewards are given
at the end: from 1 for beating all others to -1.
"""

from __future__ import annotations

from typing import Any

from arena.base.errors import UsageError
from arena.games import Game, make_game
from arena.interop.spaces import rewards, space_of

try:
    import numpy as np
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError:
    raise UsageError(
        "environments need the packages pettingzoo and gymnasium; try: pip install 'grid-arena[pettingzoo]'"
    ) from None

RENDER_MODES = ["ansi", "human"]


def env(game: str, *, render_mode: str | None = None, **options: Any) -> Any:
    """Return an environment that is safe to use: an illegal action ends the match with a reward of -1.

    Args:
        game: the game's name or dotted path.
        render_mode: "ansi" if ``render`` shall return the drawn board, "human" if it shall print it.

    Raises:
        UsageError: if the game, an option or the render mode is not accepted, or the game has no method ``space``.
    """
    raw = raw_env(game, render_mode=render_mode, **options)
    return wrappers.OrderEnforcingWrapper(
        wrappers.AssertOutOfBoundsWrapper(wrappers.TerminateIllegalWrapper(raw, illegal_reward=-1))
    )


class raw_env(AECEnv):  # type: ignore[misc]  # noqa: N801 - PettingZoo's own name for it
    """The environment without wrappers. An illegal action raises IllegalActionError."""

    metadata = {"name": "arena", "render_modes": RENDER_MODES, "is_parallelizable": False}  # noqa: RUF012

    def __init__(self, game: str, *, render_mode: str | None = None, **options: Any) -> None:
        super().__init__()
        if render_mode not in (None, *RENDER_MODES):
            raise UsageError(f"render_mode = {render_mode!r}: expected 'ansi' or 'human', which draw boards as text")
        self.space = space_of(make_game(game, **options))
        self.metadata = {**type(self).metadata, "name": f"arena_{self.game.name}"}
        self.render_mode = render_mode
        self.possible_agents = [f"seat_{seat}" for seat in range(self.game.players)]
        actions = len(self.space.actions)
        self._observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(-1.0, 1.0, (self.space.length,), np.float32),
                    "action_mask": spaces.Box(0, 1, (actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}

    @property
    def game(self) -> Game[Any]:
        """The rules."""
        return self.space.game

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match. The games are deterministic, so the seed has no effect."""
        self.state_now = self.game.initial_state()
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self._acting()

    def _acting(self) -> str:
        seat = self.game.seat_to_act(self.state_now)
        return self.possible_agents[seat] if seat is not None else self.agents[0]

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the whole state, and the mask of the agent's legal actions."""
        mask = self.space.legal_mask(self.state_now)
        if agent != self._acting():
            mask[:] = 0
        return {"observation": self.space.encode(self.state_now), "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Play an action of the selected agent."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError("action = None: an agent that is still in the match must act")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self.state_now = self.game.apply(self.state_now, self.space.actions[int(action)])
        if self.game.is_over(self.state_now):
            self.rewards = dict(zip(self.possible_agents, rewards(self.game, self.state_now), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self.agent_selection = self._acting()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """Return the drawn board, or print it."""
        text = self.game.render(self.state_now)
        if self.render_mode == "human":
            print(text)
            return None
        return text

    def close(self) -> None:
        """Do nothing: the environment holds no resources."""
