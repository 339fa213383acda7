"""What pages about submissions show."""

from __future__ import annotations

from arena.site.frame.model import Model
from arena.site.pages.first_rating import FirstRating
from arena.store.people.submission import SubmissionState


class SubmissionLine(Model):
    """A submission as everybody sees it: that it failed, but not why.

    Attributes:
        number: in the order in which they came.
        author: whose it is.
        bot: its name@version; None before its manifest was read.
        state: how far it is.
        created_at: when it came.
        finished_at: when it was decided; None before.
        is_own: whether it belongs to whoever looks.
    """

    number: int
    author: str
    bot: str | None
    state: SubmissionState
    created_at: str
    finished_at: str | None
    is_own: bool


class SubmissionsPage(Model):
    """What waits to be checked, and why; and what was checked.

    Attributes:
        waiting: in the order in which it will be checked, the one that is being checked first; not all of many.
        waiting_count: how many wait or are being checked, in all.
        seconds_each: what a check has taken lately, in the middle; None if none is known.
        latest: what was decided, the latest first.
        may_submit: whether whoever looks may hand in a bot.
        refusal: why nobody may hand in anything here; "" if one may.
        max_upload_bytes: how large an upload may be.
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
        line: what everybody sees of it.
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


class SubmissionDetails(Model):
    """What only the author sees of a submission.

    Attributes:
        file_name: what the author's file was called.
        size_bytes: of the upload.
        digest: SHA-256 of it.
        note: of the author.
        reason: why it was refused or failed; "" otherwise.
        hint: how to fix it, which is the end of the report; "" if that is not known.
        report: what was tried, line by line.
        may_withdraw: whether it can still be withdrawn.
        suspended: why the author's bots play on no ladder today, as a sentence; "" if they do.
        rest: until when the bot rests, to follow its name in a sentence; "" if it plays.
    """

    file_name: str
    size_bytes: int
    digest: str
    note: str
    reason: str
    hint: str
    report: str
    may_withdraw: bool
    suspended: str = ""
    rest: str = ""


SubmissionPage.model_rebuild()
