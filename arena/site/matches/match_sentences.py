"""What decided a match, and the match in sentences: how it ended, its positions, and what annotations say of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.analysis.text.match_view import action_targets
from arena.base.enums import Termination
from arena.base.errors import GameError
from arena.base.records import MatchRecord
from arena.base.text import all_of, counted, score_text
from arena.games import Game
from arena.lab.matches.annotation import (
    Annotation,
    Mark,
    best_choices,
    turning_point,
    turning_sentence,
)
from arena.lab.solving.worth import SEATS, Worth, worth_text
from arena.site.matches.match_model import EqualActions, PositionAnnotation, Shape, Turning


def result_sentence(record: MatchRecord, names: Sequence[str], reader: int | None = None) -> str:
    """Return how a match ended; ``reader`` is the seat of the person who reads it, None where bots play alone."""
    if {fault.seat for fault in record.faults} == set(range(len(names))):
        return f"No bot played it to the end{_reason(record, names)}."
    return f"{_placing(record, names, reader)}{_reason(record, names)}."


def _placing(record: MatchRecord, names: Sequence[str], reader: int | None) -> str:
    first = sorted((seat for seat, rank in enumerate(record.ranks) if rank == 1), key=lambda seat: seat != reader)
    rest = sorted((seat for seat in range(len(names)) if seat not in first), key=lambda seat: record.ranks[seat])
    scores = " : ".join(score_text(record.scores[seat]) for seat in (*first, *rest))
    winners = all_of(["You" if seat == reader else names[seat] for seat in first])
    has_forfeit = bool(record.faults)
    if not rest:
        return f"{winners} tie {scores}" if not has_forfeit else winners
    verb = "share the first place" if len(first) > 1 else "win" if first == [reader] else "wins"
    if has_forfeit:
        return f"{winners} {verb}"
    if len(names) == len(SEATS) or not first:
        return f"{winners} {verb} {scores}"
    others = all_of([f"{'you' if seat == reader else names[seat]} {score_text(record.scores[seat])}" for seat in rest])
    return f"{winners} {verb} with {score_text(record.scores[first[0]])}, before {others}"


def _reason(record: MatchRecord, names: Sequence[str]) -> str:
    faults = all_of([f"{names[fault.seat]} forfeits ({fault.kind} at ply {fault.ply})" for fault in record.faults])
    if faults:
        return f": {faults}"
    if record.settled_ply is not None:
        return f", settled after {counted(record.settled_ply, 'ply')}: no play could change that"
    if record.termination is Termination.ADJUDICATION:
        return f", at the limit of {counted(record.ply_limit or len(record.actions), 'ply')}"
    return ""


def position_sentence(
    record: MatchRecord,
    names: Sequence[str],
    ply: int,
    action: str,
    scores: Sequence[int | float | None],
    due: int | None,
    reader: int | None = None,
) -> str:
    """Return a position as a sentence, for readers who do not see the board.

    Args:
        ply: how many actions led to it.
        action: the text of the last.
        scores: of each seat; None if the rules have none.
        due: the seat to act; None at the end.
        reader: the seat of the person who reads it; None where bots play alone.
    """
    parts = [_action_sentence(record, names, ply, action, reader)]
    if None not in scores:
        parts.append(f"scores {' : '.join(score_text(score or 0) for score in scores)}")
    if due is not None and due == reader:
        turn = "" if record.faults else " It is your turn."  # a forfeit has ended the match
        return f"{'; '.join(parts)}.{turn}"
    if due is not None and 0 <= due < len(names):
        parts.append(f"{names[due]} is to act")
    return f"{'; '.join(parts)}."


def _action_sentence(record: MatchRecord, names: Sequence[str], ply: int, action: str, reader: int | None) -> str:
    if not ply:
        return "The beginning"
    seat, raw = record.actions[ply - 1]
    if raw is None:
        return f"{names[seat]} is out"
    who = "You play" if seat == reader else f"{names[seat]} plays"
    return f"{who} {action}" + (", in the opening" if ply <= record.opening_plies else "")


# Annotations of positions in words; a page never asks an oracle itself.

MAX_CHOICES = 20_000
"""Legal actions that a page lists in all; of a larger match, those of the shown position alone."""

MAX_ACTION_CHARACTERS = 40


class AnnotatedPositions:
    """The annotations of the positions on a page."""

    def __init__(
        self,
        annotation: Annotation,
        names: Sequence[str],
        game: Game[Any],
        states: Sequence[Any],
        plies: range,
        wanted: int,
    ) -> None:
        """Choose positions.

        Args:
            states: before the first action and after each one.
            plies: of the positions on the page.
            wanted: the ply that is shown at first.
        """
        self._annotation = annotation
        self._names = names if len(set(names)) == len(SEATS) else SEATS
        self._game = game
        self._states = states
        count = sum(len(action.choices) for action in annotation.actions[plies.start : plies.stop])
        self._with_choices = plies if count <= MAX_CHOICES else range(wanted, wanted + 1)

    def at(self, ply: int) -> PositionAnnotation:
        """Return the annotation of a position."""
        annotation = self._annotation
        worth = annotation.worths[ply]
        has_choices = ply in self._with_choices and ply < len(annotation.actions)
        return PositionAnnotation(
            mark=annotation.mark(ply - 1) if ply else Mark.NONE,
            worth=worth_text(worth, self._names),
            margin=worth.margin,
            better=self._better(ply - 1) if ply and annotation.mark(ply - 1) else None,
            choices=self._choices(ply) if has_choices else (),
        )

    def _choices(self, ply: int) -> tuple[EqualActions, ...]:
        """Return the legal actions by what they are worth, the best first; none if the rules list others now."""
        action, marks = self._annotation.actions[ply], self._annotation.choice_marks(ply)
        texts = self._texts(ply)
        if not texts or len(texts) != len(action.choices):
            return ()
        groups: dict[tuple[Worth, Mark], list[int]] = {}
        order = [worth.order_for(action.seat) for worth in action.choices]
        for index in sorted(range(len(order)), key=order.__getitem__, reverse=True):
            groups.setdefault((action.choices[index], marks[index]), []).append(index)
        return tuple(
            EqualActions(
                worth=worth_text(worth, self._names),
                mark=mark,
                actions=tuple(texts[index] for index in indices),
                played=texts[action.chosen] if action.chosen in indices else "",
            )
            for (worth, mark), indices in groups.items()
        )

    def turning(self, record: MatchRecord) -> Turning | None:
        """Return the turning point of the match."""
        point = turning_point(record, self._annotation)
        if point is None or point.ply >= len(self._states):
            return None
        texts = self._texts(point.ply - 1)
        if not all(index < len(texts) for index in (self._annotation.actions[point.ply - 1].chosen, *point.best)):
            return None
        best = tuple(texts[index] for index in point.best)
        action = texts[self._annotation.actions[point.ply - 1].chosen]
        sentence = turning_sentence(point, self._names[point.seat], action, best)
        return Turning.of(point, best=best, sentence=sentence)

    def _better(self, index: int) -> Shape | None:
        """Return the shape on the board that stands for the best action in place of another one; None without one."""
        best = best_choices(self._annotation.actions[index])
        try:
            legal = self._game.legal_actions(self._states[index])
            chosen = [legal[number] for number in best[:1] if number < len(legal)]
            targets = action_targets(self._game, self._states[index], chosen)
        except GameError:
            return None
        return (*targets[0][:-1], "best") if targets and targets[0] is not None else None

    def _texts(self, ply: int) -> list[str]:
        try:
            legal = self._game.legal_actions(self._states[ply])
            return [str(self._game.format_action(action))[:MAX_ACTION_CHARACTERS] for action in legal]
        except GameError:
            return []


# What decided a match of three or more, for which no action has one value: an elimination, or a lead that stayed.


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
