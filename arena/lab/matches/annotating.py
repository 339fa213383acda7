"""Annotates matches of a tournament with what the oracle knows, and analyses single positions."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.base.errors import UsageError
from arena.base.records import MatchRecord
from arena.games import Game
from arena.lab.matches.accuracy import accuracy_of, seats_to_json
from arena.lab.matches.annotation import (
    NOTHING_KNOWN,
    Annotated,
    AnnotatedAction,
    Annotation,
    Mark,
    mark_of,
)
from arena.lab.oracle import PREPARE_SECONDS, ActionWorth, Oracle
from arena.lab.solving.limits import Limits
from arena.lab.solving.positions import rules_of
from arena.lab.solving.proofs import proof_of
from arena.lab.solving.worth import Known, Worth, ranks_follow_scores, worth_between
from arena.match.replay import ReplayError, states_of
from arena.store.results.annotations import AnnotationRow
from arena.store.results.rows import as_json
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament

MATCH_SECONDS = 10.0
"""The time for one question, and in one match for all questions without an exact answer."""

MAX_CHOICES = 1000
"""The most legal actions of a position whose worths are kept."""


class Annotator:
    """Annotates matches of one game with its options; what its oracle has learned serves all of them."""

    def __init__(
        self,
        game: str,
        options: dict[str, Any],
        limits: Limits,
        match_seconds: float = MATCH_SECONDS,
        prepare_seconds: float = PREPARE_SECONDS,
        counts_all: bool = False,
    ) -> None:
        """Annotate matches of a game for two (UsageError for others) until the deadline of ``limits``.

        ``match_seconds`` bounds one question, and in each match the questions without an exact answer together; with
        ``counts_all`` also the others.
        """
        self._game = rules_of(game, options)
        if self._game.players != 2:
            raise UsageError(f"{game} with players = {self._game.players}: only matches of two can be annotated")
        self._path = game
        self._oracle = Oracle(self._game, game, limits, within_seconds=match_seconds)
        self._match_seconds, self._counts_all = match_seconds, counts_all
        self._follows = ranks_follow_scores(self._game)
        self._oracle.prepare(prepare_seconds)

    def annotate(self, record: MatchRecord) -> Annotated:
        """Annotate a match; ReplayError if the record contradicts the rules.

        It goes from the end to the beginning: the last positions are the easiest, and what they teach helps with the
        others.
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
            began = time.monotonic()
            choices = self._choices(states[ply]) if worths[ply + 1].is_exact else ()
            if choices:
                worths[ply] = max(choices, key=lambda worth: worth.order_for(record.actions[ply][0]))
            else:
                worths[ply] = self._oracle.worth(states[ply])
            actions[ply] = replace(actions[ply], choices=choices)
            if self._counts_all or not choices:
                left_seconds -= time.monotonic() - began
        annotation = Annotation(opening_plies=record.opening_plies, worths=tuple(worths), actions=tuple(actions))
        return Annotated(record=record, annotation=annotation, ranks_follow_scores=self._follows)

    def _action(self, record: MatchRecord, states: Sequence[Any], index: int) -> AnnotatedAction:
        seat, action = record.actions[index]
        legal = [as_json(choice) for choice in self._game.legal_actions(states[index])]
        try:
            return AnnotatedAction(seat=seat, chosen=legal.index(as_json(action)))
        except ValueError:
            raise ReplayError(f"ply {index}: the action is not among those that the rules list as legal") from None

    def _choices(self, state: Any) -> tuple[Worth, ...]:
        """Return the worths after the legal actions if they are known exactly and are few enough."""
        if len(self._game.legal_actions(state)) > MAX_CHOICES:
            return ()
        return tuple(choice.worth for choice in self._oracle.exact_actions(state) or ())

    def _proved(self, state: Any) -> Worth:
        proof = proof_of(self._game, self._path, state)
        return worth_between(proof.low, proof.high, Known.PROVED if proof.names else Known.SEARCH, self._follows)


# Annotates the matches of a tournament, and keeps the annotations in the store.

BATCH_MATCHES = 50
BATCH_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAnnotated:
    """The number of a match without an annotation, and a sentence why."""

    match: int
    reason: str


