"""The annotation of a match: what its positions and other actions were worth, and the marks that follow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from arena.base.enums import Termination
from arena.base.errors import StoreError
from arena.base.records import MatchRecord
from arena.base.stored import from_json_text, is_whole
from arena.games import GAMES
from arena.lab.solving.worth import MAX_MARGIN, SIGNS, Known, Outcome, Worth, number_text
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament

SEATS = 2
"""The seats of a match that has one value."""


def is_analysed_here(game: str, seats: int) -> bool:
    """Return whether the site analyses matches of a game: the rules of others are not run where nobody has asked."""
    return game in GAMES and seats == SEATS


# Marks of actions: which ones lost something for certain. Where bounds leave a doubt there is no mark.

POINTS_OF_OUTCOME = {Outcome.LOSS: 0.0, Outcome.DRAW: 0.5, Outcome.WIN: 1.0}
"""For seat 0, as results count them; seat 1 has the rest."""


class Mark(StrEnum):
    """What an action lost."""

    NONE = ""
    MISTAKE = "?"
    BLUNDER = "??"


def points_for(seat: int, outcome: Outcome) -> float:
    """Return the points of a seat in a match that ends so for seat 0."""
    points = POINTS_OF_OUTCOME[outcome]
    return points if seat == 0 else 1.0 - points


def mark_of(seat: int, before: Worth, after: Worth) -> Mark:
    """Return the mark of a seat's action from the worths to seat 0 before and after it."""
    before, after = before.to(seat), after.to(seat)
    if SIGNS[after.most] < SIGNS[before.least]:
        return Mark.BLUNDER
    is_mistake = before.low is not None and after.high is not None and after.high < before.low
    return Mark.MISTAKE if is_mistake else Mark.NONE


# An annotation follows from the record, is never part of it, and is stored as text. It may come from another
# home, so every number is checked.

NOTHING_KNOWN = Worth(margin=None, outcome=None, known=Known.SEARCH, low=None, high=None)

MAX_CHARACTERS = 16 * 2**20
"""The most of a stored annotation; a longer one is not read."""

