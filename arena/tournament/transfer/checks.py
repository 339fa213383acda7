"""Checks of a tournament from elsewhere: its definition, schedule, records and void tries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Set
from dataclasses import dataclass, replace

from arena.base.bot_text import OPERATOR, Audience
from arena.base.definition import SETTLED, Definition, bot_from_json, bot_identity, bot_to_json
from arena.base.errors import ArenaError, StoreError
from arena.base.names import ACCEPTED, is_name
from arena.base.records import MAX_PLY_LIMIT, Bot, MatchRecord, ScheduledMatch
from arena.base.stored import from_json_text, mapping_of
from arena.base.text import json_value, shortened_text
from arena.games import GAMES, make_game
from arena.match.replay import check_record
from arena.store.results.addition import Source, VoidTry
from arena.store.results.rows import RecordRow, as_json, row_of
from arena.store.results.store import Store
from arena.store.results.values import Correction, StoredTournament, utc_now
from arena.tournament.consistency import MAX_NUMBER, isolation_problems, record_problems, time_problems, value_problems
from arena.tournament.formats.format import format_class, format_of


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
    if definition.isolation != "auto":
        raise_first(isolation_problems(definition.isolation))
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


def raise_first(problems: Iterable[str]) -> None:
    """Raise StoreError for the first problem."""
    for problem in problems:
        raise StoreError(problem)


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
        raise_first(time_problems(void.at, f"the time of a void try of match {void.match}"))
        yield void._replace(reason=void.reason.replace("\0", "\\0"))  # PostgreSQL stores no NUL


def finished_at(definition: Definition, left: int, stored: str | None) -> str | None:
    """Return when a tournament was finished, as stored where its schedule is longest; None if it is not."""
    if left > 0:
        return None
    if stored is not None:
        raise_first(time_problems(stored, "finished_at"))
        return stored
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
    replaced: Set[int] = frozenset(),
    audience: Audience = OPERATOR,
    key: bytes = b"",
) -> RecordRow:
    """Return a record in the form it is stored here.

    Args:
        replays: whether to replay it by the rules, and to check what is measured.
        replaced: the entrants that may have had another version.
        audience: for whom it is taken: what the audience may not read is left out.
        key: of the home, for the digest of that.
    """
    try:
        values = mapping_of(from_json_text(text, "the record"), "the record")
        record = MatchRecord.from_json(values)
        raise_first(record_problems(record, line, definition, replaced))
        if replays:
            raise_first(value_problems(record))
            check_record(record)
        stored = values if audience.reads_all else record.to_json(audience, key)
        return row_of(record)._replace(record=as_json(stored))
    except ArenaError as error:
        raise RejectedRecordError(line.match, str(error)) from error
    except MALFORMED as error:
        raise RejectedRecordError(line.match, f"it can't be replayed: {type(error).__name__}: {error}") from error


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