class TournamentAnnotator:
    """Annotates matches of a tournament, with one annotator for each of its games."""

    def __init__(
        self, store: Store, tournament: StoredTournament, annotator: Callable[[str, dict[str, Any]], Annotator]
    ) -> None:
        """Annotate a tournament; ``annotator`` makes one for a game with its options."""
        self._store, self._tournament, self._annotator_for = store, tournament, annotator
        self._annotators: dict[str, Annotator | UsageError] = {}

    def annotate(
        self, game: str | None = None, match: int | None = None, again: bool = False
    ) -> Generator[Annotated | NotAnnotated, None, None]:
        """Annotate the matches of a game, or one, that have no annotation yet (``again``: or have one).

        It writes in batches: an interruption loses nothing that was yielded before it. StoreError if a record is
        malformed.
        """
        waiting: list[AnnotationRow] = []
        written = time.monotonic()
        rows = self._store.annotations.to_annotate(self._tournament, game=game, match=match, again=again)
        try:
            for actions_hash, record in rows:
                annotated = self._annotated(record)
                if isinstance(annotated, Annotated):
                    waiting.append(_row(actions_hash, annotated))
                if len(waiting) >= BATCH_MATCHES or time.monotonic() >= written + BATCH_SECONDS:
                    self._write(waiting)
                    written = time.monotonic()
                yield annotated
        finally:
            self._write(waiting)

    def _annotated(self, record: MatchRecord) -> Annotated | NotAnnotated:
        annotator = self._annotator(record)
        if isinstance(annotator, UsageError):
            return NotAnnotated(match=record.match, reason=str(annotator))
        try:
            return annotator.annotate(record)
        except (ReplayError, UsageError) as error:
            return NotAnnotated(match=record.match, reason=str(error))

    def _annotator(self, record: MatchRecord) -> Annotator | UsageError:
        key = as_json([record.game, record.options])
        if key not in self._annotators:
            try:
                self._annotators[key] = self._annotator_for(record.game, dict(record.options))
            except UsageError as error:
                self._annotators[key] = error
        return self._annotators[key]

    def _write(self, waiting: list[AnnotationRow]) -> None:
        self._store.annotations.write(self._tournament, waiting)
        waiting.clear()


def _row(actions_hash: str, annotated: Annotated) -> AnnotationRow:
    return AnnotationRow(
        match=annotated.record.match,
        actions_hash=actions_hash,
        accuracy=as_json(seats_to_json(accuracy_of(annotated))),
        body=as_json(annotated.annotation.to_json()),
    )


# Analyses one position: what it is worth, what each legal action is worth, and a line of best play.

MAX_LINE = 1000
"""The most actions of the best line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedAction(ActionWorth):
    """A legal action with its worth, its text, and the mark that it would have in a match."""

    text: str
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The worth of a position to seat 0, its legal actions in order, and the exact line of best play from here on."""

    seat: int
    worth: Worth
    actions: tuple[AnalysedAction, ...]
    best_line: tuple[Any, ...]


def analyse(game: Game[Any], oracle: Oracle, state: Any) -> Analysis:
    """Analyse a position; UsageError if the match is over there."""
    seat = game.seat_to_act(state)
    if seat is None:
        raise UsageError("the match is over in this position: there is nothing to choose")
    actions = oracle.actions(state)
    worth = oracle.worth(state)  # after its actions, from which a search has learned
    analysed = tuple(
        AnalysedAction(
            action=choice.action,
            text=game.format_action(choice.action),
            worth=choice.worth,
            mark=mark_of(seat, worth, choice.worth),
        )
        for choice in actions
    )
    return Analysis(seat=seat, worth=worth, actions=analysed, best_line=_best_line(game, oracle, state, worth, actions))


def _best_line(
    game: Game[Any], oracle: Oracle, state: Any, worth: Worth, actions: Sequence[ActionWorth]
) -> tuple[Any, ...]:
    line: list[Any] = []
    while actions and worth.is_exact and len(line) < MAX_LINE:
        best = next((choice for choice in actions if choice.worth.has_value_of(worth)), None)
        if best is None:  # a search was stopped
            break
        line.append(best.action)
        state, worth = game.apply(state, best.action), best.worth
        actions = [] if game.is_over(state) else oracle.actions(state)
    return tuple(line)
