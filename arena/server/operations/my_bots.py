"""*My bots* on the page of an account: the newest check of each, its ratings, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.analysis.measures.values import RatingPoint
from arena.server.gate.operation import Visit
from arena.server.operations.submissions import SubmissionLine, details_of, line_of, suspension_text
from arena.site.frame.model import Model, Page
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.bot_profile_model import PersonPage, PersonParameters
from arena.store.people.values import DAY_SECONDS, Submission, SubmissionState

MAX_BOTS = 20

_NEXT = {
    SubmissionState.WAITING: "Wait a moment: it is checked in its turn.",
    SubmissionState.CHECKING: "Wait a moment: it is being checked.",
    SubmissionState.REJECTED: "Mend it, try it with arena check, and submit it again: under a new version if this one"
    " was accepted before.",
    SubmissionState.FAILED: "Submit it again: the arena could not check it.",
    SubmissionState.WITHDRAWN: "Submit it again when it is ready.",
}


class MyRating(Model):
    """The rating of a bot, in a ladder (``tournament``) or on the leaderboard of a game, and its change in a day.

    Attributes:
        change: of the rating since then, when the bot may have had another version; None if it had no rating.
        places_won: since then; negative for places lost.
    """

    bot: str
    tournament: str
    game: str
    rank: int
    bots: int
    mu: float
    margin_95: float | None
    change: float | None = None
    places_won: int | None = None


class MyBot(Model):
    """A bot of a person, with its newest submission, why that was rejected if it was, and what to do next.

    Attributes:
        name: of the bot; of the file, if its manifest was not read.
        may_check_again: whether it was rejected by a timeout, and is checked again when its author asks.
        has_logs: whether it has played, so that its author can read what it wrote.
    """

    name: str
    submission: SubmissionLine
    reason: str
    hint: str
    may_check_again: bool
    ratings: tuple[MyRating, ...]
    has_logs: bool
    next_step: str


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
