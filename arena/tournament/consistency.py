"""What is stored of a tournament, compared with what its definition, its results and its corrections make."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import fields, replace
from datetime import datetime
from itertools import chain, groupby, zip_longest
from math import inf
from typing import Any

from arena.base.definition import SETTLED, Definition, bot_from_json
from arena.base.enums import CorrectionKind, DisqualifiedMatches, IsolationLevel
from arena.base.errors import ArenaError
from arena.base.names import REASON_ACCEPTED, is_reason
from arena.base.records import MatchRecord, ScheduledMatch, time_controls_of
from arena.base.results import StoredResult
from arena.base.text import counted, shortened_text
from arena.match.bot_pool import IN_PROCESS
from arena.match.replay import check_record
from arena.store.results.addition import Source
from arena.store.results.correction_log import SetAside
from arena.store.results.statements import most_rounds_on, record_from
from arena.store.results.values import Correction, CorrectionDetails, StoredTournament, explaining, in_force, taken_out
from arena.tournament.formats.format import ALL_FORMATS, FixedFormat, field_of, format_class, format_of
from arena.tournament.openings import KEPT_OPENINGS
from arena.tournament.rounds import meetings
from arena.tournament.schedule import Scheduler, schedule

# A record, and its match in the schedule.


def record_problems(
    record: MatchRecord, line: ScheduledMatch, definition: Definition, replaced: Set[int] = frozenset()
) -> Iterator[str]:
    """Yield what a record says otherwise than its match in the schedule; ``replaced`` entrants had other versions."""
    choice, entrants = definition.games[line.game], [definition.entrants[entrant] for entrant in line.seats]
    bots = [bot.label for bot in entrants]
    for seat, played in enumerate(record.bots[: len(bots)]):
        if line.seats[seat] in replaced and played.rpartition("@")[0] == entrants[seat].name:
            bots[seat] = played
    for name, recorded, expected in (
        ("match", record.match, line.match),
        ("game", record.game, choice.game),
        ("options", dict(record.options), dict(choice.options)),
        ("bots", list(record.bots), bots),
        ("encounter", record.encounter, line.encounter),
        ("opening", record.opening, line.opening),
        ("ply_limit", record.ply_limit or definition.ply_limit, definition.ply_limit),
        ("settled_ply", record.settled_ply is None or definition.adjudicate == SETTLED, True),
        ("opening_plies", record.opening_plies, len(line.opening_actions)),
        (
            "actions of the opening",
            [action for _, action in record.actions[: record.opening_plies]],
            json.loads(json.dumps(line.opening_actions)),
        ),
        ("rng_seed", record.rng_seed, line.rng_seed),
        ("time_control", record.time_control, definition.time_control),
        ("time_controls", record.time_controls, time_controls_of(entrants, definition.time_control)),
    ):
        if recorded != expected:
            yield f"{name} = {_shown(recorded)}, but the schedule has {_shown(expected)}"


def value_problems(record: MatchRecord) -> Iterator[str]:
    """Yield what a record says that no arena has measured; earlier versions had some times just below 0."""
    if record.started_at:
        yield from time_problems(record.started_at, "started_at")
    if record.isolation != IN_PROCESS:
        yield from isolation_problems(record.isolation)
    reported = ((seat.wall_seconds, seat.cpu_seconds, seat.off_turn_cpu_seconds) for seat in record.seats)
    seconds = chain(record.wall_seconds, record.cpu_seconds, *reported)
    yield from (f"{second:g} seconds are no time" for second in seconds if second is not None and not -1 < second < inf)


def _shown(value: Any) -> str:
    return shortened_text(repr(str(value)) if isinstance(value, str) else str(value))


def isolation_problems(text: str) -> Iterator[str]:
    """Yield a sentence if a record can have no such isolation."""
    if text.removesuffix("+cgroup") not in set(IsolationLevel):
        yield f"isolation = {shortened_text(text)!r}: expected {', '.join(IsolationLevel)}, perhaps with +cgroup"


def time_problems(text: str, key: str) -> Iterator[str]:
    """Yield a sentence if a text is not a time."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        yield f"{key} = {shortened_text(text)!r}: expected a time such as 2026-01-31T12:00:00"


# The schedule: made again from the definition, or round by round from the results. Where neither says what was to be
# played, as in a ladder and after corrections, each encounter is made again from its first match.

MAX_NUMBER = 2**31 - 1
"""The largest number of a match or a round: what every database holds."""


