"""Checks what authors have handed in, one after the other: unpacked, built and tried out, all confined.

What a bot does wrong is in the report for its author. What the arena does wrong makes the submission fail, or wait for
another try; it is never blamed on the bot.
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
from collections.abc import Iterator
from pathlib import Path

from arena.conformance.submission import submit
from arena.errors import BotDefinitionError, DatabaseError, UploadError, UsageError, VoidMatchError
from arena.home import ArenaHome
from arena.people.person_name import look_alike_key
from arena.people.submission import SubmissionState
from arena.records import Bot
from arena.shipped import example_bots
from arena.store.people.people_store import PeopleStore
from arena.store.people.submissions import CLAIM_SECONDS, Claim
from arena.submissions.upload_directory import UploadDirectory

KEEP_EVERY_SECONDS = CLAIM_SECONDS / 6
MAX_TRIES = 3

BOT_NAME = re.compile(r"[A-Za-z0-9]+(?:[ ._-][A-Za-z0-9]+)*")
NAME_RULE = "expected letters a-z or A-Z and digits, with single spaces, '.', '_' or '-' between them"

_TAKEN = "this name, or one that looks like it, belongs to another author"
_OUR_FAILURE = "the arena could not check it; that is no fault of the bot, so hand it in again"

_log = logging.getLogger("arena.checker")


class Checker:
    """Checks submissions."""

    def __init__(self, home: ArenaHome, people: PeopleStore, uploads: UploadDirectory) -> None:
        """Prepare.

        Args:
            home: where accepted bots go.
            people: has the submissions.
            uploads: what was handed in.
        """
        self._home, self._people, self._uploads = home, people, uploads

    def check_next(self) -> bool:
        """Check the oldest submission that waits; return whether there was one."""
        claim = self._people.submissions.claim()
        if claim is None:
            return False
        if claim.submission.tries > MAX_TRIES:
            self._give_up(claim)
            return True
        with _kept_up(claim, str(self._home.directory)) as report:
            try:
                state, reason = self._check(claim, report)
            except (UsageError, VoidMatchError, OSError):
                _log.exception("submission %d could not be checked", claim.submission.number)
                if claim.submission.tries < MAX_TRIES:
                    return True  # it waits until the claim has run out, and is checked again
                state, reason = SubmissionState.FAILED, _OUR_FAILURE
        if not claim.finish(state, report.text(), reason, report.bot):
            _log.warning("submission %d was decided otherwise while it was checked", claim.submission.number)
            self._forget(claim, report)
        return True

    def _give_up(self, claim: Claim) -> None:
        """Decide about a submission that has ended its checkers: it is accepted if its bot was listed before that."""
        one = claim.submission
        listed = {bot.label: bot.submitted_at for bot in self._home.store.submitted_bots()}
        if one.bot is not None and listed.get(one.bot, "") >= one.created_at:
            claim.finish(SubmissionState.ACCEPTED, f"{one.bot} is accepted")
        else:
            claim.finish(SubmissionState.FAILED, "", _OUR_FAILURE)

    def _check(self, claim: Claim, report: _Report) -> tuple[SubmissionState, str]:
        def accept(bot: Bot) -> None:
            report.bot = bot.label
            report.add(f"{bot.label}: copied")
            if BOT_NAME.fullmatch(bot.name) is None or not bot.version.isascii():
                raise BotDefinitionError(f"bot {bot.label!r}: {NAME_RULE}")
            if self._is_of_the_house(bot) or not self._people.submissions.own_bot_name(
                claim.submission.person, bot.name
            ):
                raise BotDefinitionError(f"bot {bot.label!r}: {_TAKEN}")
            claim.keep(report.text(), bot.label)  # known before it can be listed

        with self._uploads.named(claim.submission.upload, claim.submission.file_name) as path:
            try:
                result = submit(self._home, path, report.add, before_trial=accept)
            except (BotDefinitionError, UploadError) as error:  # all else is the machine's fault
                sentence = report.shown(str(error).replace(f"{path.parent}/", ""))
                report.add(sentence)
                return SubmissionState.REFUSED, sentence
        if result.refusal is not None:
            report.add(result.refusal)
            refusal = report.shown(result.refusal)
            if result.stderr:
                report.add(f"what it wrote to stderr:\n{result.stderr}")
            report.add(f"to fix it: {result.hint}")
            return SubmissionState.REFUSED, refusal
        report.is_listed = not result.is_old
        report.add(f"{result.bot.label} is {'already ' if result.is_old else ''}accepted")
        return SubmissionState.ACCEPTED, ""

    def _is_of_the_house(self, bot: Bot) -> bool:
        """Return whether a bot's name, or one that looks like it, is that of a bot that no author has handed in."""
        if self._people.submissions.owner(bot.name) is not None:
            return False
        names = {*example_bots(), *(stored.name for stored in self._home.store.submitted_bots())}
        return look_alike_key(bot.name) in map(look_alike_key, names)

    def _forget(self, claim: Claim, report: _Report) -> None:
        """Take a bot out of the list again that this check has put there, and whose author has withdrawn it."""
        one = self._people.submissions.find(claim.submission.number)
        if report.is_listed and report.bot is not None and one is not None and one.state is SubmissionState.WITHDRAWN:
            with contextlib.suppress(UsageError):
                self._home.bots.remove(report.bot)


class _Report:
    """The lines of a report, and the bot it is about; written in one thread and read in another."""

    def __init__(self, home: str) -> None:
        self.bot: str | None = None
        self.is_listed = False
        self._lines: list[str] = []
        own = re.escape(str(Path(__file__).parents[1]))
        self._places = re.compile(rf"{re.escape(home)}/bots/[0-9a-f]+/(?=[^/])|{re.escape(home)}/|{own}/")

    def add(self, line: str) -> None:
        self._lines.append(self.shown(line))

    def shown(self, line: str) -> str:
        """Return a line without the places of the machine: the author has other ones."""
        visible = line.encode("utf-8", "replace").decode().replace("\0", "\ufffd")  # no NUL in PostgreSQL
        return self._places.sub("", visible)

    def text(self) -> str:
        return "\n".join(self._lines)


@contextlib.contextmanager
def _kept_up(claim: Claim, home: str) -> Iterator[_Report]:
    """Give a report that is written to the database again and again, which keeps the claim up."""
    report, is_over = _Report(home), threading.Event()

    def keep() -> None:
        while not is_over.wait(KEEP_EVERY_SECONDS):
            with contextlib.suppress(DatabaseError):
                claim.keep(report.text(), report.bot)

    keeper = threading.Thread(target=keep, daemon=True)
    keeper.start()
    try:
        yield report
    finally:
        is_over.set()
        keeper.join()
