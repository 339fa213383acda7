"""Checks of a tournament from elsewhere: its definition, schedule, records and void tries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest
from typing import Any

from arena.base.bot_text import OPERATOR, Audience
from arena.base.definition import SETTLED, Definition, bot_from_json, bot_identity, bot_to_json
from arena.base.errors import ArenaError, IllegalActionError, StoreError
from arena.base.names import ACCEPTED, is_name
from arena.base.records import MAX_PLY_LIMIT, Bot, MatchRecord, ScheduledMatch, time_controls_of
from arena.base.stored import from_json_text, mapping_of
from arena.base.text import json_value, shortened_text
from arena.games import GAMES, Game, make_game
from arena.games.checked_game import checked_game
from arena.match.replay import check_record
from arena.store.results.addition import Source, VoidTry
from arena.store.results.rows import RecordRow, as_json, row_of
from arena.store.results.store import Store
from arena.store.results.values import Correction, StoredTournament, utc_now
from arena.tournament.formats.format import format_class, format_of
from arena.tournament.schedule import ChosenOpenings, schedule

MAX_NUMBER = 2**31 - 1
"""The largest number of a match or a round: what every database holds."""


def without_locations(definition: Definition) -> Definition:
    """Return a definition without the locations of its bots on the other machine; its identity is the same."""
    return replace(definition, entrants=tuple(map(_without_location, definition.entrants)))


def corrections_without_locations(corrections: Iterable[Correction]) -> list[Correction]:
    """Return a log of corrections without the locations of replaced bots on the other machine."""
    return [_correction_without_location(correction) for correction in corrections]


def _correction_without_location(correction: Correction) -> Correction:
    if correction.details.replaced is None:
        return correction
    bot = bot_from_json(correction.details.replaced, f"the replaced bot of correction {correction.number}")
    details = replace(correction.details, replaced=bot_to_json(_without_location(bot)))
    return replace(correction, details=details)


def _without_location(bot: Bot) -> Bot:
    return replace(
        bot,
        command=("", *bot_identity(bot)["args"]),
        directory="",
        own_files=(),
        external_game=None if bot.external_game is None else (bot.external_game[0], ""),
    )


def check_definition(definition: Definition, external_games: Collection[str]) -> None:
    """Raise UsageError unless a tournament of this definition can be played here, with no other external games."""
    for bot in definition.entrants:
        _check_names(bot)
    if not 1 <= definition.ply_limit <= MAX_PLY_LIMIT:
        raise StoreError(f"its definition is malformed: ply_limit = {definition.ply_limit}")
    if definition.adjudicate not in ("", SETTLED):
        raise StoreError(f"its definition is malformed: adjudicate = {json_value(definition.adjudicate)}")
    for number, choice in enumerate(definition.games):
        if choice.game not in GAMES and choice.game not in external_games:
            raise StoreError(
                f"it plays {shortened_text(choice.game)!r}, which is not a game of the arena; it is imported only with"
                f" --external-game {shortened_text(choice.game)}"
            )
        game = make_game(choice.game, **choice.options)
        if (game.players, dict(game.options)) != (choice.players, dict(choice.options)):
            raise StoreError(f"its definition is malformed: the options of {choice.game!r} are not complete")
        format_of(definition, number)


def _check_names(bot: Bot) -> None:
    for key, text in (("name", bot.name), ("version", bot.version)):
        if not is_name(text):
            raise StoreError(f"the {key} {shortened_text(text)!r} of an entrant: {ACCEPTED}")


def check_time(text: str, key: str) -> str:
    """Return a time from elsewhere; raise StoreError if it is not written as one."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise StoreError(f"{key} = {shortened_text(text)!r}: expected a time such as 2026-01-31T12:00:00") from None
    return text


def check_corrections(corrections: Sequence[Correction], definition: Definition) -> None:
    """Raise StoreError unless a log of corrections fits its tournament."""
    for number, correction in enumerate(corrections, 1):
        details = correction.details
        holds = (
            correction.number == number
            and (details.entrant is None or 0 <= details.entrant < len(definition.entrants))
            and (details.undoes is None or 0 < details.undoes < number)
            and "\0" not in correction.reason
        )
        if not holds:
            raise StoreError(f"its log of corrections is malformed at correction {shortened_text(str(correction))}")
        check_time(correction.made_at, f"the time of correction {number}")


def checked_lines(
    lines: Iterable[ScheduledMatch], definition: Definition, is_corrected: bool
) -> Iterator[ScheduledMatch]:
    """Yield the lines of a schedule from elsewhere."""
    if not format_class(definition).needs_results and not is_corrected:
        yield from _as_derived(lines, definition)
        return
    last: ScheduledMatch | None = None
    openings = _Openings(definition)
    for line in lines:
        _check_order(line, last)
        openings.check(line)
        yield line
        last = line


def _as_derived(lines: Iterable[ScheduledMatch], definition: Definition) -> Iterator[ScheduledMatch]:
    for line, derived in zip_longest(lines, schedule(definition)):
        if line != derived:
            number = line.match if line is not None else derived.match
            raise StoreError(f"match {number} of its schedule is not what follows from its definition")
        yield line


def _check_order(line: ScheduledMatch, last: ScheduledMatch | None) -> None:
    before = (0, 0, 1) if last is None else (last.match, last.encounter, last.round)
    holds = (
        line.match == before[0] + 1
        and line.encounter - before[1] in ((1,) if last is None else (0, 1))
        and before[2] <= line.round <= MAX_NUMBER
        and 0 <= line.opening <= MAX_NUMBER
        and 0 <= line.rng_seed < 2**63
    )
    if not holds:
        raise StoreError(f"match {line.match} of its schedule is malformed: its numbers don't follow those before it")


