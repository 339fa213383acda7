"""The checker: unpacks, builds and tries out submissions, one after the other, all confined.

Its program ends when nothing waits, or with the process that started it.
"""

from __future__ import annotations

import contextlib
import logging
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from arena.base.errors import BotDefinitionError, DatabaseError, StoreError, UploadError, UsageError, VoidMatchError
from arena.base.programs.service_program import DIRECTORY, Idleness, ProblemNote, end_now, keep_trying, run_service
from arena.base.records import MEBIBYTE, Bot
from arena.base.shipped import example_bots, package_directory
from arena.base.text import size_text
from arena.community.submissions.submission import submit
from arena.community.submissions.upload_directory import (
    UploadDirectory,
    can_contain_uploads,
    note_containment,
    tell_owners,
)
from arena.sandbox.isolation.launcher import close_launcher
from arena.sandbox.isolation.reaper import UPLOAD_PREFIX
from arena.store.home import CHECKING, ArenaHome, open_people, uploads_path
from arena.store.people.people_store import PeopleStore
from arena.store.people.submission_rows import CLAIM_SECONDS, Claim
from arena.store.people.values import SubmissionState, look_alike_key
from arena.store.results.events import Commits
from arena.store.results.lock import FileLock
from arena.store.results.values import OwnedBot


class StoppedError(BaseException):
    """The work was stopped. Not an ``Exception``, which the stopped work might catch."""


@contextmanager
def stoppable() -> Iterator[Callable[[], None]]:
    """Give a function by which another thread stops the work within; without effect outside the main thread.

    Raises:
        StoppedError: in the work, once, when it is stopped.
    """
    main = threading.main_thread()
    if threading.current_thread() is not main:
        yield lambda: None
        return
    is_stoppable = threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if is_stoppable.is_set():
            is_stoppable.clear()
            raise StoppedError

    def stop() -> None:
        if is_stoppable.is_set() and main.ident is not None:
            signal.pthread_kill(main.ident, signal.SIGUSR1)

    earlier = signal.signal(signal.SIGUSR1, interrupt)
    is_stoppable.set()
    try:
        yield stop
    finally:
        is_stoppable.clear()
        signal.signal(signal.SIGUSR1, earlier)


# The report tells the author what the bot does wrong. If the arena fails, the submission fails or waits for another
# try; the bot is never blamed for that.

KEEP_EVERY_SECONDS = CLAIM_SECONDS / 6
MAX_TRIES = 3
MAX_CHECK_SECONDS = 1800.0
"""For a whole check: a build has 300 s, and a match of a slow bot against itself takes minutes."""
MAX_COPIES_BYTES = 1024 * MEBIBYTE
"""Of an author's accepted bots together, in all versions; recorded matches can be verified without them."""

BOT_NAME = re.compile(r"[A-Za-z0-9]+(?:[ ._-][A-Za-z0-9]+)*")
NAME_RULE = "expected letters a-z or A-Z and digits, with single spaces, '.', '_' or '-' between them"

_NAME_TAKEN = "this name, or one that looks like it, belongs to another author"
_NAME_OF_THE_HOUSE = "this name, or one that looks like it, belongs to a bot of this arena; choose another"
_OUR_FAILURE = "the arena could not check it; that is no fault of the bot, so submit it again"

_TOO_LONG = f"the check took longer than {MAX_CHECK_SECONDS / 60:.0f} minutes and was stopped"

_log = logging.getLogger("arena.checker")


