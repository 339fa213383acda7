"""Matches from elsewhere: their records checked, and what taking them has done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from arena.base.bot_text import OPERATOR, Audience
from arena.base.definition import Definition
from arena.base.errors import ArenaError, StoreError
from arena.base.records import MatchRecord, ScheduledMatch
from arena.base.stored import from_json_text, mapping_of
from arena.base.text import shortened_text
from arena.match.replay import check_record
from arena.store.results.addition import Source, VoidTry
from arena.store.results.rows import RecordRow, as_json, row_of
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament, utc_now
from arena.tournament.rounds import needs_results
from arena.tournament.transfer.definition_checks import MAX_NUMBER, check_time

# What new and known tournaments from elsewhere have in common: their matches, in order.


class TextsByMatch:
    """Stored records, taken in the order of a schedule."""

    def __init__(self, texts: Iterator[tuple[int, str]]) -> None:
        self._coming = texts
        self._following = next(texts, None)

    def take(self, match: int) -> str | None:
        """Return the record of a match; None if it has none."""
        if self._following is None or self._following[0] != match:
            return None
        text = self._following[1]
        self._following = next(self._coming, None)
        return text

    def check_end(self) -> None:
        """Raise StoreError if a record is left whose match is not in the schedule."""
        if self._following is not None:
            raise StoreError(f"match {self._following[0]} has a record, but is not in the schedule")


def checked_voids(source: Source, tournament: StoredTournament) -> Iterator[VoidTry]:
    """Yield the void tries of a tournament from elsewhere."""
    for void in source.voids(tournament):
        if not 1 <= void.match <= MAX_NUMBER:
            raise StoreError(f"match {void.match} has a void try, but is not in the schedule")
        check_time(void.at, f"the time of a void try of match {void.match}")
        yield void._replace(reason=void.reason.replace("\0", "\\0"))  # which PostgreSQL does not take


def finished_at(definition: Definition, left: int, stored: str | None) -> str | None:
    """Return when a tournament was finished; None if it is not.

    Args:
        stored: when it was finished, where its schedule is longest; None if it was not.
    """
    if left > 0:
        return None
    if stored is not None:
        return check_time(stored, "finished_at")
    return None if needs_results(definition) else utc_now()


def absent_bots(store: Store, definition: Definition) -> tuple[str, ...]:
    """Return the entrants that have not been submitted to a store with the same files."""
    submitted = {(bot.label, bot.digest) for bot in store.submitted_bots()}
    return tuple(bot.label for bot in definition.entrants if (bot.label, bot.digest) not in submitted)


# Whether a record from elsewhere is that of a scheduled match, and keeps the rules.

MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What the rules of a game may raise for the actions of a forged record."""


class RefusedRecordError(StoreError):
    """A record from elsewhere that is refused."""

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
        replays: whether to replay it by the rules.
        has_other_bots: whether the bots may be others than those of the schedule, because one was replaced since.
        audience: for whom it is taken: what the audience may not read is left out.
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


# What a merge or an import has done.


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedTournament:
    """What was taken of a tournament.

    Attributes:
        differing: matches that were played on both sides; the records here stay.
        differing_results: how many of these ended otherwise there.
        lines_taken: matches by which the schedule has become longer.
        absent_bots: entrants (``name@version``) that have not been submitted here with the same files.
        refusal: why nothing was taken, in a sentence; None if nothing was refused.
    """

    name: str
    is_new: bool = False
    taken: int = 0
    already_here: int = 0
    differing: int = 0
    differing_results: int = 0
    lines_taken: int = 0
    left: int = 0
    is_finished: bool = False
    absent_bots: tuple[str, ...] = ()
    refusal: str | None = None

    @property
    def has_changed(self) -> bool:
        """Whether anything was taken."""
        return self.is_new or self.taken > 0 or self.lines_taken > 0
