"""What pages about contests show, and the grades of their people."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from arena.base.results import competition_ranks
from arena.community.contests.visibility import ContestHome, visible
from arena.server.gate.homes import HomePlace
from arena.server.gate.operation import Visit
from arena.server.http.topics import CONTESTS
from arena.site.frame.model import Model, Page, Sentence
from arena.site.matches.games_model import GameOption
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.standings_model import StandingLine
from arena.site.pages.tournament_model import TournamentPage, TournamentParameters
from arena.store.people.contest import ContestEntry, ContestPhase, ContestResults, StoredContest
from arena.store.results.values import StoredTournament


class ContestTime(Model):
    """A time (UTC, ISO 8601), and as the people of a contest read it; None seconds are left if it has passed."""

    at: str
    local: str
    zone: str
    seconds_left: float | None


class ContestMessageLine(Model):
    """An announcement, or a question with its answer ("" before), as who looks may read it.

    Attributes:
        number: for directors, who answer it; 0 for others, lest its gaps tell how much was asked.
        author: who asked, for directors; "" for others.
        is_new: whether who looks has not seen it before.
    """

    number: int
    is_question: bool
    text: str
    at: str
    answer: str
    answered_at: str | None
    is_for_all: bool
    is_own: bool
    author: str
    is_new: bool


class ContestLine(Model):
    """A contest in a list; submissions count up to the end of the second of the deadline.

    Attributes:
        unseen: announcements and answers that who looks has not seen; for directors, also questions without an answer.
    """

    name: str
    title: str
    game: str
    phase: ContestPhase
    opens_at: ContestTime
    deadline_at: ContestTime
    entries: int
    unseen: int = 0


class ContestsPage(Model):
    """All contests: those that people can enter first, by their deadline; then the latest."""

    contests: tuple[ContestLine, ...]
    may_direct: bool

    @property
    def live_topics(self) -> tuple[str, ...]:
        """The topics whose events change it."""
        return (CONTESTS.path,)


class EntryLine(Model):
    """A bot that enters, as ``name@version``."""

    author: str
    bot: str
    handed_in_at: str
    is_own: bool


class ContestRule(Model):
    """A rule, in words."""

    about: str
    text: str


class ContestTournament(Model):
    """A tournament of a contest; hidden if who looks may see more of it than everybody."""

    name: str
    title: str
    is_public: bool
    is_hidden: bool


class ContestChanges(Model):
    """What a director can do with a contest, and in ``note`` why it does not continue.

    Attributes:
        before: a digest of the text; what is sent with it changes nothing if the text is another one by then.
    """

    text: str
    before: str
    time_zone: str
    fields: Mapping[str, str]
    titles: Mapping[str, str]
    note: str
    may_reveal: bool
    is_reveal_asked: bool
    may_cancel: bool
    directed: tuple[str, ...]


class GradeLine(Model):
    """What a person has reached in a contest with the best of their bots.

    Attributes:
        tournament: the one that ranks it; "" if none does.
        rank: of that bot in the final; without one there, behind all that are, by the qualification; None without any.
    """

    person: str
    bot: str
    tournament: str
    rank: int | None
    rating: float | None
    margin_95: float | None
    points: float = 0.0
    matches: int = 0
    forfeits: int = 0
    is_disqualified: bool = False

    def values(self) -> dict[str, Any]:
        """Return what CSV has of it, by the keys of columns."""
        return {**self.model_dump(), "disqualified": "yes" if self.is_disqualified else "no"}


class FinalResult(Model):
    """Who is first in the final of a contest, or in all its matches if there is no qualification.

    Attributes:
        is_hidden: whether only directors see it now.
        places: the best bot of each person with one of the first places; those of the house take none.
        disqualified: the bots that are, there or in the qualification.
    """

    tournament: str
    is_finished: bool
    is_hidden: bool
    places: tuple[GradeLine, ...]
    verdict: Sentence
    players: int
    standings: tuple[StandingLine, ...]
    disqualified: tuple[str, ...]


class ContestPage(Model):
    """A contest, with what who looks may see and do.

    Attributes:
        hidden_since: since when results are embargoed; None if they are public.
        reveal_at: when they are revealed; None if a director does it, or nothing is embargoed.
        is_short: whether fewer have entered than a match needs, with those of the house.
        unchecked: how many submissions may still enter when they are checked.
        own: what the best bot of whoever looks has reached, where they may see it; None without one.
        result: who is first; None where who looks may not see that, there is nothing yet, or it is being computed.
        messages: announcements, questions and answers, the latest first.
        changes: what a director can do; None for others.
    """

    line: ContestLine
    description: str
    created_by: str
    entrants: str
    results: ContestResults
    hidden_since: ContestTime | None
    reveal_at: ContestTime | None
    is_revealed: bool
    cancel_reason: str
    rules: tuple[ContestRule, ...]
    entries: tuple[EntryLine, ...]
    players: int
    is_short: bool
    unchecked: int
    tournaments: tuple[ContestTournament, ...]
    may_submit: bool
    result: FinalResult | None
    own: GradeLine | None = None
    is_late: bool
    has_result: bool
    messages: tuple[ContestMessageLine, ...] = ()
    may_ask: bool = False
    changes: ContestChanges | None

    @property
    def live_topics(self) -> tuple[str, ...]:
        """The topics whose events change it; none of them is embargoed."""
        shows_public = self.result is not None and not self.result.is_hidden
        return (CONTESTS.path, *((f"tournaments/{quote(self.line.name, safe='')}",) if shows_public else ()))

    @property
    def is_asked_for_again(self) -> bool:
        """Whether it shows embargoed results or settings."""
        return self.changes is not None and self.hidden_since is not None

    @property
    def authors(self) -> dict[str, str]:
        """The owners of the submitted bots in its standings, by ``name@version``."""
        lines = self.result.standings if self.result is not None else ()
        return {line.label: line.author for line in lines if line.author and not line.is_author_claimed}


class NewContestPage(Model):
    """The form that makes a contest: its fields at first, their titles, the choices of some, and an example in TOML.

    Attributes:
        options: those of the game, with the values of the template; empty while they are not known.
    """

    template: str
    fields: Mapping[str, str]
    titles: Mapping[str, str]
    choices: Mapping[str, tuple[tuple[str, str], ...]]
    game: str
    options: tuple[GameOption, ...]
    games: tuple[str, ...]
    formats: tuple[str, ...]
    house_bots: tuple[str, ...]
    chosen_house_bots: tuple[str, ...]
    time_zones: tuple[str, ...]
    example: str


class SigningKeyPage(Model):
    """The key with which an arena signs results, in one line and as a file."""

    key: str
    pem: str


# Grades: what each person has reached in a contest, from the pages of its tournaments that who asks may see.

FIRST_PLACES = (1, 2, 3)
"""That the page of a contest names."""
FIRST_LINES = 5
"""Of the standings of the final that it shows."""


def embargoed_place(visit: Visit, stored: StoredContest) -> HomePlace | None:
    """Return the home in which who asks sees matches of a contest that others do not; None without such matches."""
    home = visible(stored, visit.actor.permissions, visit.people.contests.now()).home
    return visit.homes.embargoed_place(stored.name) if home is ContestHome.EMBARGOED else None


def played_pages(
    visit: Visit, stored: StoredContest
) -> tuple[HomePlace, tuple[tuple[Page, TournamentParameters], ...]]:
    """Return the pages of the tournaments of a contest that have begun, the final first, and the home they are of."""
    place = embargoed_place(visit, stored)
    names = reversed(stored.contest.tournaments)
    played = [name for name in names if tournament_of(visit, name, stored if place else None) is not None]
    page = PAGE_BY_NAME["tournament"]
    return place or visit.homes.public_place, tuple((page, TournamentParameters(tournament=name)) for name in played)


def tournament_of(visit: Visit, name: str, embargoed_of: StoredContest | None) -> StoredTournament | None:
    """Return a tournament, of the embargoed home of a contest if there is one."""
    if embargoed_of is None:
        return visit.homes.public().store.find_tournament(name)
    with visit.homes.embargoed(embargoed_of.name) as home:
        return home.store.find_tournament(name) if home is not None else None


def grade_lines(entries: Iterable[ContestEntry], played: Sequence[TournamentPage]) -> tuple[GradeLine, ...]:
    """Return a line for each person's best bot, ranked among those of authors; ``played`` has the final first."""
    entries = tuple(entries)
    disqualified = {label for page in played for label in page.disqualified}
    entered = {entry.bot for entry in entries} - disqualified
    ranked: dict[str, GradeLine] = {}
    for page in played:
        above = sum(line.rank is not None for line in ranked.values())
        for label, line in _ranked(page, above, entered - ranked.keys()):
            ranked.setdefault(label, line)
    best: dict[str, GradeLine] = {}
    for entry in entries:
        own = {"person": entry.author, "bot": entry.bot, "is_disqualified": entry.bot in disqualified}
        line = ranked.get(entry.bot, UNRANKED).model_copy(update=own)
        known = best.get(entry.author)
        if known is None or place_order(line) < place_order(known):
            best[entry.author] = line
    return tuple(sorted(best.values(), key=lambda line: (*place_order(line), line.person)))


