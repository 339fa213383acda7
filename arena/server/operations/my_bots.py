"""A person's own bots: how the newest check went, how good each is and was yesterday, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.server.gate.operation import Visit
from arena.server.operations.people import MyBot, MyRating
from arena.server.operations.submissions import details_of, line_of
from arena.site.frame.model import Page
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.person_model import PersonPage, PersonParameters
from arena.site.pages.standings_model import RatingPoint
from arena.store.people.values import DAY_SECONDS, Submission, SubmissionState

MAX_BOTS = 20

_NEXT = {
    SubmissionState.WAITING: "Wait a moment: it is checked in its turn.",
    SubmissionState.CHECKING: "Wait a moment: it is being checked.",
    SubmissionState.REJECTED: "Mend it, try it with arena check, and submit it again as it is or under a new version.",
    SubmissionState.FAILED: "Submit it again: the arena could not check it.",
    SubmissionState.WITHDRAWN: "Submit it again when it is ready.",
}


def person_pages(visit: Visit) -> tuple[tuple[Page, PersonParameters], ...]:
    """Return the page to ask for about the ratings of whoever asks; none before a bot of theirs is known."""
    owners = visit.homes.public().store.owners().by_bot.values()
    if all(one.person != visit.person.name for one in owners):
        return ()
    return ((PAGE_BY_NAME["person"], PersonParameters(person=visit.person.name)),)


def my_bots(visit: Visit, page: PersonPage | None) -> tuple[MyBot, ...]:
    """Return the bots of whoever asks, the latest submitted first; ``page`` is the public one, if it is there."""
    newest: dict[str, Submission] = {}
    for one in visit.people.submissions.of(visit.person):
        name = one.bot.rpartition("@")[0] if one.bot else one.file_name
        newest.setdefault(name, one)
    return tuple(_my_bot(visit, name, one, page) for name, one in list(newest.items())[:MAX_BOTS])


def _my_bot(visit: Visit, name: str, one: Submission, page: PersonPage | None) -> MyBot:
    details = details_of(one, visit)
    ratings = tuple(_ratings(visit, name, page)) if page is not None else ()
    return MyBot(
        name=name,
        submission=line_of(one, visit),
        reason=details.reason,
        hint=details.hint,
        may_check_again=details.may_check_again,
        ratings=ratings,
        has_logs=page is not None and any(bot.name == name and bot.tournaments for bot in page.bots),
        next_step=_next_step(
            one, ratings, details.may_check_again, is_known=page is not None or not person_pages(visit)
        ),
    )


def _next_step(one: Submission, ratings: Sequence[MyRating], may_check_again: bool, is_known: bool) -> str:
    if may_check_again:
        return "Check it again if it is quick enough by itself: the machine may have been busy."
    if one.state is not SubmissionState.ACCEPTED:
        return _NEXT[one.state]
    if not ratings:
        if not is_known:
            return "Nothing to do: its rating is being computed."
        return "Nothing to do: where a ladder of its game is played, it enters by itself."
    return "See on its page which rivals beat it, look at a match it lost, and submit a better version."


def _ratings(visit: Visit, name: str, page: PersonPage) -> Iterator[MyRating]:
    points: dict[str, list[RatingPoint]] = {}
    for point in page.history:
        if point.bot.rpartition("@")[0] == name:
            points.setdefault(point.tournament, []).append(point)
    for own in points.values():
        latest = max(own, key=lambda point: (point.round or 0, point.at))
        earlier = [point for point in own if visit.people.submissions.seconds_since(point.at) >= DAY_SECONDS]
        before = max(earlier, key=lambda point: (point.round or 0, point.at), default=None)
        yield MyRating.of(
            latest,
            change=None if before is None else latest.mu - before.mu,
            places_won=None if before is None else before.rank - latest.rank,
        )
    if not points:
        for one in page.ratings:
            if one.line.label.rpartition("@")[0] == name:
                yield MyRating.of(one.line, bot=one.line.label, game=one.game, bots=one.bots, tournament="")
