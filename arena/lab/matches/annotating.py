"""Annotates a match: asks the oracle what each position of the line that was played is worth, and each other action."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.base.errors import UsageError
from arena.base.records import MatchRecord
from arena.lab.matches.annotation import NOTHING_KNOWN, AnnotatedAction, Annotation
from arena.lab.matches.marks import points_for
from arena.lab.oracle import PREPARE_SECONDS, Oracle
from arena.lab.solving.limits import Limits
from arena.lab.solving.positions import rules_of
from arena.lab.solving.proofs import proof_of
from arena.lab.solving.worth import Known, Worth, ranks_follow_scores, worth_between
from arena.match.replay import ReplayError, states_of
from arena.store.results.rows import as_json

MATCH_SECONDS = 10.0
"""For what is not known in the end, in one match, and for one question."""

MAX_CHOICES = 1000
"""Legal actions of one position whose worths are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """A match with its annotation.

    Attributes:
        record: the match.
        annotation: what is known of it.
        ranks_follow_scores: whether a better outcome of this game always has a larger margin.
    """

    record: MatchRecord
    annotation: Annotation
    ranks_follow_scores: bool


class Annotator:
    """Annotates matches of one game with its options; what its oracle has learned serves all of them."""

    def __init__(
        self,
        game: str,
        options: dict[str, Any],
        limits: Limits,
        match_seconds: float = MATCH_SECONDS,
        clock: Callable[[], float] = lambda: time.monotonic(),
    ) -> None:
        """Prepare to annotate.

        Args:
            game: the game's name or dotted path.
            options: the values of its options.
            limits: the deadline of all matches, and the memory for tables and searches.
            match_seconds: how long one question may take, and how long may be spent in a match on questions that are
                not answered exactly.
            clock: returns the seconds since any instant.

        Raises:
            UsageError: if the game is not for two.
        """
        self._game = rules_of(game, options)
        if self._game.players != 2:
            raise UsageError(f"{game} with players = {self._game.players}: only matches of two can be annotated")
        self._path = game
        self._oracle = Oracle(self._game, game, limits, within_seconds=match_seconds)
        self._match_seconds = match_seconds
        self._clock = clock
        self._follows = ranks_follow_scores(self._game)
        self._oracle.prepare(PREPARE_SECONDS)

    def annotate(self, record: MatchRecord) -> Annotated:
        """Annotate a match.

        It goes from the end of the match to its beginning: the last positions are the easiest, and what is learned
        there helps with the others.

        Raises:
            ReplayError: if the record contradicts the rules.
        """
        states = [state for _, state in states_of(record)]
        actions = [self._action(record, states, index) for index in range(len(record.actions))]
        worths = [NOTHING_KNOWN] * len(states)
        left_seconds = self._match_seconds
        worths[-1] = self._oracle.worth(states[-1])
        for ply in reversed(range(len(actions))):
            if left_seconds <= 0:
                worths[ply] = self._proved(states[ply])
                continue
            began = self._clock()
            choices = self._choices(states[ply]) if worths[ply + 1].is_exact else ()
            worths[ply] = _best(actions[ply].seat, choices) if choices else self._oracle.worth(states[ply])
            actions[ply] = replace(actions[ply], choices=choices)
            if not choices:
                left_seconds -= self._clock() - began
        annotation = Annotation(opening_plies=record.opening_plies, worths=tuple(worths), actions=tuple(actions))
        return Annotated(record=record, annotation=annotation, ranks_follow_scores=self._follows)

    def _action(self, record: MatchRecord, states: Sequence[Any], index: int) -> AnnotatedAction:
        seat, action = record.actions[index]
        legal = [as_json(one) for one in self._game.legal_actions(states[index])]
        try:
            return AnnotatedAction(seat=seat, chosen=legal.index(as_json(action)))
        except ValueError:
            raise ReplayError(f"ply {index}: the action is not among those that the rules list as legal") from None

    def _choices(self, state: Any) -> tuple[Worth, ...]:
        """Return what the states after the legal actions are worth, if that is known exactly and not too much."""
        if len(self._game.legal_actions(state)) > MAX_CHOICES:
            return ()
        return tuple(one.worth for one in self._oracle.exact_actions(state) or ())

    def _proved(self, state: Any) -> Worth:
        proof = proof_of(self._game, self._path, state)
        return worth_between(proof.low, proof.high, Known.PROVED if proof.names else Known.SEARCH, self._follows)


def _best(seat: int, worths: Sequence[Worth]) -> Worth:
    """Return the best of exact worths for a seat."""
    return max(worths, key=lambda worth: (points_for(seat, worth.least), _margin(seat, worth)))


def _margin(seat: int, worth: Worth) -> float:
    margin = worth.margin or 0
    return margin if seat == 0 else -margin
