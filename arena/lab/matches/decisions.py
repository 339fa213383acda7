"""The positions of matches in which bots had to choose, each once up to symmetry, with what the bots did there."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from arena.base.errors import GameError, UsageError
from arena.base.records import MatchRecord
from arena.games import GAMES, make_game
from arena.games.game import Game
from arena.lab.solving.symmetries import symmetries_of
from arena.match.replay import states_of

MAX_POSITIONS = 100_000
"""Which are in memory, up to symmetry."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a bot did in a position.

    Attributes:
        game: the rules.
        record: the match.
        ply: how many actions led to the position.
        state: the position.
        after: the state after the bot's action.
    """

    game: Game[Any]
    record: MatchRecord
    ply: int
    state: Any
    after: Any


def decisions_by_position(records: Iterable[MatchRecord]) -> dict[Hashable, list[Decision]]:
    """Return all decisions of bots, by what positions have in common that are the same up to symmetry.

    Raises:
        UsageError: if a match is not for two, or there are too many positions.
        ReplayError: if a record contradicts the rules.
        GameError: if the states of a game can't be compared.
    """
    found = dict[Hashable, list[Decision]]()
    games = dict[Hashable, Game[Any]]()
    for record in records:
        if len(record.bots) != 2:
            raise UsageError(
                f"match {record.match}: {record.game} for {len(record.bots)}: only a game for two has one value, and"
                " so a puzzle"
            )
        name = (record.game, *sorted(record.options.items()))
        line = list(states_of(record))
        if name not in games:  # those of the arena as they are, for which there are kernels
            games[name] = make_game(record.game, **record.options) if record.game in GAMES else line[0][0]
        game = games[name]
        states = [state for _, state in line]
        try:
            keys = list(_up_to_symmetry(game, record, states))
        except TypeError as error:
            raise GameError(record.game, "initial_state", f"returned a state that is no value: {error}") from error
        for ply in range(record.opening_plies, len(record.actions)):
            decision = Decision(game, record, ply, states[ply], states[ply + 1])
            found.setdefault((name, keys[ply]), []).append(decision)
        if len(found) > MAX_POSITIONS:
            raise UsageError(f"there are more than {MAX_POSITIONS:,} positions; choose fewer by --max-matches")
    return found


def _up_to_symmetry(game: Game[Any], record: MatchRecord, states: Sequence[Any]) -> Iterator[Hashable]:
    """Yield each state of a match together with its images, which are the images of the line of play that led to it."""
    maps = symmetries_of(game, record.game)
    images = [states[0]] * len(maps)
    yield frozenset((states[0],))
    for state, (_, action) in zip(states[1:], record.actions, strict=True):
        images = [game.apply(image, one(action)) for image, one in zip(images, maps, strict=True)]
        yield frozenset((state, *images))