_WHERE = "an annotation"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedAction:
    """An action: its place among the legal ones, and the worths after each of these, unless some are not exact."""

    seat: int
    chosen: int
    choices: tuple[Worth, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """The worths to seat 0 before the first action and after each one."""

    opening_plies: int
    worths: tuple[Worth, ...]
    actions: tuple[AnnotatedAction, ...]

    def mark(self, index: int) -> Mark:
        """Return the mark of an action, by its place in the match from 0; none in the opening."""
        if index < self.opening_plies:
            return Mark.NONE
        return mark_of(self.actions[index].seat, self.worths[index], self.worths[index + 1])

    @property
    def unknown_before(self) -> int:
        """The ply before which a position after the opening is not known exactly; 0 if all are known."""
        plies = range(self.opening_plies, len(self.worths))
        return next((ply + 1 for ply in reversed(plies) if not self.worths[ply].is_exact), 0)

    def choice_marks(self, index: int) -> tuple[Mark, ...]:
        """Return the marks that the legal actions would have had, in their order."""
        action = self.actions[index]
        return tuple(mark_of(action.seat, self.worths[index], worth) for worth in action.choices)

    def without_choices(self) -> Annotation:
        """Return it without the worths of other actions, for where there is no room for them."""
        return replace(self, actions=tuple(replace(action, choices=()) for action in self.actions))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON types: each worth once, and everything else by its number."""
        numbers: dict[Worth, int] = {}

        def number(worth: Worth) -> int:
            return numbers.setdefault(worth, len(numbers))

        line = [number(worth) for worth in self.worths]
        actions = [[one.seat, one.chosen, [number(worth) for worth in one.choices]] for one in self.actions]
        worths = [[one.margin, one.known, one.low, one.high, one.least, one.most] for one in numbers]
        return {"opening_plies": self.opening_plies, "worths": worths, "line": line, "actions": actions}

    @classmethod
    def from_text(cls, text: str) -> Annotation:
        """Read a stored annotation; StoreError if it is malformed."""
        if len(text) > MAX_CHARACTERS:
            raise StoreError(f"{_WHERE} is malformed: it has more than {MAX_CHARACTERS} characters")
        stored = from_json_text(text, _WHERE)
        _check(isinstance(stored, dict) and set(stored) == {"opening_plies", "worths", "line", "actions"}, "its fields")
        worths = [_worth_from(value) for value in _list(stored["worths"], "its worths")]
        line = _numbered(stored["line"], worths, "its line")
        actions = tuple(_action_from(value, worths) for value in _list(stored["actions"], "its actions"))
        _check(len(line) == len(actions) + 1, "its line")
        _check(is_whole(stored["opening_plies"], 0, len(actions)), "opening_plies")
        return cls(opening_plies=stored["opening_plies"], worths=line, actions=actions)


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise StoreError(f"{_WHERE} is malformed: {what}")


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise StoreError(f"{_WHERE} is malformed: {what}")
    return value


def _numbered(value: object, worths: Sequence[Worth], what: str) -> tuple[Worth, ...]:
    numbers = _list(value, what)
    _check(all(is_whole(number, 0, len(worths) - 1) for number in numbers), what)
    return tuple(worths[number] for number in numbers)


def _action_from(value: object, worths: Sequence[Worth]) -> AnnotatedAction:
    fields = _list(value, "an action")
    _check(len(fields) == 3 and is_whole(fields[0], 0, 1) and is_whole(fields[1], 0), "an action")
    choices = _numbered(fields[2], worths, "the choices of an action")
    _check(not choices or fields[1] < len(choices), "the choices of an action")
    return AnnotatedAction(seat=fields[0], chosen=fields[1], choices=choices)


def _worth_from(value: object) -> Worth:
    fields = _list(value, "a worth")
    _check(len(fields) == 6, "a worth")
    margin, known, low, high, least, most = fields
    _check(known in tuple(Known) and least in tuple(Outcome) and most in tuple(Outcome), "words of a worth")
    _check(all(number is None or _is_margin(number) for number in (margin, low, high)), "a margin")
    _check(low is None or high is None or low <= high, "bounds of a margin")
    _check(SIGNS[Outcome(least)] <= SIGNS[Outcome(most)], "bounds of an outcome")
    _check(margin is None or (margin == low == high and least == most), "an exact worth")
    outcome = Outcome(least) if least == most else None
    return Worth(margin, outcome, Known(known), low, high, Outcome(least), Outcome(most))


def _is_margin(value: object) -> bool:
    return is_whole(value, -MAX_MARGIN, MAX_MARGIN) or (
        isinstance(value, float) and math.isfinite(value) and abs(value) <= MAX_MARGIN
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """A match with its annotation; ``ranks_follow_scores`` if better outcomes always have larger margins."""

    record: MatchRecord
    annotation: Annotation
    ranks_follow_scores: bool


# The annotation of a recorded match, as the store has it: read by what shows matches, so it imports little.


def annotation_of(store: Store, tournament: StoredTournament, record: MatchRecord) -> Annotation | None:
    """Return the annotation of a recorded match; None if it has none, or one that does not fit the record."""
    return _annotation_from(store.annotations.find(tournament, record.match), record)


def annotations_of(store: Store, matches: Sequence[tuple[StoredTournament, MatchRecord]]) -> list[Annotation | None]:
    """Return what ``annotation_of`` returns of each match, by one query for each tournament."""
    by_number = {tournament.number: tournament for tournament, _ in matches}
    texts = {
        number: store.annotations.find_all(
            tournament, [record.match for own, record in matches if own.number == number]
        )
        for number, tournament in by_number.items()
    }
    return [_annotation_from(texts[tournament.number].get(record.match), record) for tournament, record in matches]


def _annotation_from(text: str | None, record: MatchRecord) -> Annotation | None:
    if text is None:
        return None
    try:
        annotation = Annotation.from_text(text)
    except StoreError:
        return None
    has_same_opening = annotation.opening_plies == record.opening_plies and len(record.bots) == 2
    seats = [action.seat for action in annotation.actions]
    return annotation if has_same_opening and seats == [seat for seat, _ in record.actions] else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurningPoint:
    """The action that decided a match.

    Attributes:
        ply: the number of actions up to this one, included.
        seat: the seat that acted.
        best: the numbers of the best actions among the legal ones; none unless all are known exactly.
        before: what the position was worth to the seat.
        after: what it was worth to the seat after the action.
    """

    ply: int
    seat: int
    mark: Mark
    best: tuple[int, ...]
    before: Worth
    after: Worth

    @property
    def lost_margin(self) -> int | float:
        """The margin that the seat lost at least; 0 where nothing is known of it."""
        return 0 if self.before.low is None or self.after.high is None else self.before.low - self.after.high


def turning_point(record: MatchRecord, annotation: Annotation) -> TurningPoint | None:
    """Return the last action that changed the outcome; without one, the action that lost most margin for certain.

    None if no action lost anything for certain, or a forfeit or a limit decided the match.
    """
    if record.termination is not Termination.NORMAL:
        return None
    marked = [_point(annotation, index) for index in range(len(annotation.actions)) if annotation.mark(index)]
    blunders = [point for point in marked if point.mark is Mark.BLUNDER]
    return blunders[-1] if blunders else max(marked, key=lambda point: point.lost_margin, default=None)


def _point(annotation: Annotation, index: int) -> TurningPoint:
    action = annotation.actions[index]
    return TurningPoint(
        ply=index + 1,
        seat=action.seat,
        mark=annotation.mark(index),
        best=best_choices(action),
        before=annotation.worths[index].to(action.seat),
        after=annotation.worths[index + 1].to(action.seat),
    )


def best_choices(action: AnnotatedAction) -> tuple[int, ...]:
    """Return the numbers of the best actions among the legal ones; none if they are not known exactly."""
    values = [worth.order_for(action.seat) for worth in action.choices]
    return tuple(index for index, value in enumerate(values) if value == max(values))


def outcome_noun(outcome: Outcome) -> str:
    """Return an outcome to a seat as a noun, such as "a win"."""
    return f"a {outcome}"


def turning_sentence(point: TurningPoint, name: str, action: str, best: Sequence[str]) -> str:
    """Return a turning point as a sentence.

    Args:
        point: the turning point.
        name: of the bot that acted.
        action: what it played, as text.
        best: the best actions there, as text; empty if they are not known.
    """
    others = f" and {len(best) - 1} more" if len(best) > 1 else ""
    margin = f" ({number_text(point.before.margin)})" if point.before.margin else ""
    alternatives = f"; {best[0]}{others} held it{margin}" if best else ""
    return f"Ply {point.ply}, {name}: {action}{point.mark} {_loss(point)}{alternatives}."


def _loss(point: TurningPoint) -> str:
    before, after = point.before.least, point.after.most
    if point.mark is Mark.BLUNDER:
        if (before, after) == (Outcome.WIN, Outcome.LOSS):
            return "turned a win into a loss"
        return f"gave away {outcome_noun(before)}"
    is_known = point.before.is_exact and point.after.is_exact
    return f"lost {'' if is_known else 'at least '}{number_text(point.lost_margin).removeprefix('+')} of margin"
