"""A submission: what an author handed in, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from arena.base.bot_text import BotText


class SubmissionState(StrEnum):
    """How far a submission is."""

    WAITING = "waiting"
    CHECKING = "checking"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"
    """By its author, who does not want it to play."""
    FAILED = "failed"
    """The arena could not check it; that is no fault of the author."""


HINT = "to fix it: "
"""How the last line of the report about a bot that was refused begins, if it is known how to fix it."""

UNFINISHED = (SubmissionState.WAITING, SubmissionState.CHECKING)
FINAL = (SubmissionState.ACCEPTED, SubmissionState.REFUSED, SubmissionState.WITHDRAWN, SubmissionState.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSubmission:
    """What lists show of a submission.

    Attributes:
        bot: its name@version; None before its manifest was read. For the author alone unless it was accepted.
    """

    number: int
    author: str
    state: SubmissionState
    created_at: str
    finished_at: str | None
    bot: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission(ListedSubmission):
    """A submission, with what is for its author alone.

    Attributes:
        upload: the name of the file with the bytes that came.
        digest: SHA-256 of them.
        reason: why it was rejected or failed, in a sentence; "" otherwise.
        report: what was tried, line by line.
    """

    upload: str
    digest: str
    size_bytes: int
    file_name: str
    note: str
    reason: BotText[str]
    report: BotText[str]

    @property
    def subject(self) -> str:
        """What the audience of its check log reads, in place of a bot: it may have become none."""
        return f"submission {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedSubmission:
    """A submission that a checker has taken.

    Attributes:
        upload: the name of the file with the bytes that came.
        bot: its name@version, if an earlier try has found that out.
        tries: how often it was taken, with this time.
    """

    number: int
    person: int
    author: str
    upload: str
    file_name: str
    bot: str | None
    created_at: str
    tries: int
