"""Topics and cursors of events, the index of bots and games in tournaments, and what changes in the store."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from hashlib import blake2b
from urllib.parse import quote, unquote

from arena.base.enums import EventKind
from arena.base.errors import UsageError
from arena.base.text import shortened_text
from arena.server.http.page_value import NAMES_END
from arena.store.results.events import StoredEvent
from arena.store.results.live_state import StoredLiveSummary
from arena.store.results.tournament_reader import Roster
from arena.store.results.values import StoredBot

# A topic is the path of its page, except for the topic of everything.

MAX_TOPICS = 20
"""Of a stream: a browser shares one among all its tabs."""

ACCEPTED = (
    "expected arena, tournaments/NAME, tournaments/NAME/matches/NUMBER, bots/NAME, bots/NAME/versus/RIVAL,"
    " games/NAME or contests, separated by commas"
)

ARENA_LOG = "a"
"""The log that counts all changes."""

CONTESTS_LOG = "k"
"""The name in cursors of the changes of contests."""

_MAX_MATCH = 2**31 - 1
"""The same as on pages of matches."""

_MAX_MATCH_DIGITS = len(str(_MAX_MATCH))
_MAX_ENCODED_CHARACTERS = 2_000


@dataclass(frozen=True)
class Topic:
    """Something that changes.

    Attributes:
        tournament: the name of a tournament; None for all that the others leave.
        match: the number of a match; None for the whole tournament.
        bots: the names of one bot or two, with or without versions: the tournaments that all of them entered.
        game: the name of a game: the tournaments in which it is played.
        is_contests: whether it is the public state of contests, which are in no tournament.
    """

    tournament: str | None = None
    match: int | None = None
    bots: tuple[str, ...] = ()
    game: str | None = None
    is_contests: bool = False

    @cached_property
    def path(self) -> str:
        """Its name, in which other names are encoded as in an address."""
        if self.tournament is not None:
            path = f"tournaments/{_quoted(self.tournament)}"
            return path if self.match is None else f"{path}/matches/{self.match}"
        if self.game is not None:
            return f"games/{_quoted(self.game)}"
        if self.is_contests:
            return "contests"
        return f"bots/{'/versus/'.join(map(_quoted, self.bots))}" if self.bots else "arena"

    @cached_property
    def counter(self) -> str:
        """The name in cursors of the count of changes of several tournaments; unused for one tournament."""
        if self.is_contests:
            return CONTESTS_LOG
        return ARENA_LOG if self == ARENA else f"c{blake2b(self.path.encode(), digest_size=6).hexdigest()}"


def _quoted(name: str) -> str:
    return quote(name, safe="")


ARENA = Topic()
CONTESTS = Topic(is_contests=True)


def parse_topics(text: str) -> tuple[Topic, ...]:
    """Return the topics in a list with commas, each once; raise UsageError for none, too many or an invalid one."""
    parts = [part for part in text.split(",", MAX_TOPICS + 1) if part]
    if not parts:
        raise UsageError(f"no topics: {ACCEPTED}")
    if len(parts) > MAX_TOPICS:
        raise UsageError(f"too many topics: expected at most {MAX_TOPICS}")
    return tuple(dict.fromkeys(_parse_topic(part) for part in parts))


def _parse_topic(text: str) -> Topic:
    match text.split("/") if len(text) <= _MAX_ENCODED_CHARACTERS else []:
        case ["arena"]:
            return ARENA
        case ["contests"]:
            return CONTESTS
        case ["tournaments", name] if name:
            return Topic(unquote(name))
        case ["tournaments", name, "matches", number] if name and _is_match(number):
            return Topic(unquote(name), int(number))
        case ["bots", name] if name:
            return Topic(bots=(unquote(name),))
        case ["bots", name, "versus", rival] if name and rival:
            return Topic(bots=(unquote(name), unquote(rival)))
        case ["games", name] if name:
            return Topic(game=unquote(name))
    raise UsageError(f"topic {shortened_text(text)!r}: {ACCEPTED}")


def _is_match(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _MAX_MATCH_DIGITS and 0 < int(text) <= _MAX_MATCH


# A cursor says how far a reader of events has come; the reader returns it to get the events after it.

_PART = r"-(?:a|k|c[0-9a-f]{12}|\d{1,18}(?:m\d{1,10})?)\.\d{1,18}"
_CURSOR = re.compile(rf"[0-9a-f]{{8}}(?:{_PART}){{0,{2 * MAX_TOPICS}}}", re.ASCII)


def tournament_log(tournament: int) -> str:
    """Return the name in cursors of a tournament's log."""
    return str(tournament)


def live_log(tournament: int, match: int) -> str:
    """Return the name in cursors of the states of a match that is being played."""
    return f"{tournament}m{match}"


@dataclass(frozen=True, slots=True)
class Cursor:
    """The number of the last event that was read, by log; each store counts by itself."""

    store: str
    places: Mapping[str, int]

    def __str__(self) -> str:
        return "-".join([self.store, *(f"{log}.{place}" for log, place in self.places.items())])


