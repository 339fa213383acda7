"""A single match between bots, outside any tournament."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.errors import UsageError
from arena.games import make_game
from arena.isolation.levels import choose_isolation
from arena.match.referee import Observer
from arena.match.runner import MatchRunner
from arena.players.building import build_bots
from arena.players.human import HumanPlayer
from arena.records import DEFAULT_LIMITS, Bot, Limits, MatchRecord, MatchSpec, TimeControl


def play_match(
    game: str,
    bots: Sequence[Bot],
    *,
    options: dict[str, Any] | None = None,
    rng_seed: int = 0,
    time_control: TimeControl | None = None,
    isolation: str = "auto",
    limits: Limits = DEFAULT_LIMITS,
    observer: Observer | None = None,
    people: Mapping[int, HumanPlayer] | None = None,
) -> MatchRecord:
    """Play one match in this process.

    Args:
        game: the game's name or dotted path.
        bots: one for each seat.
        options: the game's options.
        rng_seed: given to every bot.
        time_control: the time rules; by default one second per action.
        isolation: "auto", or a level that is demanded.
        limits: what a bot may use.
        observer: is shown each state.
        people: the seats that people sit in; ``bots`` has ``HUMAN`` there.

    Raises:
        UsageError: if the game, an option or the number of bots is not accepted, or a bot can't be built.
        VoidMatchError: if the arena itself failed.
    """
    rules = make_game(game, **(options or {}))
    if len(bots) != rules.players:
        raise UsageError(f"{len(bots)} bots: {game} is played here by {rules.players}")
    spec = MatchSpec(1, "", game, rules.options, tuple(bots), rng_seed, time_control=time_control or TimeControl())
    level = choose_isolation(isolation)
    build_bots(bots, level)
    with MatchRunner(level, limits) as runner:
        return runner.play(spec, observer, people)