def schedule_problems(
    lines: Iterable[ScheduledMatch],
    tournament: StoredTournament,
    rounds: Sequence[Sequence[StoredResult]] | None = None,
) -> Iterator[str]:
    """Yield a sentence for the first match of a schedule that differs from how it is made again.

    ``rounds``: the results of each round; None if they are not known.
    """
    definition = tournament.definition
    kind = format_class(definition)
    is_free = bool(tournament.corrections) or kind.open_entry or definition.until is not None
    try:
        if is_free or (kind.needs_results and rounds is None):
            yield from _encounter_problems(lines, tournament)
        elif kind.needs_results:
            made = _rounds_again(definition, rounds or (), is_finished=tournament.finished_at is not None)
            yield from _line_problem(lines, made, "its definition and results")
        else:
            yield from _line_problem(lines, schedule(definition), "its definition")
    except ArenaError as error:
        yield str(error)


def _line_problem(lines: Iterable[ScheduledMatch], made: Iterable[ScheduledMatch], source: str) -> Iterator[str]:
    for line, expected in zip_longest(lines, made):
        if line != expected:
            number = line.match if line is not None else expected.match
            detail = "" if line is None or expected is None else f": {_difference(line, expected)}"
            yield f"match {number} of its schedule is not what follows from {source}{detail}"
            return


def _difference(value: Any, expected: Any) -> str:
    """Return the first field in which two values of a class differ, as the end of a sentence."""
    pairs = ((field.name, getattr(value, field.name), getattr(expected, field.name)) for field in fields(value))
    name, own, other = next(pair for pair in pairs if pair[1] != pair[2])
    return f"its {name} is {_shown(own)}, not {_shown(other)}"


def _rounds_again(
    definition: Definition, rounds: Sequence[Sequence[StoredResult]], *, is_finished: bool
) -> Iterator[ScheduledMatch]:
    """Yield the rounds that were played, and the one that a finished tournament should have had."""
    planned, scheduler = format_of(definition), Scheduler(definition)
    for number in range(len(rounds) + is_finished):
        if number:
            planned.add_results(meetings(rounds[number - 1], definition))
        if (upcoming := planned.next_round()) is None:
            return
        yield from scheduler.round_in_all_games(upcoming, planned.encounters_per_round)


def _encounter_problems(lines: Iterable[ScheduledMatch], tournament: StoredTournament) -> Iterator[str]:
    definition, pairings = tournament.definition, _Pairings(tournament)
    scheduler, needs_results = Scheduler(definition), format_class(definition).needs_results
    most = format_of(definition).encounters_per_round if needs_results else 1
    step = most_rounds_on(definition)
    for n, (_, own) in enumerate(groupby(lines, key=lambda line: line.encounter), 1):
        first, *_ = encounter = list(own)
        last_round = scheduler.round + step if needs_results else MAX_NUMBER
        if not (scheduler.round <= first.round <= last_round and 0 <= first.opening < min(most * n, n + KEPT_OPENINGS)):
            yield f"match {first.match} of its schedule is malformed: its numbers don't follow those before it"
            return
        scheduler.round = first.round
        made = scheduler.encounter(first.seats, first.game, first.opening)
        for problem in _line_problem(encounter, made, "its encounter"):
            yield problem
            return
        if not pairings.take(first):
            yield f"match {first.match} of its schedule: its bots don't meet in this tournament, or not once more"
            return
    if pairings.missing:
        difference = "lacks" if pairings.missing > 0 else "has too many:"
        yield f"its schedule {difference} {counted(abs(pairings.missing), 'encounter')} of bots that were never absent"


class _Pairings:
    """Who meets in a tournament, and from which opening; ``missing`` encounters are of bots that were never absent."""

    def __init__(self, tournament: StoredTournament) -> None:
        definition = tournament.definition
        planned: Any = ALL_FORMATS[definition.format]
        self._is_fixed = issubclass(planned, FixedFormat)
        self._may_repeat = planned.has_fixed_field and not planned.has_later_stages  # one bot in several seats
        self._known: list[Counter[tuple[int, ...]]] = []
        for game in range(len(definition.games)) if self._is_fixed else ():
            rounds = planned(field_of(definition, game)).rounds()
            self._known.append(Counter(tuple(sorted(pairing)) for each in rounds for pairing in each.pairings))
        away = [c for c in tournament.corrections if c.details.absent_from is not None]
        self._taken_out = {c.details.entrant for c in away if c.kind is CorrectionKind.UNDO}  # others met it, or may
        self._is_steady = (set(range(len(definition.entrants))) - {c.details.entrant for c in away}).issuperset
        self._seen: set[tuple[int, int, tuple[int, ...]]] = set()
        self._counts_all = self._is_fixed and definition.until is None
        each = sum(count for known in self._known for pairing, count in known.items() if self._is_steady(pairing))
        self.missing = definition.encounters * each if self._counts_all else 0

    def take(self, line: ScheduledMatch) -> bool:
        """Take an encounter; return whether its bots meet."""
        pairing = tuple(sorted(line.seats))
        if not self._is_fixed:
            return self._may_repeat or len(set(pairing)) == len(pairing)
        key = (line.game, line.opening, pairing)
        is_new = key not in self._seen or not self._is_steady(pairing)  # who enters again meets the same bots again
        self._seen.add(key)
        self.missing -= self._counts_all and self._is_steady(pairing)
        may_meet = len(set(pairing)) == len(pairing) and not self._taken_out.isdisjoint(pairing)
        return is_new and (may_meet or pairing in self._known[line.game])


