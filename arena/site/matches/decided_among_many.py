"""What decided a match of three or more, for which no action has one value: an elimination, or a lead that stayed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.base.errors import GameError
from arena.base.records import MatchRecord
from arena.games import Game


def eliminations(game: Game[Any], states: Sequence[Any]) -> list[tuple[int, int]]:
    """Return plies, each with a seat that is out from there on; none if the rules fail."""
    found = list[tuple[int, int]]()
    out_before: Sequence[int] = ()
    try:
        if not game.seats_out(states[-1]):
            return []
        for ply, state in enumerate(states):
            out = game.seats_out(state)
            found += [(ply, seat) for seat in out[len(out_before) :] if ply]
            out_before = out
    except GameError:
        return []
    return found


def decided_among_many(record: MatchRecord, game: Game[Any], states: Sequence[Any]) -> int | None:
    """Return the ply that decided a match of three or more; None if nothing did, or the match is of two.

    It is that of the last elimination, or since which the winner alone was ahead.
    """
    if len(record.bots) == 2 or len(record.bots) != game.players or len(states) <= len(record.actions):
        return None
    if record.faults or record.ranks.count(1) != 1:
        return None
    out = eliminations(game, states)
    if out:
        return out[-1][0]
    winner, since = record.ranks.index(1), None
    try:
        for ply in range(len(states) - 1, -1, -1):
            scores = game.scores(states[ply])
            if scores.count(max(scores)) > 1 or scores[winner] < max(scores):
                break
            since = ply
    except GameError:
        return None
    return since
