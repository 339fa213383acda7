"""Submitting bots, and what becomes of them."""

from __future__ import annotations

from statistics import median
from typing import Annotated

from pydantic import Field

from arena.base.bot_text import EVERYBODY, author_of
from arena.base.errors import ArenaError, UsageError
from arena.base.records import MEBIBYTE
from arena.base.text import size_text
from arena.community.submissions.upload_directory import MAX_UPLOAD_BYTES
from arena.server.gate.operation import Done, Download, Number, Operation, Visit, Who
from arena.server.http.problems import bad_address
from arena.server.operations.play_choices import suspended_bots
from arena.site.frame.model import Model
from arena.site.pages.results import first_ratings
from arena.site.pages.standings_model import FirstRating
from arena.store.people.rates import MAX_DAILY_BYTES, Rate
from arena.store.people.stored_contests import suspension_sentence
from arena.store.people.values import (
    HINT,
    UNFINISHED,
    ListedSubmission,
    Permission,
    Submission,
    SubmissionState,
    is_timeout,
)


class SubmissionLine(Model):
    """A submission as everybody sees it: that it failed, but not why; its bot is None before its manifest was read."""

    number: int
    author: str
    bot: str | None
    state: SubmissionState
    created_at: str
    finished_at: str | None
    is_own: bool


class SubmissionsPage(Model):
    """The queue of submissions, and the latest decisions.

    Attributes:
        waiting: in the order of their checks, the one that is being checked first; not all of many.
        seconds_each: the median of the latest checks; None if none is known.
        refusal: why nobody may submit anything here; "" if one may.
        suspended: why the bots of whoever looks play on no ladder today, as a sentence; "" if they do.
    """

    waiting: tuple[SubmissionLine, ...]
    waiting_count: int
    seconds_each: float | None
    latest: tuple[SubmissionLine, ...]
    may_submit: bool
    refusal: str
    max_upload_bytes: int
    suspended: str = ""


class SubmissionPage(Model):
    """A submission.

    Attributes:
        ahead: how many are checked before it; None if it does not wait.
        details: what only its author sees; None for others.
        ratings: of the bot, in the ladders that are played now and whose director is still uncertain of it.
        is_awaited: whether it was accepted a moment ago, so that it may soon be rated.
    """

    line: SubmissionLine
    ahead: int | None
    details: SubmissionDetails | None
    ratings: tuple[FirstRating, ...] = ()
    is_awaited: bool = False

    @property
    def is_asked_for_again(self) -> bool:
        """Whether it may soon be rated."""
        return self.is_awaited


class SubmissionDetails(Model):
    """What only the author sees of a submission.

    Attributes:
        file_name: on the author's machine.
        digest: SHA-256 of the upload.
        hint: how to fix it, which is the end of the report; "" if that is not known.
        suspended: why the author's bots play on no ladder today, as a sentence; "" if they do.
        rest: until when the bot is suspended, to follow its name in a sentence; "" if it plays.
    """

    file_name: str
    size_bytes: int
    digest: str
    note: str
    reason: str
    hint: str
    report: str
    may_withdraw: bool
    may_check_again: bool = False
    suspended: str = ""
    rest: str = ""


SubmissionPage.model_rebuild()


UPLOADS = Rate(60, 3600.0)
"""Also of what is refused after it has come."""
AWAITED_SECONDS = 120.0
"""How long the page of a submission that was accepted is asked for again, until it is rated."""
MAX_KEPT_BYTES = 256 * MEBIBYTE
"""Of a person: of older submissions the upload is removed, and what the arena copied of an accepted bot stays."""


@Operation("GET", "/submissions", Who.ANYBODY, "submissions", is_in_the_open=True)
def show_submissions(visit: Visit) -> SubmissionsPage:
    """What waits to be checked, and why; and what was checked."""
    seconds = visit.people.submissions.seconds_to_check()
    waiting = visit.people.submissions.unfinished()
    counts = visit.people.submissions.queue().counts
    latest = [submission for submission in visit.people.submissions.latest() if submission.state not in UNFINISHED]
    return SubmissionsPage(
        waiting=tuple(line_of(submission, visit) for submission in waiting),
        waiting_count=sum(counts.get(state, 0) for state in UNFINISHED),
        seconds_each=median(seconds) if seconds else None,
        latest=tuple(line_of(submission, visit) for submission in latest),
        may_submit=visit.actor.person is not None and Permission.SUBMIT in visit.actor.permissions,
        refusal=visit.uploads.upload_obstacle(),
        max_upload_bytes=MAX_UPLOAD_BYTES,
        suspended=_suspended(visit),
    )


def _suspended(visit: Visit) -> str:
    person = visit.actor.person
    if person is None or not visit.people.record_quota.is_used_up(person.number):
        return ""
    size = size_text(MAX_DAILY_BYTES)
    return (
        f"Your bots wrote more than {size} today, in stderr, notes and details of faults: they are suspended from"
        " ladders until 00:00 UTC. Write less in each match."
    )


@Operation("POST", "/submissions", Permission.SUBMIT, form="/submissions", rate=UPLOADS, takes_upload=True)
def submit(
    visit: Visit,
    file_name: Annotated[str, Field(min_length=1, max_length=200)],
    note: Annotated[str, Field(max_length=2000)] = "",
) -> Done:
    """Submit a bot: a file, a zip or a tar."""
    assert visit.received is not None
    upload = visit.received
    submission = visit.people.submissions.add(
        visit.person, upload.name, upload.digest, upload.size_bytes, file_name, note
    )
    for name in visit.people.submissions.uploads_beyond(visit.person, MAX_KEPT_BYTES):
        visit.uploads.remove(name)
    return Done(
        to=f"/submissions/{submission.number}", sentence=f"submission {submission.number} is {submission.state}"
    )


