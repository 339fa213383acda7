"""What the watcher of the store says to those who wait for changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from arena.base.enums import EventKind
from arena.server.http.cursor import Cursor, live_log, tournament_log
from arena.server.http.entered import Entered
from arena.server.http.page_value import NAMES_END
from arena.server.http.topics import ARENA, CONTESTS, Topic
from arena.store.results.events import StoredEvent
from arena.store.results.live_state import StoredLiveSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreState:
    """The state of the logs in the store.

    Attributes:
        store: which store it is; another text when its file was replaced.
        total: how many changes there have been.
        outside: how many of them were neither of a tournament that is there nor of submitted bots.
        tournaments: the number of each tournament that is not deleted, by name.
        last_events: the number of the last event of each tournament, by the tournament's number.
        last_states: the number of the last state of each match that is watched while it is played, by the numbers of
            tournament and match.
        progress_times: when the progress of each run was written, by the tournament's number.
        entered: which bots and games are in which tournaments, and which bots are submitted.
        corrected: how often each tournament was corrected, deleted or renamed while this is watched, by its number.
        contests: a number that is another one when what everybody may know of contests has changed.
        owners: how often other names were to be shown with bots, such as none after their owner has left.
    """

    store: str
    total: int = 0
    outside: int = 0
    tournaments: Mapping[str, int] = field(default_factory=dict)
    last_events: Mapping[int, int] = field(default_factory=dict)
    last_states: Mapping[tuple[int, int], int] = field(default_factory=dict)
    progress_times: Mapping[int, str] = field(default_factory=dict)
    entered: Entered = field(default_factory=Entered)
    corrected: Mapping[int, int] = field(default_factory=dict)
    contests: int = 0
    owners: int = 0

    def total_of(self, topic: Topic) -> int:
        """Return a number that is another one after a change of all there is, of bots or of a game.

        A bot that is submitted is no change of others, else every page of a bot would be built again for each.
        """
        if topic == ARENA:
            return self.total
        if topic == CONTESTS:
            return self.contests + len(self.tournaments)  # for one may have begun
        played = sum(self.last_events.get(number, 0) for number in self.entered.numbers(topic))
        return self.outside + played + self.entered.submitted(topic)

    def progress(self, topics: Iterable[Topic]) -> str:
        """Return a text that differs when there is news of how far a run of one of the topics is.

        Pages of bots and games don't say how far runs are.
        """
        times = self.progress_times
        numbers = set[int]()
        for topic in topics:
            if topic.tournament is not None:
                numbers.add(self.tournaments.get(topic.tournament, 0))
            elif topic == ARENA:
                numbers.update(times)
        return " ".join(times[number] for number in sorted(numbers) if number in times)

    def corrections(self, topics: Iterable[Topic]) -> str:
        """Return a text that differs after a tournament of one of the topics was corrected, deleted or renamed.

        What is before ``NAMES_END`` in it differs after a person has left: then nothing earlier may be shown.
        """
        found = []
        for topic in topics:
            if topic.tournament is not None:
                number = self.tournaments.get(topic.tournament)
                found.append("gone" if number is None else f"{number}.{self.corrected.get(number, 0)}")
            else:
                numbers = self.corrected if topic == ARENA else self.entered.numbers(topic)
                found.append(f"{sum(self.corrected.get(number, 0) for number in numbers)}")
        return " ".join([f"{self.owners}{NAMES_END}{self.store}", *found])

    def cursor(self, topics: Iterable[Topic]) -> Cursor:
        """Return the place of a reader that has read everything; topics that are not there are left out."""
        places: dict[str, int] = {}
        for topic in topics:
            if topic.tournament is None:
                places[topic.counter] = self.total_of(topic)
            elif (number := self.tournaments.get(topic.tournament)) is not None:
                places[tournament_log(number)] = self.last_events.get(number, 0)
                if topic.match is not None:
                    places[live_log(number, topic.match)] = self.last_states.get((number, topic.match), 0)
        return Cursor(self.store, places)


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event of a tournament.

    Attributes:
        tournament: the tournament's number.
        stored: what the store has of it.
    """

    tournament: int
    stored: StoredEvent

    def concerns(self, match: int) -> bool:
        """Return whether it may have changed what there is to see of a match."""
        details = self.stored.details
        if self.stored.kind not in (EventKind.RESULTS, EventKind.ANNOTATED):
            return self.stored.kind is not EventKind.SCHEDULE
        return match in details.matches or details.match_count > len(details.matches)


@dataclass(frozen=True, slots=True)
class LoggedLiveMatch:
    """A match that is watched while it is played, as it stands.

    Attributes:
        tournament: the tournament's number.
        stored: what the store has of it.
    """

    tournament: int
    stored: StoredLiveSummary

    @property
    def place(self) -> tuple[int, int]:
        """The numbers of tournament and match."""
        return self.tournament, self.stored.summary.match


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What has changed in the store since the last time.

    Attributes:
        state: after the change.
        events: the new ones, in the order of each log.
        missed: tournaments with events that could not be read: more than a log keeps.
        live: new states of matches that are played.
        gone: matches that were watched, and are not being played any more.
        progressed: tournaments with news of how far their run is.
        is_replaced: whether this is another store, so that nothing known of the other one holds.
    """

    state: StoreState
    events: tuple[LoggedEvent, ...] = ()
    missed: frozenset[int] = frozenset()
    live: tuple[LoggedLiveMatch, ...] = ()
    gone: frozenset[tuple[int, int]] = frozenset()
    progressed: frozenset[int] = frozenset()
    is_replaced: bool = False
