"""Contests: the list, what the reader may see of a contest, its announcements, and questions with answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import quote

from pydantic import Field, StrictBool

from arena.community.contests.contest_text import contest_text
from arena.community.contests.visibility import ContestHome, Visibility, visible
from arena.server.gate.operation import SEVERAL_LINES, Done, Number, Operation, Readable, ToShow, Visit, Who
from arena.server.http.problems import bad_address
from arena.server.operations.contest_form import Change, ContestName, changeable_fields, titles_of
from arena.server.operations.contest_view import (
    CAN_BE_ENTERED,
    contest_line,
    contest_time,
    entrants_text,
    rules_of,
)
from arena.server.operations.contests_model import (
    ContestChanges,
    ContestMessageLine,
    ContestPage,
    ContestsPage,
    ContestTournament,
    EntryLine,
    final_result,
    grade_lines,
    played_pages,
    tournament_of,
)
from arena.site.frame.model import Model
from arena.site.pages.tournament_model import TournamentPage
from arena.store.people.contest import (
    Contest,
    ContestEntrants,
    ContestPhase,
    ContestResults,
    StoredContest,
)
from arena.store.people.contest_messages import MAX_MESSAGE_CHARACTERS, last_news
from arena.store.people.rates import Rate
from arena.store.people.secret import digest_of
from arena.store.people.values import Permission

MESSAGES = Rate(60, 3600.0)
QUESTIONS = Rate(60, 3600.0)


@Operation("GET", "/contests", Who.ANYBODY, "contests", room="contests", is_in_the_open=True)
def show_contests(visit: Visit) -> ContestsPage:
    """All contests, those first that can be entered."""
    contests, now = visit.people.contests, visit.people.contests.now()
    may = visit.actor.permissions
    unseen = visit.unseen
    lines = [
        contest_line(one, len(contests.entries_of(one)), may, now, unseen.get(one.number, 0)) for one in contests.all()
    ]
    entered = sorted((one for one in lines if one.phase in CAN_BE_ENTERED), key=lambda one: one.deadline_at.at)
    others = [one for one in lines if one.phase not in CAN_BE_ENTERED]
    return ContestsPage(contests=(*entered, *others), may_direct=Permission.DIRECT in visit.actor.permissions)


@Operation("GET", "/contests/{name}", Who.ANYBODY, "contest", room="contests", is_in_the_open=True)
def show_contest(visit: Visit, name: ContestName) -> ContestPage | ToShow:
    """A contest: its rules, deadline and entries, and where its results are."""
    stored = found_contest(visit, name)
    page = _page(visit, stored)
    visibility = visible(stored, visit.actor.permissions, visit.people.contests.now())
    place, pages = played_pages(visit, stored) if visibility.has_all else (visit.homes.public_place, ())
    if stored.name not in (parameters.tournament for _, parameters in pages):
        return page  # no final has begun that this person may see
    entries = visit.people.contests.entries_of(stored)

    def finish(models: Sequence[Model | None]) -> ContestPage:
        played = [model for model in models if isinstance(model, TournamentPage)]
        if len(played) < len(models):
            return page.model_copy(update={"is_late": True})
        result = final_result(entries, played, is_hidden=place != visit.homes.public_place)
        person = visit.actor.person.name if visit.actor.person is not None else None
        own = next((line for line in grade_lines(entries, played) if line.person == person), None)
        return page.model_copy(update={"result": result, "own": own})

    return ToShow(home=place, pages=pages, finish=finish)


def _page(visit: Visit, stored: StoredContest) -> ContestPage:
    now = visit.people.contests.now()
    contest, visibility = stored.contest, visible(stored, visit.actor.permissions, now)
    entries = visit.people.contests.entries_of(stored)
    line = contest_line(stored, len(entries), visit.actor.permissions, now)
    own = visit.actor.person.name if visit.actor.person is not None else None
    hidden_since = visibility.hidden_since
    reveal_at = contest.reveal_at if stored.revealed_at is None else None
    return ContestPage.of(
        stored,
        contest,
        line=line,
        entrants=entrants_text(contest),
        hidden_since=contest_time(contest, hidden_since, now) if hidden_since is not None else None,
        reveal_at=contest_time(contest, reveal_at, now) if reveal_at is not None else None,
        is_revealed=stored.revealed_at is not None,
        rules=rules_of(contest),
        entries=tuple(
            EntryLine.of(entry, is_own=entry.author == own, handed_in_at=entry.submitted_at) for entry in entries
        ),
        is_short=len(entries) + len(contest.house_bots) * contest.stages[0].has_house_bots < contest.players,
        unchecked=0 if stored.closed_at else len(visit.people.contests.unfinished_of(stored)),
        tournaments=_tournaments(visit, stored, visibility),
        may_submit=line.phase in CAN_BE_ENTERED and _may_enter(visit, contest),
        result=None,
        is_late=False,
        has_result=hidden_since is None and visit.homes.result_path(contest.name).is_file(),
        messages=_messages(visit, stored),
        may_ask=Permission.SUBMIT in visit.actor.permissions and visit.actor.person is not None,
        changes=_changes(visit, stored, line.phase) if Permission.DIRECT in visit.actor.permissions else None,
    )


def _messages(visit: Visit, stored: StoredContest) -> tuple[ContestMessageLine, ...]:
    """Return the messages that the reader may read; in a browser, mark them as seen."""
    store, person = visit.people.contest_messages, visit.actor.number
    is_director = Permission.DIRECT in visit.actor.permissions
    found = store.of(stored.number, person, is_director=is_director)
    seen = store.seen(stored.number, person) if person is not None else 0
    if person is not None and visit.actor.session is not None and last_news(found) > seen:
        store.note_seen(stored.number, person, last_news(found))
    names = {one.number: one.name for one in visit.people.accounts.all()} if is_director and found else {}
    return tuple(
        ContestMessageLine.of(
            one,
            number=one.number if is_director else 0,
            is_own=person is not None and one.person == person,
            author=names.get(one.person or 0, ""),
            is_new=person is not None and one.news > seen,
        )
        for one in found
    )


def found_contest(visit: Visit, name: str) -> StoredContest:
    """Return the contest of the address; raise ProblemError without one."""
    stored = visit.people.contests.find(name)
    if stored is None:
        raise bad_address(f"There is no contest {name!r:.80}.", 404, "/contests")
    return stored


def _may_enter(visit: Visit, contest: Contest) -> bool:
    person = visit.actor.person
    if person is None or Permission.SUBMIT not in visit.actor.permissions:
        return False
    names = {name.lower() for name in contest.invited}
    return contest.entrants is ContestEntrants.EVERYBODY or person.name.lower() in names


def _tournaments(visit: Visit, stored: StoredContest, visibility: Visibility) -> tuple[ContestTournament, ...]:
    contest, public = stored.contest, visit.homes.public().store
    titles = {
        contest.qualification_name: "Qualification",
        contest.name: "Final" if contest.qualification else "Matches",
    }
    is_embargoed = visibility.home is ContestHome.EMBARGOED
    tournaments = (
        ContestTournament(
            name=name,
            title=titles[name],
            is_public=public.find_tournament(name) is not None,
            is_hidden=is_embargoed and tournament_of(visit, name, stored) is not None,
        )
        for name in contest.tournaments
    )
    return tuple(tournament for tournament in tournaments if tournament.is_public or tournament.is_hidden)


def _changes(visit: Visit, stored: StoredContest, phase: ContestPhase) -> ContestChanges:
    contest = stored.contest
    text = contest_text(contest)
    return ContestChanges(
        text=text,
        before=digest_of(text),
        time_zone=contest.time_zone,
        fields=changeable_fields(contest),
        titles=titles_of(Change),
        note=stored.stage_note,
        may_reveal=stored.revealed_at is None
        and contest.results is not ContestResults.OPEN
        and stored.cancelled_at is None,
        is_reveal_asked=stored.reveal_asked_at is not None,
        may_cancel=phase not in (ContestPhase.FINISHED, ContestPhase.CANCELLED),
        directed=tuple(name for name in contest.tournaments if visit.people.directors.report(name) is not None),
    )


Message = Annotated[str, Field(title="Text", min_length=1, max_length=MAX_MESSAGE_CHARACTERS), Readable, SEVERAL_LINES]
FORM = "/contests/{name}"


@Operation("POST", f"{FORM}/announce", Permission.DIRECT, form=FORM, rate=MESSAGES)
def announce(visit: Visit, name: ContestName, message: Message) -> Done:
    """Announce something to all who read about a contest."""
    stored = found_contest(visit, name)
    visit.people.contest_messages.announce(visit.person.name, stored.name, message)
    return _done(stored.name, "it is announced")


@Operation("POST", f"{FORM}/ask", Permission.SUBMIT, form=FORM, rate=QUESTIONS)
def ask(visit: Visit, name: ContestName, message: Message) -> Done:
    """Ask the directors of a contest something."""
    stored = found_contest(visit, name)
    visit.people.contest_messages.ask(visit.person, stored.name, message)
    return _done(stored.name, "the directors have your question")


@Operation("POST", f"{FORM}/questions/{{number}}/answer", Permission.DIRECT, form=FORM, rate=MESSAGES)
def answer(visit: Visit, name: ContestName, message: Message, number: Number, to_all: StrictBool | str = False) -> Done:
    """Answer a question, to whoever asked or to all."""
    stored, is_for_all = found_contest(visit, name), to_all not in (False, "")
    visit.people.contest_messages.answer(visit.person.name, stored.name, number, message, is_for_all=is_for_all)
    return _done(stored.name, f"question {number} is answered")


def _done(name: str, sentence: str) -> Done:
    return Done(to=f"/contests/{quote(name)}#messages", sentence=sentence)
