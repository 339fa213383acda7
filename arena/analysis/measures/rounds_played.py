"""The rounds of a tournament as they were played: its bracket, its round cards, and what it has decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from math import ceil
from typing import Any, cast

from arena.analysis.measures.values import CardRound
from arena.base.definition import Definition
from arena.base.enums import CorrectionKind, StopReason
from arena.base.errors import DefinitionError
from arena.base.results import points_of
from arena.base.until import Claim, Decided, OpenClaim
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament, in_force
from arena.tournament.formats.format import Format, format_class
from arena.tournament.formats.knockout import DecidedBy, Duel, Knockout
from arena.tournament.formats.round_robin import RoundRobin
from arena.tournament.formats.swiss import CardLine, Swiss
from arena.tournament.formats.until_decided import MATCHES, UntilDecided
from arena.tournament.rounds import played_format

# The bracket of a knockout and the round cards of a Swiss, with the names of their entrants.


@dataclass(frozen=True, slots=True, kw_only=True)
class BracketDuel:
    """A duel of a bracket, its upper and its lower entrant; None for a bye, or while something is open.

    Attributes:
        seeds: the seeds, from 1.
        score: the encounters that each has won, a drawn one counting half.
        points: the points of each, in the matches of all encounters.
    """

    bots: tuple[str | None, str | None]
    seeds: tuple[int | None, int | None]
    score: tuple[float, float]
    points: tuple[float, float]
    winner: str | None
    decided_by: DecidedBy | None

    @property
    def has_begun(self) -> bool:
        """Whether an encounter has been played."""
        return sum(self.score) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """All stages of a knockout; the winners of neighbouring duels meet in the next one."""

    stages: tuple[tuple[BracketDuel, ...], ...]

    @property
    def winner(self) -> str | None:
        """The winner of the final; None while that is open."""
        return self.stages[-1][0].winner


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCard:
    """An entrant of a Swiss with all its rounds; ``number`` is its line in the table, by which other cards name it."""

    number: int
    rank: int
    bot: str
    rounds: tuple[CardRound, ...]
    total: float


def bracket_of(knockout: Knockout) -> Bracket:
    """Return the bracket of a knockout with the names of its entrants."""
    seeds = {placing.entrant: placing.values["seed"] for placing in knockout.ranking()}
    names = knockout.field.names

    def name_of(entrant: int | None) -> str | None:
        return None if entrant is None else names[entrant]

    def with_names(duel: Duel) -> BracketDuel:
        upper, lower = duel.entrants
        return BracketDuel(
            bots=(name_of(upper), name_of(lower)),
            seeds=(None if upper is None else seeds[upper], None if lower is None else seeds[lower]),
            score=duel.score,
            points=(sum(points for points, _ in duel.points), sum(points for _, points in duel.points)),
            winner=name_of(duel.winner),
            decided_by=duel.decided_by,
        )

    return Bracket(stages=tuple(tuple(map(with_names, stage)) for stage in knockout.stages()))


def round_cards_of(swiss: Swiss) -> tuple[RoundCard, ...]:
    """Return the cards of a Swiss with the names of its entrants, in the order of the table."""
    ranking = swiss.ranking()
    names = swiss.field.names
    number_of = {placing.entrant: number for number, placing in enumerate(ranking, 1)}
    cards = swiss.cards()

    def card_rounds(card: Sequence[CardLine]) -> Iterator[CardRound]:
        for line, total in zip(card, accumulate(line.score for line in card), strict=True):
            yield CardRound(
                rival=None if line.rival is None else names[line.rival],
                rival_number=None if line.rival is None else number_of[line.rival],
                score=line.score,
                points=line.points,
                total=total,
            )

    return tuple(
        RoundCard(
            number=number_of[placing.entrant],
            rank=placing.rank,
            bot=names[placing.entrant],
            rounds=tuple(card_rounds(cards[placing.entrant])),
            total=sum(line.score for line in cards[placing.entrant]),
        )
        for placing in ranking
    )


# Bracket and cards are those of the format itself after its complete rounds; what has been played of the current round
# is in the list of rounds only.

_DEPARTURES = {CorrectionKind.WITHDRAW: "withdrawn", CorrectionKind.DISQUALIFY: "disqualified"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedMeeting:
    """The entrants of a pairing in one round, in the seats of the first match, with their points in matches so far.

    ``scheduled`` is 0 if a correction has taken all matches of the meeting out of the schedule.
    """

    bots: tuple[str, ...]
    points: tuple[float, ...]
    recorded: int
    scheduled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedRound:
    """A round; entrants are absent who have withdrawn or are disqualified."""

    number: int
    games: tuple[str, ...]
    meetings: tuple[PlayedMeeting, ...]
    byes: tuple[str, ...]
    absent: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        """Whether every match has a result."""
        return all(meeting.recorded == meeting.scheduled for meeting in self.meetings)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsPlayed:
    """The rounds of a tournament that somebody asked for, and the last one in the schedule.

    Attributes:
        current: the number of the first round that is not complete; the last one if all are.
        bracket: the bracket of a knockout.
        cards: the cards of a Swiss, in the order of the table.
        departed: how entrants that are no longer paired have left, "withdrawn" or "disqualified", by name.
    """

    last: int
    current: int
    status: str
    rounds: tuple[PlayedRound, ...]
    bracket: Bracket | None
    cards: tuple[RoundCard, ...] | None
    departed: Mapping[str, str]


def rounds_played(store: Store, tournament: StoredTournament, first: int = 1, last: int | None = None) -> RoundsPlayed:
    """Return the rounds of a tournament, with the bracket or the cards that its format has.

    ``first`` is 0 for the current round, -1 for the one before it, and so on; then ``last`` is the current one unless
    given.
    """
    scheduled = store.last_round(tournament)
    upcoming = next(store.unplayed(tournament), None)
    current = scheduled if upcoming is None else upcoming.round
    if last is None:
        last = scheduled if first > 0 else current
    planned = _format_with_tables(store, tournament)
    departed = _departed(tournament)
    return RoundsPlayed(
        last=scheduled,
        current=current,
        status=_status(tournament, planned, scheduled, current, departed),
        rounds=tuple(_rounds(store, tournament, first if first > 0 else max(1, current + first), last)),
        bracket=bracket_of(planned) if isinstance(planned, Knockout) else None,
        cards=round_cards_of(planned) if isinstance(planned, Swiss) else None,
        departed=departed,
    )


def _departed(tournament: StoredTournament) -> dict[str, str]:
    names = list(tournament.definition.shown_names.values())
    return {
        names[correction.details.entrant]: _DEPARTURES[correction.kind]
        for correction in in_force(tournament.corrections)
        if correction.kind in _DEPARTURES and correction.details.entrant is not None
    }


def _status(
    tournament: StoredTournament, planned: Format[Any] | None, last: int, current: int, departed: Mapping[str, str]
) -> str:
    if isinstance(planned, Knockout) and (winner := planned.winner()) is not None:
        name = planned.field.names[winner]
        return f"winner: {name} ({departed[name]})" if name in departed else f"winner: {name}"
    if planned is not None:
        return planned.status()
    has_known_end = not format_class(tournament.definition).needs_results
    return f"round {current} of {last}" if has_known_end else f"round {current}"


def _format_with_tables(store: Store, tournament: StoredTournament) -> Format[Any] | None:
    """Return a knockout or a Swiss after its complete rounds; None for other formats."""
    if not issubclass(format_class(tournament.definition), Knockout | Swiss):
        return None
    try:
        return played_format(store, tournament)
    except DefinitionError:
        return None


@dataclass
class _Meeting:
    seats: tuple[int, ...]
    games: set[int] = field(default_factory=set)
    recorded: int = 0
    open: int = 0
    points: dict[str, float] = field(default_factory=dict)  # by name@version


def _rounds(store: Store, tournament: StoredTournament, first: int, last: int) -> Iterator[PlayedRound]:
    """Yield rounds from the schedule and the results, which need not be complete."""
    by_round: dict[int, dict[frozenset[int], _Meeting]] = {}
    of_encounter: dict[int, _Meeting] = {}
    for line in takewhile(lambda line: line.round <= last, store.schedule(tournament, after_round=first - 1)):
        meeting = by_round.setdefault(line.round, {}).setdefault(frozenset(line.seats), _Meeting(line.seats))
        meeting.games.add(line.game)
        of_encounter[line.encounter] = meeting
    for line in takewhile(lambda line: line.round <= last, store.unplayed(tournament, after_round=first - 1)):
        of_encounter[line.encounter].open += 1
    for results in store.results_by_round(tournament, after=first - 1)[: last - first + 1]:
        for result in results:
            meeting = of_encounter[result.encounter]
            meeting.recorded += 1
            for seat, bot in enumerate(result.bots):
                meeting.points[bot] = meeting.points.get(bot, 0.0) + points_of(result.ranks, seat)
    for number, meetings in by_round.items():
        yield _round(tournament.definition, number, list(meetings.values()))


def _round(definition: Definition, number: int, meetings: Sequence[_Meeting]) -> PlayedRound:
    names = list(definition.shown_names.values())
    labels = list(definition.shown_names)
    games = sorted(set().union(*(meeting.games for meeting in meetings)))
    absent = {absence.entrant for absence in definition.absences if absence.covers(number)}
    busy = absent.union(*(meeting.seats for meeting in meetings))
    has_byes = issubclass(format_class(definition), RoundRobin | Swiss) and len(meetings[0].seats) == 2
    return PlayedRound(
        number=number,
        games=tuple(definition.games[game].game for game in games),
        meetings=tuple(_with_names(meeting, names, labels) for meeting in meetings),
        byes=tuple(name for k, name in enumerate(names) if k not in busy) if has_byes else (),
        absent=tuple(names[k] for k in sorted(absent)),
    )


def _with_names(meeting: _Meeting, names: Sequence[str], labels: Sequence[str]) -> PlayedMeeting:
    entrants = list(dict.fromkeys(meeting.seats))
    return PlayedMeeting(
        bots=tuple(names[k] for k in entrants),
        points=tuple(meeting.points.get(labels[k], 0.0) for k in entrants),
        recorded=meeting.recorded,
        scheduled=meeting.recorded + meeting.open,
    )


# What a tournament that plays until it is decided has decided so far.


def decided_so_far(store: Store, tournament: StoredTournament) -> Decided | None:
    """Return what is decided after the last complete round; None if a tournament has a fixed schedule."""
    until = tournament.definition.until
    if until is None:
        return None
    deciding = cast(UntilDecided, played_format(store, tournament)).deciding
    if not deciding.decision.active:
        return None  # all bots have left
    labels = [bot.label for bot in tournament.definition.entrants]
    claims = []
    for pair, claim in deciding.decision.claims.items():
        bot, rival = claim.ordered(pair)
        claims.append(Claim(bot=labels[bot], rival=labels[rival], claim=claim.kind, error=claim.error))
    is_known = deciding.look is not None and deciding.is_begun
    games = len(tournament.definition.games)
    still_open = tuple(
        OpenClaim(
            bot=labels[pair.bots[0]],
            rival=labels[pair.bots[1]],
            difference=pair.difference,
            matches=MATCHES * games * max(1, ceil(pair.encounters / games)),
        )
        for pair in (deciding.look.open if deciding.look is not None else ())
    )
    reason = deciding.reason
    if reason is None and tournament.finished_at is not None:
        reason = StopReason.HOURS
    return Decided(
        until=until,
        decided=is_known and not still_open,
        stopped_because=reason,
        claims=tuple(claims),
        open=still_open,
        matches_needed=sum(open_claim.matches for open_claim in still_open) if is_known else None,
    )