@Operation("GET", "/submissions/{number}", Who.ANYBODY, "submission", is_in_the_open=True)
def show_submission(visit: Visit, number: Number) -> SubmissionPage:
    """A submission, and what became of it."""
    person = visit.actor.person
    own = visit.people.submissions.find_own(person, number) if person is not None else None
    submission = own or visit.people.submissions.find_listed(number)
    if submission is None:
        raise bad_address(f"There is no submission {number}.", 404)
    is_accepted = submission.state is SubmissionState.ACCEPTED
    rest = suspension_text(submission, visit) if own is not None and is_accepted else ""
    ratings = (
        first_ratings(visit.homes.public().store, {submission.bot})
        if is_accepted and submission.bot is not None
        else ()
    )
    seconds_since = visit.people.submissions.seconds_since
    is_fresh = submission.finished_at is not None and seconds_since(submission.finished_at) < AWAITED_SECONDS
    return SubmissionPage(
        line=line_of(submission, visit),
        ahead=visit.people.submissions.ahead_of(number),
        details=details_of(own, visit, rest, _suspended(visit))
        if own is not None and _may_see_details(visit)
        else None,
        ratings=ratings,
        is_awaited=is_accepted and not ratings and not rest and is_fresh,
    )


def suspension_text(submission: ListedSubmission, visit: Visit) -> str:
    """Return until when an accepted bot is suspended; "" if it plays."""
    suspended = suspended_bots(visit)
    if not suspended.suspensions:
        return ""
    try:
        bot = visit.homes.public().bots.find(submission.bot or "")
    except ArenaError:  # its files are not here now
        return ""
    rest = suspended.of(bot.label, bot.games)
    return suspension_sentence(rest, suspended.now) if rest is not None else ""


@Operation("POST", "/submissions/{number}/withdraw", Permission.SUBMIT, form="/submissions/{number}")
def withdraw(visit: Visit, number: Number) -> Done:
    """Withdraw a submission before it is decided."""
    submission = own_submission(visit, number)
    visit.people.submissions.withdraw(visit.person, submission.number)
    return Done(to=f"/submissions/{submission.number}", sentence=f"submission {submission.number} is withdrawn")


@Operation("POST", "/submissions/{number}/again", Permission.SUBMIT, form="/submissions/{number}")
def check_again(visit: Visit, number: Number) -> Done:
    """Check a submission again whose bot took too long: the machine may have been busy."""
    submission = own_submission(visit, number)
    if not _may_check_again(submission, visit):
        raise UsageError(
            f"submission {submission.number}: only a bot that a timeout rejected is checked again, while its file is"
            " kept"
        )
    visit.people.submissions.check_again(visit.person, submission.number)
    return Done(to=f"/submissions/{submission.number}", sentence=f"submission {submission.number} is checked again")


def _may_check_again(submission: Submission, visit: Visit) -> bool:
    has_timed_out = submission.state is SubmissionState.REJECTED and is_timeout(submission.reason.for_operator())
    return has_timed_out and visit.uploads.path(submission.upload).is_file()


@Operation("GET", "/submissions/{number}/upload", Permission.SUBMIT, media_type="application/octet-stream")
def download(visit: Visit, number: Number) -> Download:
    """The submitted file, for its author."""
    submission = own_submission(visit, number)
    path = visit.uploads.path(submission.upload)
    if not path.is_file():
        raise bad_address(f"The file of submission {submission.number} is not here any more.", 404)
    return Download(path=path, name=submission.file_name)


def own_submission(visit: Visit, number: int) -> Submission:
    """Return a submission of whoever asks; those of others are not there."""
    submission = visit.people.submissions.find_own(visit.person, number)
    if submission is None:
        raise bad_address(f"You have no submission {number}.", 404)
    return submission


def _is_own(submission: ListedSubmission, visit: Visit) -> bool:
    return visit.actor.person is not None and visit.actor.person.name == submission.author


def _may_see_details(visit: Visit) -> bool:
    return visit.actor.session is not None or Permission.SUBMIT in visit.actor.permissions


def line_of(submission: ListedSubmission, visit: Visit) -> SubmissionLine:
    """Return what everybody may know of a submission."""
    return SubmissionLine.of(
        submission,
        bot=submission.bot if submission.state is SubmissionState.ACCEPTED or _is_own(submission, visit) else None,
        is_own=_is_own(submission, visit),
    )


def details_of(submission: Submission, visit: Visit, rest: str = "", suspended: str = "") -> SubmissionDetails:
    """Return what its author may know of a submission."""
    audience = author_of([submission.subject]) if _is_own(submission, visit) else EVERYBODY
    report = submission.report.shown_to(audience, submission.subject) or ""
    last_line = report.rpartition("\n")[2]
    return SubmissionDetails.of(
        submission,
        reason=submission.reason.shown_to(audience, submission.subject) or "",
        hint=last_line.removeprefix(HINT) if last_line.startswith(HINT) else "",
        report=report,
        may_withdraw=submission.state in UNFINISHED,
        may_check_again=_may_check_again(submission, visit),
        suspended=suspended,
        rest=rest,
    )