def final_result(entries: Iterable[ContestEntry], played: Sequence[TournamentPage], *, is_hidden: bool) -> FinalResult:
    """Return who is first; ``played`` has the final first."""
    final = played[0]
    grades = grade_lines(entries, played) if final.recorded else ()
    return FinalResult(
        tournament=final.name,
        is_finished=final.finished_at is not None,
        is_hidden=is_hidden,
        places=tuple(line for line in grades if line.rank in FIRST_PLACES and line.tournament == final.name),
        verdict=final.verdict,
        players=final.players,
        standings=final.standings[:FIRST_LINES] if final.recorded else (),
        disqualified=tuple(dict.fromkeys(label for page in played for label in page.disqualified)),
    )


UNRANKED = GradeLine(person="", bot="", tournament="", rank=None, rating=None, margin_95=None)


def place_order(line: GradeLine) -> tuple[bool, int]:
    """Return what sorts lines by rank; those without one come last."""
    return line.rank is None, line.rank or 0


def _ranked(page: TournamentPage, above: int, entered: Collection[str]) -> Iterator[tuple[str, GradeLine]]:
    """Yield the bots of a tournament that have entered, by the rules of its format; house bots take no places."""
    places: Mapping[str, int] = {line.label: line.place for line in page.ranking.lines} if page.ranking else {}
    lines = [line for line in page.standings if line.label in entered]
    found = {line.label: places.get(line.label) if places else line.rank for line in lines}
    counted = [place for place in found.values() if place is not None]
    ranks = dict(zip(counted, competition_ranks(counted), strict=True))
    for line in lines:
        place = found[line.label]
        yield (
            line.label,
            GradeLine.of(
                line,
                person="",
                bot=line.label,
                tournament=page.name,
                rank=None if place is None else above + ranks[place],
                rating=line.mu if line.margin_95 is not None else None,
                forfeits=sum(line.faults.values()),
            ),
        )