class _Openings:
    def __init__(self, definition: Definition) -> None:
        self._games: list[Game[Any]] = [
            checked_game(make_game(choice.game, **choice.options), choice.game) for choice in definition.games
        ]
        self._chosen = ChosenOpenings(definition)
        self._legal: set[tuple[int, tuple[Any, ...]]] = set()

    def check(self, line: ScheduledMatch) -> None:
        if not self._chosen.has(line):
            raise StoreError(f"match {line.match} of its schedule: its opening is not the one that was chosen")
        game, key = self._games[line.game], (line.game, line.opening_actions)
        if key in self._legal:
            return
        state = game.initial_state()
        try:
            for action in line.opening_actions:
                state = game.apply(state, action)
        except IllegalActionError as error:
            raise StoreError(f"match {line.match} of its schedule: its opening is illegal: {error.reason}") from error
        if game.is_over(state):
            raise StoreError(f"match {line.match} of its schedule: its opening ends the match")
        self._legal.add(key)


def with_records(
    lines: Iterable[ScheduledMatch], texts: Iterator[tuple[int, str]]
) -> Iterator[tuple[ScheduledMatch, str | None]]:
    """Yield each match of a schedule with its record, None without one; both come in the order of the matches.

    Raises:
        StoreError: in the end, if a record is left whose match is not in the schedule.
    """
    following = next(texts, None)
    for line in lines:
        has_record = following is not None and following[0] == line.match
        yield line, following[1] if following is not None and has_record else None
        following = next(texts, None) if has_record else following
    if following is not None:
        raise StoreError(f"match {following[0]} has a record, but is not in the schedule")


def checked_voids(source: Source, tournament: StoredTournament) -> Iterator[VoidTry]:
    """Yield the void tries of a tournament from elsewhere."""
    for void in source.voids(tournament):
        if not 1 <= void.match <= MAX_NUMBER:
            raise StoreError(f"match {void.match} has a void try, but is not in the schedule")
        check_time(void.at, f"the time of a void try of match {void.match}")
        yield void._replace(reason=void.reason.replace("\0", "\\0"))  # PostgreSQL stores no NUL


def finished_at(definition: Definition, left: int, stored: str | None) -> str | None:
    """Return when a tournament was finished, as stored where its schedule is longest; None if it is not."""
    if left > 0:
        return None
    if stored is not None:
        return check_time(stored, "finished_at")
    return None if format_class(definition).needs_results else utc_now()


def absent_bots(store: Store, definition: Definition) -> tuple[str, ...]:
    """Return the entrants that have not been submitted to a store with the same files."""
    submitted = {(bot.label, bot.digest) for bot in store.submitted_bots()}
    return tuple(bot.label for bot in definition.entrants if (bot.label, bot.digest) not in submitted)


# Whether a record from elsewhere is that of a scheduled match, and keeps the rules.

MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""The exceptions that the rules of a game may raise for the actions of a forged record."""


class RejectedRecordError(StoreError):
    """A record from elsewhere is rejected."""

    def __init__(self, match: int, reason: str) -> None:
        super().__init__(f"match {match}: {reason}")
        self.match = match
        self.reason = reason


def checked_row(
    text: str,
    line: ScheduledMatch,
    definition: Definition,
    *,
    replays: bool,
    has_other_bots: bool = False,
    audience: Audience = OPERATOR,
    key: bytes = b"",
) -> RecordRow:
    """Return a record in the form it is stored here.

    Args:
        replays: whether to replay it by the rules.
        has_other_bots: whether the bots may be others than those of the schedule, because one was replaced since.
        audience: for whom it is taken: what the audience may not read is left out.
        key: of the home, for the digest of that.
    """
    try:
        values = mapping_of(from_json_text(text, "the record"), "the record")
        record = MatchRecord.from_json(values)
        for name, recorded, expected in _comparisons(record, line, definition):
            if recorded != expected and not (name == "bots" and has_other_bots and len(recorded) == len(expected)):
                raise StoreError(f"{name} = {_shown(recorded)}, but the schedule has {_shown(expected)}")
        if replays:
            check_record(record)
        stored = values if audience.reads_all else record.to_json(audience, key)
        return row_of(record)._replace(record=as_json(stored))
    except ArenaError as error:
        raise RejectedRecordError(line.match, str(error)) from error
    except MALFORMED as error:
        raise RejectedRecordError(line.match, f"it can't be replayed: {type(error).__name__}: {error}") from error


def _comparisons(record: MatchRecord, line: ScheduledMatch, definition: Definition) -> Iterator[tuple[str, Any, Any]]:
    choice = definition.games[line.game]
    yield "match", record.match, line.match
    yield "game", record.game, choice.game
    yield "options", dict(record.options), dict(choice.options)
    yield "bots", list(record.bots), [definition.entrants[entrant].label for entrant in line.seats]
    yield "encounter", record.encounter, line.encounter
    yield "opening", record.opening, line.opening
    yield "ply_limit", record.ply_limit or definition.ply_limit, definition.ply_limit
    yield "settled_ply", record.settled_ply is None or definition.adjudicate == SETTLED, True
    yield "opening_plies", record.opening_plies, len(line.opening_actions)
    recorded = [action[1] for action in record.actions[: record.opening_plies]]
    yield (
        "actions of the opening",
        recorded,
        [list(action) if isinstance(action, tuple) else action for action in line.opening_actions],
    )
    yield "rng_seed", record.rng_seed, line.rng_seed
    yield "time_control", record.time_control, definition.time_control
    entrants = [definition.entrants[entrant] for entrant in line.seats]
    yield "time_controls", record.time_controls, time_controls_of(entrants, definition.time_control)


def _shown(value: Any) -> str:
    return shortened_text(str(value) if not isinstance(value, str) else repr(value))


# The result of a merge or an import.


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