# The corrections: what they say, and which records and matches they take out of the tournament.

KEPT_DETAILS = {  # of each kind
    CorrectionKind.VOID: ("matches",),
    CorrectionKind.WITHDRAW: ("entrant", "bot", "absent_from"),
    CorrectionKind.DISQUALIFY: ("entrant", "bot", "absent_from", "disqualified_matches"),
    CorrectionKind.REPLACE: ("entrant", "bot", "replaced", "settings"),
    CorrectionKind.ENTER: ("entrant", "bot", "settings"),
    CorrectionKind.UNDO: ("entrant", "bot", "absent_from", "settings", "undoes"),
}


def correction_problems(source: Source, tournament: StoredTournament, recorded: Set[int]) -> Iterator[str]:
    """Yield a sentence for each thing that the log of corrections does not explain, and each that it does not cause.

    ``recorded``: the matches that have a record.
    """
    log, definition = tournament.corrections, tournament.definition
    if problems := [*log_problems(log, definition)]:
        yield from problems
        return
    may_go_on = format_class(definition).open_entry or definition.until is not None  # by a run that was interrupted
    out = dict.fromkeys(taken_out(log), "came by an entry that is undone") | {
        c.details.entrant: f"is disqualified (correction {c.number})" for c in in_force(log) if _annuls(c)
    }
    skipped: dict[int, list[int]] = defaultdict(list)
    for match, number in source.skipped(tournament):
        skipped[match].append(number)
    aside, voided, last_round = source.set_aside(tournament), set(), 0
    following = next(aside, None)
    for line in source.lines(tournament):
        match, last_round = line.match, line.round
        while following is not None and following.match <= match:
            voided.add((match, following.correction))
            yield from _aside_problems(following, line, tournament)
            following = next(aside, None)
        gone = [definition.entrants[k].label for k in line.seats if k in definition.gone]
        left_out = skipped.pop(match, ())
        for number in left_out:
            yield from _skipped_problems(line, number, log, bool(gone) or match in recorded)
        if match in recorded:
            named = ((definition.entrants[k].label, out[k]) for k in line.seats if k in out)
            yield from (f"match {match}: {bot} {reason}, but its record counts" for bot, reason in named)
        elif not left_out and gone:
            yield f"match {match}: {gone[0]} does not take part any more, but no correction leaves it out"
        elif not left_out and tournament.finished_at is not None and not may_go_on:
            yield f"match {match}: it has no record, although the tournament is finished"
    yield from (f"match {match}: it is left out, but it is not in the schedule" for match in sorted(skipped))
    for record in chain([] if following is None else [following], aside):
        yield f"match {record.match}: it is set aside, but it is not in the schedule"
    if log and log[-1].details.last_round > last_round:
        yield f"correction {len(log)} was made after round {log[-1].details.last_round}, but there are {last_round}"
    yield from _void_problems(log, voided)


def _annuls(c: Correction) -> bool:
    return c.details.disqualified_matches is DisqualifiedMatches.ANNUL


def log_problems(log: Sequence[Correction], definition: Definition) -> Iterator[str]:
    """Yield a sentence for each correction of a log that nobody can have made."""
    if [c.number for c in log] != list(range(1, len(log) + 1)):
        yield f"the log of corrections has the numbers {shortened_text(str([c.number for c in log]))}"
        return
    undone, last_round, replaced = set[int](), 0, replaced_entrants(log)
    for c in log:
        where, number = f"correction {c.number}", c.details.undoes
        yield from time_problems(c.made_at, f"the time of {where}")
        if not is_reason(c.reason):
            yield f"the reason of {where}, {shortened_text(c.reason)!r}: {REASON_ACCEPTED}"
        if (number is None) == (c.kind is CorrectionKind.UNDO):
            yield f"{where}: it does not say what it undoes"
        elif number is not None and (not 0 < number < c.number or number in undone):
            yield f"{where}: correction {number} can't be undone by it"
        elif c.details.last_round < last_round:
            yield f"{where} was made after round {c.details.last_round}, but the one before it after round {last_round}"
        elif c.details != (expected := _details(c, log)):
            yield f"{where} ({c.kind.shown}): {_difference(c.details, expected)}"
        elif c.details.entrant is not None and not _is_label(c.details.bot, c.details.entrant, definition, replaced):
            yield f"{where} names {_shown(c.details.bot)}, but entrant {c.details.entrant + 1} is another bot"
        undone |= {number} if number is not None else set()
        last_round = c.details.last_round


