"""Where a bot loses value, by its annotated matches, and the matches most worth a look; no rules are run for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from arena.base.records import MatchRecord
from arena.base.text import all_of
from arena.games import GAMES
from arena.lab.matches.accuracy import kept_share
from arena.lab.matches.annotation import Annotation, Mark, TurningPoint, outcome_noun, turning_point
from arena.lab.solving.worth import SIGNS
from arena.site.pages.bot_profile_model import LostValue, WorthALook

PHASES = ("opening", "middle", "end")
"""Thirds of the actions that bots chose."""
MAX_WORTH_A_LOOK = 3


class AnnotatedMatch(NamedTuple):
    """A recorded match; ``annotation`` is None if it has none."""

    tournament: str
    record: MatchRecord
    annotation: Annotation | None

    def seats(self, labels: frozenset[str]) -> Iterator[int]:
        """Yield the seats of some bots."""
        return (seat for seat, bot in enumerate(self.record.bots) if bot in labels)


@dataclass(slots=True)
class _Tally:
    actions: int = 0
    decisions: int = 0
    kept: float = 0.0
    marks: list[Mark] = field(default_factory=list)


def lost_value(matches: Iterable[AnnotatedMatch], labels: frozenset[str]) -> tuple[LostValue, ...]:
    """Return how much of the value these bots keep in each part of a match, by game."""
    tallies: dict[tuple[str, int], _Tally] = {}
    for match in matches:
        if match.annotation is not None:
            for seat in match.seats(labels):
                _count(tallies, match.record, match.annotation, seat)
    return tuple(
        LostValue(
            game=game,
            phase=PHASES[phase],
            actions=tally.actions,
            decisions=tally.decisions,
            kept_percent=100 * tally.kept / tally.decisions if tally.decisions else None,
            mistakes=tally.marks.count(Mark.MISTAKE),
            blunders=tally.marks.count(Mark.BLUNDER),
        )
        for (game, phase), tally in sorted(tallies.items())
    )


def _count(tallies: dict[tuple[str, int], _Tally], record: MatchRecord, annotation: Annotation, seat: int) -> None:
    first, count = annotation.opening_plies, len(annotation.actions)
    for index in range(first, count):
        action = annotation.actions[index]
        if action.seat != seat:
            continue
        tally = tallies.setdefault((record.game, len(PHASES) * (index - first) // (count - first)), _Tally())
        share = kept_share(action, record.game in GAMES)
        tally.actions += 1
        tally.decisions += share is not None
        tally.kept += share or 0.0
        tally.marks.append(annotation.mark(index))


def worth_a_look(matches: Sequence[AnnotatedMatch], labels: frozenset[str]) -> tuple[WorthALook, ...]:
    """Return the matches most worth a look: lost although won before, then forfeits, then what lost most margin."""
    found = [(_interest(one, seat), one, seat) for one in matches for seat in one.seats(labels)]
    chosen = sorted((one for one in found if one[0] is not None), key=lambda one: one[0] or (), reverse=True)
    return tuple(
        WorthALook(
            tournament=one.tournament,
            match=one.record.match,
            bot=one.record.bots[seat],
            rivals=tuple(bot for other, bot in enumerate(one.record.bots) if other != seat),
            reason=_reason(one, seat),
        )
        for _, one, seat in chosen[:MAX_WORTH_A_LOOK]
    )


def _own_turning_point(match: AnnotatedMatch, seat: int) -> TurningPoint | None:
    point = turning_point(match.record, match.annotation) if match.annotation is not None else None
    return point if point is not None and point.seat == seat else None


def _interest(match: AnnotatedMatch, seat: int) -> tuple[int, float] | None:
    """Return what orders matches by how much the author of a bot wants to see them; None for not at all."""
    if any(fault.seat == seat for fault in match.record.faults):
        return 1, 0.0
    point = _own_turning_point(match, seat)
    if point is None:
        return None
    if point.mark is Mark.BLUNDER:
        loss = SIGNS[point.before.least] - SIGNS[point.after.most]
        return (2 if SIGNS[point.before.least] > 0 else 0), loss + float(point.lost_margin) / 2**65
    return -1, float(point.lost_margin)


def _reason(match: AnnotatedMatch, seat: int) -> str:
    faults = [f"{fault.kind} at ply {fault.ply}" for fault in match.record.faults if fault.seat == seat]
    if faults:
        return f"forfeit: {all_of(faults)}"
    point = _own_turning_point(match, seat)
    if point is None:
        return ""
    if point.mark is Mark.BLUNDER:
        return f"ply {point.ply} gave away {outcome_noun(point.before.least)}"
    return f"ply {point.ply} lost {point.lost_margin:g} of margin"
