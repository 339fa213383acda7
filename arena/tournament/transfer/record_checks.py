"""Whether a record from elsewhere is that of a scheduled match, and keeps the rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from arena.base.bot_text import OPERATOR, Audience
from arena.base.definition import Definition
from arena.base.errors import ArenaError, StoreError
from arena.base.records import MatchRecord, ScheduledMatch
from arena.base.stored import from_json_text, mapping_of
from arena.base.text import shortened_text
from arena.match.replay import check_record
from arena.store.results.rows import RecordRow, as_json, row_of

MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What the rules of a game may raise for the actions of a forged record."""


class RefusedRecordError(StoreError):
    """A record from elsewhere that is refused.

    Attributes:
        match: its number.
    """

    def __init__(self, match: int, reason: str) -> None:
        super().__init__(f"match {match}: {reason}")
        self.match = match
        self.reason = reason

    def __reduce__(self) -> tuple[type[RefusedRecordError], tuple[int, str]]:
        return type(self), (self.match, self.reason)


def checked_row(
    text: str,
    line: ScheduledMatch,
    definition: Definition,
    *,
    replays: bool,
    has_other_bots: bool = False,
    audience: Audience = OPERATOR,
) -> RecordRow:
    """Return a record in the form it is stored here.

    Args:
        text: the record, as it is stored elsewhere.
        line: its match in the schedule.
        definition: the tournament's.
        replays: whether to replay it by the rules.
        has_other_bots: whether the bots may be others than those of the schedule, because one was replaced since.
        audience: for whom it is taken: what the audience may not read is left out.

    Raises:
        RefusedRecordError: if it is not of this match, or breaks the rules.
    """
    try:
        values = mapping_of(from_json_text(text, "the record"), "the record")
        record = MatchRecord.from_json(values)
        for name, recorded, expected in _comparisons(record, line, definition):
            if recorded != expected and not (name == "bots" and has_other_bots and len(recorded) == len(expected)):
                raise StoreError(f"{name} = {_shown(recorded)}, but the schedule has {_shown(expected)}")
        if replays:
            check_record(record)
        taken = values if audience.reads_all else record.to_json(audience)
        return row_of(record)._replace(record=as_json(taken))
    except ArenaError as error:
        raise RefusedRecordError(line.match, str(error)) from error
    except MALFORMED as error:
        raise RefusedRecordError(line.match, f"it can't be replayed: {type(error).__name__}: {error}") from error


def _comparisons(record: MatchRecord, line: ScheduledMatch, definition: Definition) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name, the recorded and the scheduled value of everything that the schedule decides."""
    choice = definition.games[line.game]
    yield "match", record.match, line.match
    yield "game", record.game, choice.game
    yield "options", dict(record.options), dict(choice.options)
    yield "bots", list(record.bots), [definition.entrants[entrant].label for entrant in line.seats]
    yield "encounter", record.encounter, line.encounter
    yield "opening", record.opening, line.opening
    yield "ply_limit", record.ply_limit or definition.ply_limit, definition.ply_limit
    yield "opening_plies", record.opening_plies, len(line.opening_actions)
    recorded = [action[1] for action in record.actions[: record.opening_plies]]
    yield "actions of the opening", recorded, [_as_json_has_it(action) for action in line.opening_actions]
    yield "rng_seed", record.rng_seed, line.rng_seed
    yield "time_control", record.time_control, definition.time_control


def _as_json_has_it(action: Any) -> Any:
    return list(action) if isinstance(action, tuple) else action


def _shown(value: Any) -> str:
    return shortened_text(str(value) if not isinstance(value, str) else repr(value))
