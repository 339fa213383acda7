"""Grades: what each person has reached in a contest, from the pages of its tournaments that who asks may see."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from arena.base.results import competition_ranks
from arena.community.contests.visibility import ContestHome, visible
from arena.server.gate.homes import HomePlace
from arena.server.gate.operation import Visit
from arena.server.operations.contests_model import FinalResult, GradeLine
from arena.site.frame.model import Page
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.tournament_model import TournamentPage, TournamentParameters
from arena.store.people.contest import ContestEntry, StoredContest

FIRST_PLACES = (1, 2, 3)
"""That the page of a contest names."""
FIRST_LINES = 5
"""Of the standings of the final that it shows."""


def home_of(visit: Visit, stored: StoredContest) -> ContestHome:
    """Return where who asks reads the latest results that they may see."""
    return visible(stored, visit.actor.permissions, visit.people.contests.now()).home


def has_hidden(visit: Visit, stored: StoredContest) -> bool:
    """Return whether who asks sees matches of a contest that others do not."""
    return home_of(visit, stored) is ContestHome.HIDDEN and visit.homes.has_hidden(stored.name)


def played_pages(
    visit: Visit, stored: StoredContest
) -> tuple[HomePlace, tuple[tuple[Page, TournamentParameters], ...]]:
    """Return the pages of the tournaments of a contest that have begun, the final first, and the home they are of."""
    is_hidden = has_hidden(visit, stored)
    place = visit.homes.hidden_place(stored.name) if is_hidden else visit.homes.public_place
    played = [name for name in reversed(stored.contest.tournaments) if _is_played(visit, stored, name, is_hidden)]
    page = PAGE_BY_NAME["tournament"]
    return place, tuple((page, TournamentParameters(tournament=name)) for name in played)


def _is_played(visit: Visit, stored: StoredContest, tournament: str, is_hidden: bool) -> bool:
    if not is_hidden:
        return visit.homes.public().store.find_tournament(tournament) is not None
    with visit.homes.hidden(stored.name) as home:
        return home is not None and home.store.find_tournament(tournament) is not None


def grade_lines(entries: Iterable[ContestEntry], played: Sequence[TournamentPage]) -> tuple[GradeLine, ...]:
    """Return a line for each person's best bot, ranked among those of authors; ``played`` has the final first."""
    entries = tuple(entries)
    disqualified = {label for page in played for label in page.disqualified}
    entered = {entry.bot for entry in entries} - disqualified
    ranked: dict[str, GradeLine] = {}
    for page in played:
        last = max((line.rank or 0 for line in ranked.values()), default=0)
        for label, line in _ranked(page, last, entered - ranked.keys()):
            ranked.setdefault(label, line)
    best: dict[str, GradeLine] = {}
    for entry in entries:
        own = {"person": entry.author, "bot": entry.bot, "is_disqualified": entry.bot in disqualified}
        line = ranked.get(entry.bot, _UNRANKED).model_copy(update=own)
        known = best.get(entry.author)
        if known is None or _order(line) < _order(known):
            best[entry.author] = line
    return tuple(sorted(best.values(), key=lambda line: (*_order(line), line.person)))


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


_UNRANKED = GradeLine(person="", bot="", tournament="", rank=None, rating=None, margin_95=None)


def _order(line: GradeLine) -> tuple[bool, int]:
    return line.rank is None, line.rank or 0


def _ranked(page: TournamentPage, last: int, entered: Collection[str]) -> Iterator[tuple[str, GradeLine]]:
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
                rank=None if place is None else last + ranks[place],
                rating=line.mu if line.margin_95 is not None else None,
                forfeits=sum(line.faults.values()),
            ),
        )