class Checker:
    """Checks submissions."""

    def __init__(
        self,
        home: ArenaHome,
        people: PeopleStore,
        uploads: UploadDirectory,
        is_alone: Callable[[], bool] = lambda: False,
    ) -> None:
        """Prepare; ``is_alone`` returns whether no other checker is at work here."""
        self._home, self._people, self._uploads, self._is_alone = home, people, uploads, is_alone

    def check_next(self) -> bool:
        """Check the oldest submission that waits; return whether there was one."""
        claim = self._people.submissions.claim(self._is_alone())
        if claim is None:
            return False
        if claim.submission.tries > MAX_TRIES:
            self._give_up(claim)
            return True
        try:
            self._check_claimed(claim)
        except KeyboardInterrupt:  # this checker ends; after the release, the next one begins at once
            with contextlib.suppress(DatabaseError):  # then the next one begins when the claim has expired
                claim.release()
            raise
        return True

    def _check_claimed(self, claim: Claim) -> None:
        decided: tuple[SubmissionState, str] | None = None
        with _report_of(claim, str(self._home.directory)) as report:
            try:
                with stoppable() as report.stop:
                    decided = self._check(claim, report)
            except StoppedError:
                close_launcher()  # ends what is left of the build, and drops its unread answer
                decided = self._stopped(claim, report)
            except (UsageError, VoidMatchError, OSError):
                _log.exception("submission %d could not be checked", claim.submission.number)
                if claim.submission.tries >= MAX_TRIES:
                    decided = SubmissionState.FAILED, _OUR_FAILURE
        if decided is None:
            claim.postpone()
            return
        state, reason = decided
        if not claim.finish(state, report.text(), reason, report.bot, report.copy_bytes):
            _log.warning("submission %d was decided otherwise while it was checked", claim.submission.number)
            self._unlist_withdrawn(claim, report)
            tell_owners(self._people, self._home.store)  # its author may have left meanwhile
        self._release_name(claim, report.bot)

    def _stopped(self, claim: Claim, report: _Report) -> tuple[SubmissionState, str]:
        """Return the decision on a submission whose check was stopped; without effect if it was withdrawn."""
        report.is_listed = self._was_listed(claim, report.bot)
        if report.is_listed:
            return SubmissionState.ACCEPTED, ""
        if not report.is_late:
            return SubmissionState.FAILED, _OUR_FAILURE
        report.add(_TOO_LONG)
        return SubmissionState.REJECTED, _TOO_LONG

    def _was_listed(self, claim: Claim, bot: str | None) -> bool:
        """Return whether an earlier try, or a check that was stopped, has listed its author's own bot."""
        if bot is None or self._people.submissions.owner(bot.rpartition("@")[0]) != claim.submission.person:
            return False
        listed = {bot.label: bot.submitted_at for bot in self._home.store.submitted_bots()}
        return listed.get(bot, "") >= claim.submission.created_at

    def _give_up(self, claim: Claim) -> None:
        """Decide on a submission that has crashed its checkers: accept it if its bot was listed before the crash."""
        submission = claim.submission
        if self._was_listed(claim, submission.bot):
            claim.finish(SubmissionState.ACCEPTED, f"{submission.bot} is accepted")
        else:
            claim.finish(SubmissionState.FAILED, "", _OUR_FAILURE)
            self._release_name(claim, submission.bot)

    def _check(self, claim: Claim, report: _Report) -> tuple[SubmissionState, str]:
        def check_copied_bot(bot: Bot) -> None:
            report.bot = bot.label
            report.add(f"{bot.label}: copied")
            if BOT_NAME.fullmatch(bot.name) is None:
                raise BotDefinitionError(f"bot {bot.label!r}: {NAME_RULE}")
            owner = self._people.submissions.owner(bot.name)
            if self._is_name_of_the_house(bot):
                raise BotDefinitionError(f"bot {bot.label!r}: {_NAME_OF_THE_HOUSE}")
            if owner not in (None, claim.submission.person):
                raise BotDefinitionError(f"bot {bot.label!r}: {_NAME_TAKEN}")
            self._require_room(claim, bot)

        def claim_name(bot: Bot) -> None:
            report.copy_bytes = self._require_room(claim, bot)  # includes what the build has made
            if not self._people.submissions.own_bot_name(claim.submission.person, bot.name):
                raise BotDefinitionError(f"bot {bot.label!r}: {_NAME_TAKEN}")
            if claim.keep(report.text(), bot.label):  # known before it can be listed
                self._home.store.set_owner(OwnedBot(bot.label, bot.digest, claim.submission.author))

        with self._uploads.named(claim.submission.upload, claim.submission.file_name) as path:
            try:
                result = submit(self._home, path, report.add, before_trial=check_copied_bot, before_listing=claim_name)
            except (BotDefinitionError, UploadError) as error:  # any other error is the machine's fault
                sentence = report.shown(str(error).replace(f"{path.parent}/", ""))
                report.add(sentence)
                return SubmissionState.REJECTED, sentence
        if result.refusal is not None:
            report.add(result.refusal)
            refusal = report.shown(result.refusal)
            if result.stderr:
                report.add(f"what it wrote to stderr:\n{result.stderr}")
            for fact in result.facts:
                report.add(fact)
            return SubmissionState.REJECTED, refusal
        report.is_listed = not result.is_old
        report.add(f"{result.bot.label} is {'already ' if result.is_old else ''}accepted")
        return SubmissionState.ACCEPTED, ""

    def _require_room(self, claim: Claim, bot: Bot) -> int:
        """Return the size of the arena's copy of a bot, if the copies of its author stay within their bound."""
        size_bytes = sum(path.lstat().st_size for path in Path(bot.directory).rglob("*") if not path.is_dir())
        kept_bytes = self._people.submissions.copy_bytes(claim.submission.person)
        if kept_bytes + size_bytes > MAX_COPIES_BYTES:
            raise BotDefinitionError(
                f"bot {bot.label!r}: its copy has {size_text(size_bytes)}, and those of your accepted bots have"
                f" {size_text(kept_bytes)}; expected at most {size_text(MAX_COPIES_BYTES)} together"
            )
        return size_bytes

    def _is_name_of_the_house(self, bot: Bot) -> bool:
        """Return whether a bot has the name of a bot that no author has submitted, or one that looks like it."""
        if self._people.submissions.owner(bot.name) is not None:
            return False
        names = {*example_bots(), *(stored.name for stored in self._home.store.submitted_bots())}
        return look_alike_key(bot.name) in map(look_alike_key, names)

    def _unlist_withdrawn(self, claim: Claim, report: _Report) -> None:
        """Unlist a bot that this check has listed although its author has withdrawn it meanwhile."""
        submission = self._people.submissions.find(claim.submission.number)
        if (
            report.is_listed
            and report.bot is not None
            and submission is not None
            and submission.state is SubmissionState.WITHDRAWN
        ):
            with contextlib.suppress(UsageError):
                self._home.bots.remove(report.bot)

    def _release_name(self, claim: Claim, label: str | None) -> None:
        """Free the name that this check has given to its author, unless a bot of that name was accepted."""
        name = (label or "").rpartition("@")[0]
        if name and all(stored.name != name for stored in self._home.store.submitted_bots()):
            self._people.submissions.release_bot_name(claim.submission.person, name)


