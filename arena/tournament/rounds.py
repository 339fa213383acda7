"""The course of a tournament whose rounds depend on results: taken up from the store, and one round further."""

from __future__ import annotations

from collections.abc import Sequence

from arena.definition import Definition
from arena.errors import DefinitionError
from arena.records import ScheduledMatch
from arena.results import StoredResult
from arena.store.store import Store
from arena.store.values import StoredTournament
from arena.tournament.formats import Format, Meeting, Placing, field_of, formats_of, kind_of
from arena.tournament.schedule import Scheduler


class Course:
    """The rounds of a tournament so far, and the next one."""

    def __init__(self, definition: Definition, store: Store, tournament: StoredTournament) -> None:
        """Take up the tournament where it is.

        Args:
            definition: the tournament.
            store: where its schedule and records are.
            tournament: the same in the store.
        """
        self._definition = definition
        self._store = store
        self._tournament = tournament
        self._format = formats_of(definition)[0]
        self._taken = 0
        self._scheduler: Scheduler | None = None

    @property
    def needs_results(self) -> bool:
        """Whether rounds depend on results."""
        return self._format.needs_results

    def should_stop(self, elapsed_seconds: float) -> bool:
        """Tell whether a run that has lasted this long ends before the next round."""
        return self._format.should_stop(elapsed_seconds)

    def next_round(self) -> list[ScheduledMatch]:
        """Return the matches of the round that follows what has been played; none at the end.

        Raises:
            DefinitionError: if the format finds no further round though there should be one.
        """
        if not self._format.needs_results:
            return []
        rounds = self._store.results_by_round(self._tournament, after=self._taken)
        for results in rounds:
            self._format.add_results(meetings(results, self._definition))
        self._taken += len(rounds)
        upcoming = self._format.next_round()
        if upcoming is None:
            return []
        if self._scheduler is None:
            self._scheduler = Scheduler(self._definition)
            self._scheduler.go_on_after(self._store.schedule(self._tournament))
        return list(self._scheduler.round_in_all_games(upcoming, self._format.encounters_per_round))

    @property
    def expected_matches(self) -> int | None:
        """How many matches there will be at most, if anybody can say."""
        if not self._format.needs_results:
            return self._tournament.scheduled
        return _expected(self._format, self._definition)

    @property
    def status(self) -> str:
        """How it stands, in a few words."""
        return self._format.status()


def needs_results(definition: Definition) -> bool:
    """Tell whether rounds depend on results."""
    return kind_of(definition).needs_results


def expected_matches(definition: Definition) -> int | None:
    """Return how many matches a tournament will have at most whose rounds depend on results; None if nobody can say."""
    first = formats_of(definition)[0]
    return _expected(first, definition) if first.needs_results else None


def _expected(course: Format, definition: Definition) -> int | None:
    encounters = course.total_encounters()
    return None if encounters is None else encounters * sum(choice.players for choice in definition.games)


def meetings(results: Sequence[StoredResult], definition: Definition) -> list[Meeting]:
    """Return the meetings of a round from its results, in the order of the schedule."""
    number = {bot.label: entrant for entrant, bot in enumerate(definition.entrants)}
    met: dict[frozenset[str], list[StoredResult]] = {}
    for result in results:
        met.setdefault(frozenset(result.bots), []).append(result)
    return [Meeting(tuple(number[bot] for bot in of_one[0].bots), tuple(of_one)) for of_one in met.values()]


def ranking_of(store: Store, tournament: StoredTournament) -> list[tuple[str, Placing]] | None:
    """Return the table of a tournament's own format, with the names shown; None where only ratings rank.

    Only rounds that are complete count.
    """
    definition = tournament.definition
    kind = kind_of(definition)
    if not kind.has_ranking:
        return None
    names = tuple(definition.shown_names.values())
    try:
        course = kind(field_of(definition))
    except DefinitionError:
        return None
    first_open = next(store.unplayed(tournament), None)
    complete = None if first_open is None else first_open.round - 1
    for results in store.results_by_round(tournament)[:complete]:
        course.add_results(meetings(results, definition))
    ranking = course.ranking()
    return None if ranking is None else [(names[placing.entrant], placing) for placing in ranking]