def _details(c: Correction, log: Sequence[Correction]) -> CorrectionDetails:
    """Return the details of a correction without what no correction of its kind has."""
    given, kept = c.details, KEPT_DETAILS[c.kind]
    if c.kind is CorrectionKind.UNDO and given.undoes is not None:
        undone = log[given.undoes - 1]
        given = replace(given, entrant=undone.details.entrant, bot=undone.details.bot)
    if c.kind is CorrectionKind.VOID:
        given = replace(given, matches=tuple(sorted(set(given.matches))))
    if c.kind in (CorrectionKind.WITHDRAW, CorrectionKind.DISQUALIFY):
        given = replace(given, absent_from=1 if _annuls(c) else given.last_round + 1)
    if c.kind is CorrectionKind.REPLACE:
        given = replace(given, bot=bot_from_json(given.replaced, f"the replaced bot of correction {c.number}").label)
    return CorrectionDetails(**{name: getattr(given, name) for name in (*kept, "missed", "last_round")})


def replaced_entrants(log: Iterable[Correction]) -> frozenset[int]:
    """Return the entrants who have had other files, perhaps of another version."""
    chosen = (c.details.entrant for c in log if c.kind is CorrectionKind.REPLACE)
    return frozenset(entrant for entrant in chosen if entrant is not None)


def _is_label(label: str, entrant: int, definition: Definition, replaced: Set[int]) -> bool:
    bot = definition.entrants[entrant]
    return label == bot.label or (entrant in replaced and label.rpartition("@")[0] == bot.name)


def _cause(number: int, log: Sequence[Correction]) -> tuple[Correction, bool]:
    """Return the correction of a number, or the one that it undoes, and whether that is an entry."""
    c = log[number - 1]
    cause = c if c.details.undoes is None else log[c.details.undoes - 1]
    return cause, cause is not c and cause.kind is CorrectionKind.ENTER


def _concerns(c: Correction, line: ScheduledMatch) -> bool:
    return line.match in c.details.matches if c.kind is CorrectionKind.VOID else c.details.entrant in line.seats


def _aside_problems(aside: SetAside, line: ScheduledMatch, tournament: StoredTournament) -> Iterator[str]:
    """Yield a sentence for each reason for which a correction cannot have set a record aside."""
    log = tournament.corrections
    where = f"match {aside.match}, set aside by correction {aside.correction}"
    if aside.match != line.match:
        yield f"match {aside.match}: it is set aside, but it is not in the schedule"
        return
    if aside.correction not in explaining(log):
        yield f"{where}: no such correction stands"
        return
    cause, is_undone_entry = _cause(aside.correction, log)
    sets_aside = cause.kind in (CorrectionKind.VOID, CorrectionKind.REPLACE) or _annuls(cause) or is_undone_entry
    if not (sets_aside and _concerns(cause, line)):
        yield f"{where}: that correction is not about it"
    try:
        record = record_from(aside.match, aside.text)
        replaced = replaced_entrants(log)
        problems = chain(record_problems(record, line, tournament.definition, replaced), value_problems(record))
        yield from (f"{where}: {text}" for text in problems)
        check_record(record)
    except (ArenaError, KeyError, TypeError, ValueError, IndexError) as error:
        yield f"{where}: {type(error).__name__}: {error}"


def _skipped_problems(line: ScheduledMatch, number: int, log: Sequence[Correction], is_out: bool) -> Iterator[str]:
    """Yield a sentence if a correction cannot have left a match out."""
    if number not in explaining(log):
        yield f"match {line.match}: it is left out by correction {number}, but no such correction stands"
        return
    cause, is_undone_entry = _cause(number, log)
    if not _concerns(cause, line) or not (is_out or is_undone_entry):  # of an undone entry, the bot may be in again
        yield f"match {line.match}: it is left out by correction {number}, which is not about it"


def _void_problems(log: Sequence[Correction], aside: Set[tuple[int, int]]) -> Iterator[str]:
    """Yield corrections whose void matches are not those that they have set aside: matches with their corrections."""
    for c in in_force(log):
        found = sorted(match for match, correction in aside if correction == c.number)
        if c.kind is CorrectionKind.VOID and found != list(c.details.matches):
            named, stored = (shortened_text(", ".join(map(str, n))) or "none" for n in (c.details.matches, found))
            yield f"correction {c.number} voids the matches {named}, but set aside are {stored}"
