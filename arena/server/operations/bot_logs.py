"""The output of bots, for their authors and for directors; and the state of an author's own bots.

Public pages have no output of bots, so it has its own addresses. A person who may not read it gets the same answer
whether there is any or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NoReturn

from arena.analysis.measures.values import RatingPoint
from arena.base.bot_text import OPERATOR, Audience, author_of
from arena.base.errors import UnknownNameError
from arena.base.records import MatchRecord
from arena.base.shipped import PREFIX
from arena.server.gate.operation import Operation, Visit, Who
from arena.server.http.problems import bad_address
from arena.server.operations.contest_form import ContestName
from arena.server.operations.contest_results import embargoed_contest
from arena.server.operations.people import MyBot, MyRating
from arena.server.operations.submissions import details_of, line_of, suspension_text
from arena.site.frame.model import Page
from arena.site.links import address_of
from arena.site.matches.match_model import MatchFault, MatchParameters
from arena.site.matches.viewed_match import note_text
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.bot_profile_model import BotParameters, PersonPage, PersonParameters
from arena.site.pages.results_model import BotLogs, MatchLogs, Noted, SeatLog, reported_numbers
from arena.store.home import ArenaHome
from arena.store.people.values import DAY_SECONDS, Permission, Submission, SubmissionState

MAX_MATCHES = 20
MAX_NOTED_MATCHES = 50
NOTHING = "There are no logs here that you may read."


class EmbargoedMatch(MatchParameters):
    """Which match of a contest."""

    name: ContestName


def audience_of(visit: Visit) -> Audience:
    """Return the output that the person who asks may read: all, that of their own bots, or none."""
    actor = visit.actor
    if Permission.DIRECT in actor.permissions:
        return OPERATOR
    if actor.person is None or Permission.SUBMIT not in actor.permissions:
        return Audience()
    return author_of(visit.people.submissions.accepted_labels(actor.person))


def reads_bot(audience: Audience, bot: str) -> bool:
    """Return whether an audience may read the output of a bot; everybody may read that of example bots."""
    return bot.startswith(PREFIX) or audience.may_read(bot)


@Operation("GET", "/tournaments/{tournament}/matches/{match}/logs", Who.MEMBER, "bot_logs", room="overview")
def show_match_logs(visit: Visit, sent: MatchParameters) -> MatchLogs:
    """What bots have said in a match, for their authors and directors."""
    audience = audience_of(visit)
    address = address_of(PAGE_BY_NAME["match"], {"tournament": sent.tournament, "match": sent.match})
    return _match_logs(visit.homes.public(), sent, audience, address or "")


@Operation(
    "GET",
    "/contests/{name}/hidden/tournaments/{tournament}/matches/{match}/logs",
    Permission.DIRECT,
    "bot_logs",
    room="contests",
)
def show_embargoed_logs(visit: Visit, sent: EmbargoedMatch) -> MatchLogs:
    """For directors, while results are hidden. What bots have said in a match."""
    stored, _ = embargoed_contest(visit, sent.name)
    address = address_of(PAGE_BY_NAME["match"], {"tournament": sent.tournament, "match": sent.match})
    with visit.homes.embargoed(stored.name) as home:
        if home is None or sent.tournament not in stored.contest.tournaments:
            _raise_nothing_here()
        logs = _match_logs(home, sent, OPERATOR, f"/contests/{stored.name}/hidden{address}")
        return logs.model_copy(update={"is_hidden": True})


@Operation("GET", "/bots/{bot}/logs", Who.MEMBER, "bot_logs", room="bots")
def show_bot_logs(visit: Visit, sent: BotParameters) -> BotLogs:
    """What a bot has said in its latest matches with a fault, for its author and directors."""
    audience, store = audience_of(visit), visit.homes.public().store
    labels = [label for label in store.labels_of(sent.bot) if audience.may_read(label)]
    if not labels:
        _raise_nothing_here()
    faults = sorted(
        (fault for label in labels for fault in store.faults_of(label, MAX_MATCHES)),
        key=lambda fault: (store.tournament(fault.tournament).number, fault.match),
    )
    places = list(dict.fromkeys((fault.tournament, fault.match) for fault in reversed(faults)))[:MAX_MATCHES]
    logs = []
    for tournament, match in places:
        address = address_of(PAGE_BY_NAME["match"], {"tournament": tournament, "match": match}) or ""
        logs.append(_logs(store.record_of(tournament, match), tournament, audience, address, labels))
    latest = store.matches_of(labels).latest(MAX_NOTED_MATCHES)
    numbers = reported_numbers((record for _, record in latest), labels)
    return BotLogs(bot=sent.bot, numbers=numbers, matches=tuple(logs))


def _raise_nothing_here() -> NoReturn:
    raise bad_address(NOTHING, 404)


def _match_logs(home: ArenaHome, sent: MatchParameters, audience: Audience, address: str) -> MatchLogs:
    if audience == Audience():
        _raise_nothing_here()
    record = None
    with suppress(UnknownNameError):
        record = home.store.find_record(sent.tournament, sent.match)
    if record is None or not any(map(audience.may_read, record.bots)):
        _raise_nothing_here()
    return _logs(record, sent.tournament, audience, address, record.bots)


def _logs(record: MatchRecord, tournament: str, audience: Audience, address: str, bots: Sequence[str]) -> MatchLogs:
    noted = record.notes_for(audience)
    return MatchLogs(
        tournament=tournament,
        match=record.match,
        address=address,
        seats=tuple(
            SeatLog(
                bot=bot,
                seat=seat,
                exit=report.exit_shown_to(audience, bot, has_fault=any(fault.seat == seat for fault in record.faults)),
                stderr=report.stderr.shown_to(audience, bot) or "",
                faults=tuple(
                    MatchFault.of(fault, detail=fault.told_to(audience, bot))
                    for fault in record.faults
                    if fault.seat == seat
                ),
                notes=tuple(
                    Noted(ply=ply + 1, text=note_text(note)) for ply, note in noted if record.actions[ply][0] == seat
                ),
            )
            for seat, (bot, report) in enumerate(zip(record.bots, record.seats, strict=True))
            if bot in bots and audience.may_read(bot)
        ),
    )


MAX_BOTS = 20

_NEXT = {
    SubmissionState.WAITING: "Wait a moment: it is checked in its turn.",
    SubmissionState.CHECKING: "Wait a moment: it is being checked.",
    SubmissionState.REJECTED: "Mend it, try it with arena check, and submit it again: under a new version if this one"
    " was accepted before.",
    SubmissionState.FAILED: "Submit it again: the arena could not check it.",
    SubmissionState.WITHDRAWN: "Submit it again when it is ready.",
}


def person_pages(visit: Visit) -> tuple[tuple[Page, PersonParameters], ...]:
    """Return the page that rates the bots of the person who asks; nothing while the arena knows no such bot."""
    owners = visit.homes.public().store.owners().by_bot.values()
    if all(owner.person != visit.person.name for owner in owners):
        return ()
    return ((PAGE_BY_NAME["person"], PersonParameters(person=visit.person.name)),)


def my_bots(visit: Visit, page: PersonPage | None) -> tuple[MyBot, ...]:
    """Return the bots of whoever asks, the latest submitted first; ``page`` is the public one, if it is there."""
    newest: dict[str, Submission] = {}
    accepted: dict[str, str] = {}
    for submission in visit.people.submissions.of(visit.person):
        name = submission.bot.rpartition("@")[0] if submission.bot else submission.file_name
        newest.setdefault(name, submission)
        if submission.bot and submission.state is SubmissionState.ACCEPTED:
            accepted.setdefault(name, submission.bot)
    return tuple(
        _my_bot(visit, name, submission, accepted.get(name, ""), page)
        for name, submission in list(newest.items())[:MAX_BOTS]
    )


def _my_bot(visit: Visit, name: str, submission: Submission, accepted: str, page: PersonPage | None) -> MyBot:
    details = details_of(submission, visit)
    ratings = tuple(_ratings(visit, name, page)) if page is not None else ()
    return MyBot(
        name=name,
        submission=line_of(submission, visit),
        reason=details.reason,
        hint=details.hint,
        may_check_again=details.may_check_again,
        ratings=ratings,
        has_logs=page is not None and any(bot.name == name and bot.tournaments for bot in page.bots),
        next_step=_next_step(
            visit, submission, ratings, details.may_check_again, is_known=page is not None or not person_pages(visit)
        )
        + (f" Until then {accepted} plays." if accepted and submission.state is not SubmissionState.ACCEPTED else ""),
    )


def _next_step(
    visit: Visit, submission: Submission, ratings: Sequence[MyRating], may_check_again: bool, is_known: bool
) -> str:
    if may_check_again:
        return "Check it again if it is quick enough by itself: the machine may have been busy."
    if submission.state is not SubmissionState.ACCEPTED:
        return _NEXT[submission.state]
    if rest := suspension_text(submission, visit):
        return f"Nothing to do: it {rest}."
    if not ratings:
        if not is_known:
            return "Nothing to do: the arena is computing its rating."
        return "Nothing to do: where a ladder of its game is played, it enters by itself."
    return "See on its page which rivals beat it, look at a match it lost, and submit a better version."


def _ratings(visit: Visit, name: str, page: PersonPage) -> Iterator[MyRating]:
    versions = next((bot.versions for bot in page.bots if bot.name == name), ())

    def age(point: RatingPoint) -> tuple[int, str, int]:
        """Return a sort key: later points are larger, and at the same time those of newer versions."""
        return point.round or 0, point.at, -versions.index(point.bot) if point.bot in versions else -len(versions)

    points: dict[str, list[RatingPoint]] = {}
    for point in page.history:
        if point.bot.rpartition("@")[0] == name:
            points.setdefault(point.tournament, []).append(point)
    for points_of_tournament in points.values():
        latest = max(points_of_tournament, key=age)
        earlier = [
            point for point in points_of_tournament if visit.people.submissions.seconds_since(point.at) >= DAY_SECONDS
        ]
        before = max(earlier, key=age, default=None)
        yield MyRating.of(
            latest,
            change=None if before is None else latest.mu - before.mu,
            places_won=None if before is None else before.rank - latest.rank,
        )
    if not points:
        for rating in page.ratings:
            if rating.line.label.rpartition("@")[0] == name:
                yield MyRating.of(rating.line, bot=rating.line.label, game=rating.game, bots=rating.bots, tournament="")
