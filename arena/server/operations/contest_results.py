"""Results of contests: hidden pages for directors, grades, and the signed result for everybody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import create_model

from arena.base.grades import GradeState, Scheme, Student, TableLine, grades_of
from arena.base.names import MAX_REASON_CHARACTERS
from arena.community.contests.visibility import visible
from arena.server.gate.homes import HomePlace
from arena.server.gate.operation import Document, Download, OfHome, Operation, ToShow, Visit, Who
from arena.server.http.problems import bad_address
from arena.server.operations.contest_form import ContestName
from arena.server.operations.contests import found_contest
from arena.server.operations.contests_model import (
    UNRANKED,
    GradeLine,
    SigningKeyPage,
    embargoed_place,
    grade_lines,
    place_order,
    played_pages,
)
from arena.site.frame.model import Model, Page, Table
from arena.site.links import ServedLinks
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.tournament_model import TournamentPage
from arena.site.publish.signature import signing_key
from arena.site.render import Setting, asset_digests
from arena.store.people.contest import ContestEntry, StoredContest
from arena.store.people.values import Permission

HIDDEN_PAGES = ("tournament", "why", "matches", "match")
WITHOUT_PAGE = ("puzzles", "puzzle")
"""Pages of a tournament that there are only when everybody may see it."""

NOTICE = "Only directors see this page until the results of the contest are revealed."
CSV = "text/csv; charset=utf-8"


class EmbargoedLinks(ServedLinks):
    """Addresses in pages of an embargoed home: embargoed pages lead to embargoed pages."""

    def __init__(self, contest: str) -> None:
        super().__init__(asset_digests(), "/account")
        self._contest = contest

    def page(self, name: str, suffix: str = "", **values: Any) -> str | None:
        """Return the address of a page; None for its twins and feeds, which hidden pages do not have."""
        address = None if suffix or name in WITHOUT_PAGE else super().page(name, **values)
        return address if address is None or name not in HIDDEN_PAGES else f"/contests/{self._contest}/hidden{address}"


def _embargoed(page: Page) -> Operation:
    name: Any = (ContestName, ...)

    @Operation(
        "GET",
        f"/contests/{{name}}/hidden{page.path}",
        Permission.DIRECT,
        fields=create_model(f"Hidden{page.parameters.__name__}", __base__=page.parameters, name=name),
        model=page.model,
        summary=f"For directors, while results are hidden. {page.summary}",
    )
    def show(visit: Visit, sent: Any) -> ToShow:
        stored, place = embargoed_contest(visit, sent.name)
        parameters = page.parameters.model_validate(sent.model_dump(exclude={"name"}))
        if getattr(parameters, "tournament", None) not in stored.contest.tournaments:
            raise bad_address(f"Nothing of the contest {stored.name!r:.80} is hidden there.", 404)

        def finish(models: Sequence[Model]) -> OfHome:
            setting = Setting(
                links=EmbargoedLinks(stored.name),
                is_asked_for_again=True,
                notice=NOTICE,
                notice_address=f"/contests/{stored.name}",
            )
            return OfHome(page=page, parameters=parameters, model=models[0], setting=setting)

        return ToShow(home=place, pages=((page, parameters),), finish=finish, are_awaited=True)

    return show


PAGES = tuple(_embargoed(PAGE_BY_NAME[name]) for name in HIDDEN_PAGES)


def embargoed_contest(visit: Visit, name: str) -> tuple[StoredContest, HomePlace]:
    """Return a contest and the home of its embargoed results; raise ProblemError without any."""
    stored = found_contest(visit, name)
    place = embargoed_place(visit, stored)
    if place is None:
        raise bad_address(f"Nothing of the contest {stored.name!r:.80} is hidden.", 404)
    return stored, place


@Operation("GET", "/contests/{name}/grades.csv", Permission.DIRECT, media_type="text/csv")
def grades(visit: Visit, name: ContestName) -> ToShow:
    """A line for each person of a contest, also for who could enter and has submitted nothing."""
    stored = found_contest(visit, name)
    place, pages = played_pages(visit, stored)
    contests = visit.people.contests
    entries, rejected = contests.entries_of(stored), contests.rejected_of(stored)
    guests = contests.may_enter(stored.contest)

    def finish(models: Sequence[Model]) -> Document:
        played = [model for model in models if isinstance(model, TournamentPage)]
        content = GradesPage(lines=grade_rows(guests, entries, rejected, played)).csv().encode()
        return Document(content=content, media_type=CSV, name=f"{stored.name}-grades.csv")

    return ToShow(home=place, pages=pages, finish=finish, are_awaited=True)


@Operation(
    "GET",
    "/contests/{name}/result.zip",
    Who.ANYBODY,
    media_type="application/octet-stream",
    is_in_the_open=True,
)
def download_result(visit: Visit, name: ContestName) -> Download:
    """The signed result of a contest: its pages and records as a published folder."""
    stored = found_contest(visit, name)
    path = visit.homes.result_path(stored.name)
    if not visible(stored, (), visit.people.contests.now()).has_all or not path.is_file():
        raise bad_address(f"There is no result of the contest {stored.name!r:.80} yet.", 404)
    return Download(path=path, name=f"{stored.name}.zip")


@Operation("GET", "/signing-key", Who.ANYBODY, "signing_key", room="contests", is_in_the_open=True)
def show_key(visit: Visit) -> SigningKeyPage:
    """The key with which this arena signs results."""
    key = signing_key(visit.homes.public.directory).public
    return SigningKeyPage(key=key.text, pem=key.pem.decode())


class GradeRow(GradeLine):
    """A line with its grade; bots whose ratings overlap form a group and share the grade."""

    state: GradeState
    group: int | None
    grade: float | str | None
    reason: str


class GradesPage(Model):
    """The grades of a contest, by rank."""

    lines: tuple[GradeRow, ...]

    def tables(self) -> Mapping[str, Table]:
        """Return the table of grades."""
        keys = (*(key for key in GradeRow.model_fields if key != "is_disqualified"), "disqualified")
        return {"grades": Table.of(keys, [line.values() for line in self.lines])}


def grade_rows(
    guests: Iterable[str],
    entries: Iterable[ContestEntry],
    rejected: Mapping[str, str],
    played: Sequence[TournamentPage],
) -> tuple[GradeRow, ...]:
    """Return a line for everybody who has entered or may enter; ``rejected`` has the reasons by author."""
    entries = tuple(entries)
    ranked = {line.person: line for line in grade_lines(entries, played)}
    bots = {
        person: tuple(entry.bot for entry in entries if entry.author == person) if best.rank is None else (best.bot,)
        for person, best in ranked.items()
    }
    listed_people = {person.casefold() for person in (*ranked, *rejected)}
    absent = [name for name in guests if name.casefold() not in listed_people]
    grades = grades_of(
        [Student(person, bots.get(person, ())) for person in dict.fromkeys((*ranked, *rejected, *absent))],
        list(_table_lines(played)),
        Scheme(),
        waiting={entry.bot for entry in entries},
        disqualified={label for page in played for label in page.disqualified},
        rejected={person: reason.partition("\n")[0][:MAX_REASON_CHARACTERS] for person, reason in rejected.items()},
    )
    rows = [
        GradeRow.model_validate(
            {**(ranked.get(grade.student) or UNRANKED).model_dump(), "person": grade.student}
            | {"state": grade.state, "group": grade.group, "grade": grade.grade, "reason": grade.reason}
        )
        for grade in grades
    ]
    return tuple(sorted(rows, key=lambda row: (*place_order(row), list(GradeState).index(row.state), row.person)))


def _table_lines(played: Sequence[TournamentPage]) -> Iterator[TableLine]:
    """Yield the lines of the final, and then those of bots that are only in the qualification."""
    seen: set[str] = set()
    for page in played:
        for line in page.standings:
            if line.label not in seen:
                seen.add(line.label)
                yield TableLine(
                    name=line.label,
                    label=line.label,
                    group=(page.name, line.group),
                    rank=line.rank,
                    matches=line.matches,
                    score_percent=line.score_percent,
                    forfeits=sum(line.faults.values()),
                )