class _Report:
    """The lines of a report, and its bot; one thread writes it, and another reads it."""

    def __init__(self, home: str) -> None:
        self.bot: str | None = None
        self.is_listed = self.is_late = False
        self.copy_bytes: int | None = None
        self.stop: Callable[[], None] = lambda: None
        self._lines: list[str] = []
        interpreter_path = re.escape(f"{Path(sys.executable).parent}/")
        package_path = re.escape(str(package_directory()))
        self._machine_paths = re.compile(
            "|".join(
                (
                    rf"{re.escape(home)}/bots/[0-9a-f]+/(?=[^/])",
                    rf"{re.escape(home)}/uploads/{CHECKING}[^/]+/",
                    rf"(?:/[^/\s'\"]+)*/{UPLOAD_PREFIX}[^/\s'\"]+/(?:tree/)?",
                    rf"{re.escape(home)}/",
                    f"{package_path}/",
                    interpreter_path,
                )
            )
        )

    def add(self, line: str) -> None:
        self._lines.append(self.shown(line))

    def shown(self, line: str) -> str:
        """Return a line without directories of this machine, which mean nothing to the author."""
        visible = line.encode("utf-8", "replace").decode().replace("\0", "\ufffd")  # no NUL in PostgreSQL
        return self._machine_paths.sub("", visible)

    def text(self) -> str:
        return "\n".join(self._lines)


@contextlib.contextmanager
def _report_of(claim: Claim, home: str) -> Iterator[_Report]:
    """Give a report, and write it to the database at intervals, which keeps the claim."""
    report, is_over = _Report(home), threading.Event()

    def keep() -> None:
        began_at = time.monotonic()
        while not is_over.wait(KEEP_EVERY_SECONDS):
            is_held = True
            with contextlib.suppress(DatabaseError):
                is_held = claim.keep(report.text(), report.bot)
            report.is_late = time.monotonic() - began_at > MAX_CHECK_SECONDS
            if report.is_late or not is_held:  # nobody waits for it any more
                report.stop()
                return

    keeper = threading.Thread(target=keep, daemon=True)
    keeper.start()
    try:
        yield report
    finally:
        is_over.set()
        keeper.join()


# The program.

PAUSE_SECONDS = 0.5
NICENESS = 5
"""A tournament that is being played comes first."""


def main(arguments: list[str]) -> int:
    """Check submissions until SIGTERM; the arguments are the process that started this one, and the home."""
    parent, directory = arguments
    note = ProblemNote(directory, "checker")

    def check() -> None:
        refusal = can_contain_uploads().refusal
        note_containment(directory, refusal)
        if refusal:  # the supervisor tries again later
            _log.error("nothing is checked: %s", refusal)
            note.report(f"nothing is checked: {refusal}")
            return
        keep_trying(lambda: _run(directory, note), _log, "nothing can be checked now", note)

    return run_service(int(parent), NICENESS, check)


class CheckerLock(contextlib.ExitStack):
    """The lock of the one checker that works on a home; the system releases it when its process ends."""

    def __init__(self, directory: str) -> None:
        super().__init__()
        path = Path(directory, DIRECTORY, "checking.lock")
        self._lock = FileLock(path, f"{directory}: another checker is at work")
        self._is_held = False

    def is_held(self) -> bool:
        """Take the lock if it is free; return whether this process has it."""
        if not self._is_held:
            with contextlib.suppress(StoreError):
                self.enter_context(self._lock)
                self._is_held = True
                self.callback(setattr, self, "_is_held", False)
        return self._is_held


def _run(directory: str, note: ProblemNote) -> None:
    with (
        ArenaHome(directory) as home,
        open_people(directory) as people,
        CheckerLock(directory) as lock,
        contextlib.closing(Commits([people.commit_signal()])) as commits,
    ):
        uploads = UploadDirectory(uploads_path(directory))
        uploads.remove_unfinished(CHECKING)
        checker = Checker(home, people, uploads, lock.is_held)
        tell_owners(people, home.store)
        idleness, has_checked = Idleness(), False
        while not idleness.is_over(has_checked):
            note.clear()
            has_checked = (has_checked or commits.are_new()) and checker.check_next()
            if not has_checked:
                time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    end_now(main(sys.argv[1:]))