def parse_cursor(text: str) -> Cursor:
    """Return a cursor from its text; raise UsageError for any other text."""
    if not _CURSOR.fullmatch(text):
        raise UsageError(f"cursor {shortened_text(text)!r}: expected the id of an event as it was sent")
    store, *parts = text.split("-")
    return Cursor(store, {log: int(place) for log, _, place in (part.partition(".") for part in parts)})


# Pages of bots and games change with the tournaments they are in, and with submitted versions of the bots.

_MAX_NUMBER = 2**48 - 1
"""Numbers in cursors have at most 18 digits."""


class Entered:
    """An index of tournaments, by their bots and games, and of submitted bots."""

    def __init__(self, rosters: Mapping[int, Roster] | None = None, submitted: Iterable[StoredBot] = ()) -> None:
        self._submitted: defaultdict[str, int] = defaultdict(int)
        for bot in submitted:
            number = int.from_bytes(blake2b(f"{bot.label} {bot.digest}".encode(), digest_size=6).digest())
            self._submitted[bot.label] += number
            self._submitted[bot.name] += number
        self._of_bot: defaultdict[str, set[int]] = defaultdict(set)
        self._of_game: defaultdict[str, set[int]] = defaultdict(set)
        for number, roster in (rosters or {}).items():
            for label in roster.bots:
                self._of_bot[label].add(number)
                self._of_bot[label.rpartition("@")[0]].add(number)
            for game in roster.games:
                self._of_game[game].add(number)

    def numbers(self, topic: Topic) -> set[int]:
        """Return the numbers of the tournaments that all bots of a topic entered, or in which its game is played."""
        if topic.game is not None:
            return self._of_game.get(topic.game, set())
        return reduce(set.__and__, (self._of_bot.get(bot, set()) for bot in topic.bots)) if topic.bots else set()

    def submitted(self, topic: Topic) -> int:
        """Return a number that changes when versions of the bots of a topic are submitted or removed."""
        return sum(self._submitted.get(bot, 0) for bot in topic.bots) & _MAX_NUMBER


# The changes that the watcher of the store reports.


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreState:
    """The state of the logs in the store; mappings have the numbers of tournaments, or of tournaments and matches.

    Attributes:
        store: which store it is; another text when its file was replaced.
        total: how many changes there have been.
        outside: how many of them were neither of a tournament that is there nor of submitted bots.
        tournaments: the number of each tournament that is not deleted, by name.
        last_states: of each match that is watched while it is played.
        progress_times: when the progress of each run was written.
        corrected: how often each tournament was corrected, deleted or renamed while this is watched.
        contests: changes with the public state of contests.
        owners: changes when bots are shown with other names, such as none after their owner has left.
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
        """Return a number that changes with all there is, with bots or with a game.

        A bot that is submitted is no change of others, else every page of a bot would be built again for each.
        """
        if topic == ARENA:
            return self.total
        if topic == CONTESTS:
            return self.contests + len(self.tournaments)  # a tournament of one may have begun
        played = sum(self.last_events.get(number, 0) for number in self.entered.numbers(topic))
        return self.outside + played + self.entered.submitted(topic)

    def progress(self, topics: Iterable[Topic]) -> str:
        """Return a text that changes with the progress of runs of the topics; pages of bots and games show none."""
        times = self.progress_times
        numbers = set[int]()
        for topic in topics:
            if topic.tournament is not None:
                numbers.add(self.tournaments.get(topic.tournament, 0))
            elif topic == ARENA:
                numbers.update(times)
        return " ".join(times[number] for number in sorted(numbers) if number in times)

    def corrections(self, topics: Iterable[Topic]) -> str:
        """Return a text that changes when a tournament of one of the topics is corrected, deleted or renamed.

        What is before ``NAMES_END`` in it changes after a person has left: then nothing earlier may be shown.
        """
        texts = []
        for topic in topics:
            if topic.tournament is not None:
                number = self.tournaments.get(topic.tournament)
                texts.append("gone" if number is None else f"{number}.{self.corrected.get(number, 0)}")
            else:
                numbers = self.corrected if topic == ARENA else self.entered.numbers(topic)
                texts.append(f"{sum(self.corrected.get(number, 0) for number in numbers)}")
        return " ".join([f"{self.owners}{NAMES_END}{self.store}", *texts])

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
    """An event of a tournament, by the tournament's number."""

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
    """A match that is watched while it is played, as it stands."""

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
        missed: tournaments with events that could not be read: more than a log keeps.
        gone: matches that were watched, and are not being played any more.
        is_replaced: whether this is another store.
    """

    state: StoreState
    events: tuple[LoggedEvent, ...] = ()
    missed: frozenset[int] = frozenset()
    live: tuple[LoggedLiveMatch, ...] = ()
    gone: frozenset[tuple[int, int]] = frozenset()
    progressed: frozenset[int] = frozenset()
    is_replaced: bool = False
