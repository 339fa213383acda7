"""The rounds of a tournament that depend on results: resumed from the store, and continued round by round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arena.base.definition import Definition
from arena.base.errors import DefinitionError
from arena.base.records import ScheduledMatch
from arena.base.results import StoredResult, competition_ranks
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament, out_of_table
from arena.tournament.formats.format import Format, Meeting, Placing, field_of, format_class, format_of

if TYPE_CHECKING:  # it loads the games and pydantic, and the table of a tournament is read without them
    from arena.tournament.schedule import Scheduler


class TournamentRounds:
    """The rounds of a tournament so far, and the next one; ``format`` has counted those before it."""

    def __init__(self, definition: Definition, store: Store, tournament: StoredTournament) -> None:
        self._definition = definition
        self._store = store
        self._tournament = tournament
        self.format = format_of(definition)
        self._rounds_added = self._results_added = 0
        self._scheduler: Scheduler | None = None

    def continued(self, definition: Definition, store: Store, tournament: StoredTournament) -> TournamentRounds:
        """Return the rounds of a ladder whose entrants, or whose end, may have changed.

        It keeps what is counted if the ladder has only later results in addition; else it counts all results again.
        """
        if store is not self._store or not self._are_as_before(tournament):
            return TournamentRounds(definition, store, tournament)
        self._definition, self._tournament = definition, tournament
        self.format.field = field_of(definition)
        return self

    def _are_as_before(self, tournament: StoredTournament) -> bool:
        before = self._tournament
        if (tournament.number, tournament.corrections) != (before.number, before.corrections):
            return False
        if self._scheduler is not None and self._scheduler.round != self._store.last_round(tournament) + 1:
            return False
        later = self._store.count_results(tournament, after_round=self._rounds_added)
        return self._results_added + later == tournament.recorded

    def next_round(self, suspended: frozenset[int] = frozenset()) -> list[ScheduledMatch]:
        """Return the matches of the round after the last in the store, without suspended bots; none at the end."""
        if not self.format.needs_results:
            return []
        rounds = self._store.results_by_round(self._tournament, after=self._rounds_added)
        for results in rounds:
            self.format.add_results(meetings(results, self._definition))
        self._rounds_added += len(rounds)
        self._results_added += sum(map(len, rounds))
        self.format.suspended = suspended
        upcoming = self.format.next_round()
        if upcoming is None:
            return []
        if self._scheduler is None:
            from arena.tournament.schedule import Scheduler

            self._scheduler = Scheduler(self._definition)
            self._scheduler.continue_after(self._store.seatings(self._tournament))
        return list(self._scheduler.round_in_all_games(upcoming, self.format.encounters_per_round))

    @property
    def expected_matches(self) -> int | None:
        """How many matches the tournament is expected to have at most; None if there is no maximum."""
        if not self.format.needs_results:
            return self._tournament.scheduled
        return matches_of(self.format.total_encounters(), self._definition)


def matches_of(encounters: int | None, definition: Definition) -> int | None:
    """Return how many matches that many encounters in each game are; None for None."""
    return None if encounters is None else encounters * sum(choice.players for choice in definition.games)


def meetings(results: Sequence[StoredResult], definition: Definition) -> list[Meeting]:
    """Return the meetings of a round from its results, in the order of the schedule."""
    numbers = {bot.label: number for number, bot in enumerate(definition.entrants)}
    by_bots: dict[frozenset[str], list[StoredResult]] = {}
    for result in results:
        by_bots.setdefault(frozenset(result.bots), []).append(result)
    return [Meeting(tuple(numbers[bot] for bot in own[0].bots), tuple(own)) for own in by_bots.values()]


def played_format(store: Store, tournament: StoredTournament) -> Format[Any]:
    """Return the format of a tournament after all its complete rounds."""
    definition = tournament.definition
    planned = format_of(definition)
    first_open = next(store.unplayed(tournament), None)
    complete = None if first_open is None else first_open.round - 1
    for results in store.results_by_round(tournament)[:complete]:
        planned.add_results(meetings(results, definition))
    return planned


def ranking_of(store: Store, tournament: StoredTournament) -> list[tuple[str, Placing]] | None:
    """Return the table of a tournament's own format, with the names shown; None if only ratings rank.

    Only complete rounds count. Entrants that a correction takes out of the table have no line, and no rank.
    """
    if not format_class(tournament.definition).has_ranking:
        return None
    try:
        planned = played_format(store, tournament)
    except DefinitionError:
        return None
    ranking = planned.ranking()
    if ranking is None:
        return None
    left_out = out_of_table(tournament.corrections)
    listed = [placing for placing in ranking if placing.entrant not in left_out]
    ranks = competition_ranks([placing.rank for placing in listed])
    return [
        (planned.field.names[placing.entrant], placing._replace(rank=rank))
        for rank, placing in zip(ranks, listed, strict=True)
    ]
