"""The turning point of a match: the action that decided it, found in one place for pages, JSON and commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.base.enums import Termination
from arena.base.records import MatchRecord
from arena.lab.matches.annotation import AnnotatedAction, Annotation, Mark, points_for
from arena.lab.solving.worth import Outcome, Worth, number_text


@dataclass(frozen=True, slots=True, kw_only=True)
class TurningPoint:
    """The action that decided a match.

    Attributes:
        ply: how many actions there were with it.
        seat: that acted.
        best: places among the legal actions of those that were best there; none if not all are known exactly.
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
    """Return the last action that changed the outcome; without one, that which lost most margin for certain.

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


def choice_value(seat: int, worth: Worth) -> tuple[float, float]:
    """Return what orders legal actions by the worths after them, for the seat that acts."""
    return points_for(seat, worth.least), worth.to(seat).margin or 0


def best_choices(action: AnnotatedAction) -> tuple[int, ...]:
    """Return the places of the best legal actions, in their order; none if they are not known exactly."""
    values = [choice_value(action.seat, worth) for worth in action.choices]
    return tuple(place for place, value in enumerate(values) if value == max(values))


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
    held = f"; {best[0]}{others} held it{margin}" if best else ""
    return f"Ply {point.ply}, {name}: {action}{point.mark} {_loss(point)}{held}."


def _loss(point: TurningPoint) -> str:
    before, after = point.before.least, point.after.most
    if point.mark is Mark.BLUNDER:
        if (before, after) == (Outcome.WIN, Outcome.LOSS):
            return "turned a win into a loss"
        return f"gave away {outcome_noun(before)}"
    is_known = point.before.is_exact and point.after.is_exact
    return f"lost {'' if is_known else 'at least '}{number_text(point.lost_margin).removeprefix('+')} of margin"
