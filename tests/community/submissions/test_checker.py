import io
import sys
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from arena.base.enums import IsolationLevel
from arena.base.errors import DatabaseError, UsageError
from arena.community.submissions import checker as checker_module
from arena.community.submissions import submission as submission_module
from arena.community.submissions import upload_directory as containment
from arena.community.submissions.checker import MAX_TRIES, Checker, CheckerLock
from arena.community.submissions.upload_directory import (
    MAX_CHARACTERS,
    NO_CHECKER,
    UploadDirectory,
    can_contain_uploads,
    note_containment,
    noted_refusal,
)
from arena.sandbox.isolation import levels
from arena.sandbox.isolation.sandbox_policy import Isolation
from arena.store.home import ArenaHome
from arena.store.people.people_store import PeopleStore
from arena.store.people.submission_rows import CLAIM_SECONDS, Claim
from arena.store.people.values import Role, SubmissionState, is_timeout
from tests.store.people.conftest import FakeClock
from tests.written_bots import kit_bot

GOOD = kit_bot().encode()
BROKEN = GOOD.replace(b"legal_actions", b"legal_action")


class Arena:
    def __init__(self, directory):
        self.home = ArenaHome(directory)
        self.now = FakeClock()
        self.people = PeopleStore(directory / "people.sqlite3", self.now)
        self.uploads = UploadDirectory(directory / "uploads")
        self.checker = Checker(self.home, self.people, self.uploads)
        self.persons = {name: self.people.accounts.add(name, Role.AUTHOR, "test") for name in ("ada", "eve")}

    def submit_bot(self, data, file_name="first.py", author="ada"):
        with self.uploads.receive() as receiving:
            receiving.write(data)
            received = receiving.keep()
        person = self.persons[author]
        one = self.people.submissions.add(person, received.name, received.digest, received.size_bytes, file_name, "")
        return one.number

    def checked(self, *args, **options):
        number = self.submit_bot(*args, **options)
        assert self.checker.check_next()
        return self.people.submissions.find(number)

    def rejected(self, *args, **options):
        one = self.checked(*args, **options)
        assert one.state is SubmissionState.REJECTED
        return one

    def bots(self):
        return [bot.label for bot in self.home.store.submitted_bots()]


@pytest.fixture
def arena(tmp_path):
    opened = Arena(tmp_path / "home")
    yield opened
    opened.people.close()
    opened.home.close()


@pytest.mark.slow
def test_a_bot_that_plays_is_listed_and_its_name_is_its_authors_for_good(arena):
    """A rejected one keeps no name; neither a later version that is rejected nor an author who leaves releases it."""
    assert arena.checked(BROKEN).state is SubmissionState.REJECTED
    assert arena.people.submissions.owner("first") is None
    one = arena.checked(GOOD)
    assert (one.state, one.bot, one.reason) == (SubmissionState.ACCEPTED, "first@1", "")
    assert "differences: a match of" in one.report
    changed = arena.checked(GOOD + b"# changed\n").reason
    assert "first@1 has been submitted with other files; raise the version in bot.toml: a file alone is" in changed
    assert arena.people.submissions.owner("first") == arena.persons["ada"].number
    assert "belongs to another author" in arena.checked(GOOD + b"# mine\n", author="eve").reason
    arena.people.accounts.erase(arena.persons["ada"])
    assert "belongs to another author" in arena.checked(GOOD + b"# later\n", author="eve").reason
    assert arena.bots() == ["first@1"]


def test_the_author_of_a_broken_bot_sees_the_line_and_no_place_of_the_machine(arena, tmp_path):
    one = arena.rejected(b"import sys; sys.stderr.buffer.write(b'a\\0b\\xff\\n'); sys.stderr.flush()\n" + BROKEN)
    assert "\0" not in one.report
    assert "'Plusminus' object has no attribute 'legal_action'" in one.report
    assert 'File "first.py", line 5, in choose' in one.report
    assert "to fix it:" in one.report
    assert not any(str(tmp_path) in text for text in (one.report, one.reason))
    assert arena.bots() == []


@pytest.mark.parametrize(
    ("data", "name", "sentence"),
    [
        (b"\x00\x01\x02", "bot.bin", ""),
        (GOOD, "Ада.py", "expected letters a-z"),
        (b'name = "x"', "bot.toml", "a bot.toml alone; expected its directory, or an archive of it"),
    ],
)
def test_what_is_no_bot_is_rejected_in_a_sentence(arena, data, name, sentence):
    assert sentence in arena.rejected(data, name).reason
    assert arena.bots() == []


def zipped(**files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def test_an_archive_is_unpacked_and_what_is_wrong_with_it_is_said(arena):
    manifest = b'name = "packed"\nversion = "3"\ncommand = ["python3", "bot.py"]\ngames = ["plaid"]\n'
    good = zipped(**{"packed/bot.py": GOOD, "packed/bot.toml": manifest})
    assert arena.checked(good, "mine.zip").bot == "packed@3"
    refused = arena.rejected(zipped(**{"packed/bot.py": GOOD, "../evil.py": GOOD}), "mine.zip")
    assert "mine.zip" in refused.reason
    assert "../evil.py" in refused.reason
    assert arena.bots() == ["packed@3"]


def test_the_names_of_the_house_are_nobodys(arena, tmp_path):
    (tmp_path / "mine.py").write_bytes(GOOD)
    arena.home.bots.add(arena.home.bots.copy_in(tmp_path / "mine.py"))
    for name in ("greedy.py", "Gr-eedy.py", "m1nimal.py", "random legal.py", "mine.py", "M-ine.py"):
        assert "belongs to a bot of this arena" in arena.rejected(GOOD + b"# another\n", name).reason, name
    assert arena.bots() == ["mine@1"]


@pytest.mark.parametrize(
    "error", [DatabaseError("the disk is full"), UsageError("the disk is full"), OSError(28, "No space left")]
)
def test_our_own_failure_is_no_fault_of_the_bot(arena, monkeypatch, error):
    monkeypatch.setattr(checker_module, "submit", Mock(side_effect=error))
    one = arena.checked(GOOD)
    for _ in range(MAX_TRIES - 1):  # it waits for another try, until the claim of the one before has run out
        assert one.state is SubmissionState.CHECKING
        assert not arena.checker.check_next()
        arena.now.seconds += CLAIM_SECONDS
        assert arena.checker.check_next()
        one = arena.people.submissions.find(one.number)
    assert one.state is SubmissionState.FAILED
    assert "no fault of the bot" in one.reason
    assert not any("disk" in text for text in (one.reason, one.report))


@pytest.mark.slow(only=("True",))
@pytest.mark.parametrize("was_listed", [False, True])
def test_what_has_ended_three_checkers_is_given_up_unless_its_bot_is_listed(arena, monkeypatch, was_listed):
    submit = checker_module.submit

    class Killed(BaseException):
        pass

    def killed(*args, **options):
        if was_listed:
            submit(*args, **options)
        raise Killed

    monkeypatch.setattr(checker_module, "submit", killed)
    arena.now.seconds = time.time()  # bots are listed by the clock of the machine
    number = arena.submit_bot(GOOD)
    for _ in range(MAX_TRIES):
        with pytest.raises(Killed):
            arena.checker.check_next()
        arena.now.seconds += CLAIM_SECONDS
    assert arena.checker.check_next()
    one = arena.people.submissions.find(number)
    assert one.state is (SubmissionState.ACCEPTED if was_listed else SubmissionState.FAILED)
    assert arena.bots() == ["first@1"] * was_listed
    assert not arena.checker.check_next()


@pytest.mark.slow
def test_who_is_given_up_gets_no_bot_that_another_author_has_submitted_meanwhile(arena):
    arena.now.seconds = time.time()
    number = arena.submit_bot(GOOD + b"# of eve\n", author="eve")
    for _ in range(MAX_TRIES):  # each time the checker is killed once it knows the bot
        assert arena.people.submissions.claim().keep("", "first@1")
        arena.now.seconds += CLAIM_SECONDS
    [ada] = [arena.people.submissions.find(arena.submit_bot(GOOD))]
    while arena.checker.check_next():
        pass
    assert arena.people.submissions.find(ada.number).state is SubmissionState.ACCEPTED
    assert arena.people.submissions.find(number).state is SubmissionState.FAILED
    assert arena.people.submissions.owners() == {"first@1": "ada"}


@pytest.mark.slow(sample=("False",))
@pytest.mark.parametrize("is_away", [False, True])
def test_a_check_that_is_interrupted_is_begun_again_at_once_however_often_or_later_if_the_database_is_away(
    arena, monkeypatch, is_away
):
    def interrupt(*_, **__):
        if is_away:
            monkeypatch.setattr(Claim, "release", Mock(side_effect=DatabaseError("it is away")))
        raise KeyboardInterrupt

    number = arena.submit_bot(GOOD)
    with monkeypatch.context() as patched:
        patched.setattr(checker_module, "submit", interrupt)
        for _ in range(1 if is_away else MAX_TRIES + 1):
            with pytest.raises(KeyboardInterrupt):
                arena.checker.check_next()
            assert is_away or arena.people.submissions.find(number).state is SubmissionState.WAITING
    if is_away:
        assert not arena.checker.check_next()
        arena.now.seconds += CLAIM_SECONDS
    assert arena.checker.check_next()
    assert arena.people.submissions.find(number).state is SubmissionState.ACCEPTED


def test_the_lock_of_the_checker_is_free_when_its_process_has_ended(tmp_path):
    with CheckerLock(tmp_path) as first, CheckerLock(tmp_path) as second:
        assert (first.is_held(), second.is_held(), first.is_held()) == (True, False, True)
        first.close()
        assert (second.is_held(), first.is_held()) == (True, False)


SLOW = GOOD.replace(b"    return", b"    import time; time.sleep(0.9)\n    return")


@pytest.fixture
def quick_keeper(monkeypatch):
    monkeypatch.setattr(checker_module, "KEEP_EVERY_SECONDS", 0.02)


@pytest.mark.slow
def test_a_check_has_a_deadline(arena, monkeypatch, quick_keeper):
    monkeypatch.setattr(checker_module, "MAX_CHECK_SECONDS", 0.5)
    assert arena.rejected(SLOW).reason == "the check took longer than 30 minutes and was stopped"
    assert arena.bots() == []
    assert list((arena.home.directory / "bots").iterdir()) == []
    monkeypatch.undo()
    assert arena.checked(GOOD).state is SubmissionState.ACCEPTED


def test_a_check_is_stopped_when_its_author_withdraws(arena, monkeypatch, quick_keeper):
    number = arena.submit_bot(SLOW)
    play_match = submission_module.play_match
    is_over = threading.Event()

    def withdraw_first(*args, **options):
        arena.people.submissions.withdraw(arena.persons["ada"], number)
        result = play_match(*args, **options)
        is_over.set()
        return result

    monkeypatch.setattr(submission_module, "play_match", withdraw_first)
    assert arena.checker.check_next()
    assert not is_over.is_set()
    assert arena.people.submissions.find(number).state is SubmissionState.WITHDRAWN
    assert arena.bots() == []


@pytest.mark.slow
def test_a_bot_that_is_withdrawn_when_its_name_was_taken_keeps_no_name(arena, monkeypatch):
    own = arena.people.submissions.own_bot_name

    def withdraw_then(person, name):
        arena.people.submissions.withdraw(arena.persons["ada"], number)
        return own(person, name)

    number = arena.submit_bot(GOOD)
    with monkeypatch.context() as patched:
        patched.setattr(arena.people.submissions, "own_bot_name", withdraw_then)
        assert arena.checker.check_next()
    assert arena.people.submissions.find(number).state is SubmissionState.WITHDRAWN
    assert arena.bots() == []
    assert arena.people.submissions.owner("first") is None
    assert arena.checked(GOOD, author="eve").state is SubmissionState.ACCEPTED


@pytest.mark.slow
def test_the_copies_of_an_author_are_bounded(arena, monkeypatch):
    assert arena.checked(GOOD).state is SubmissionState.ACCEPTED
    ada = arena.persons["ada"].number
    assert arena.people.submissions.copy_bytes(ada) == len(GOOD)
    monkeypatch.setattr(checker_module, "MAX_COPIES_BYTES", 2 * len(GOOD))
    more = arena.rejected(GOOD + b"#", "second.py")
    assert more.reason == (
        f"bot 'second@1': its copy has {len(GOOD) + 1} bytes, and those of your accepted bots have {len(GOOD)} bytes;"
        f" expected at most {2 * len(GOOD)} bytes together"
    )
    assert len(list((arena.home.directory / "bots").iterdir())) == 1
    assert arena.people.submissions.copy_bytes(ada) == len(GOOD)


def test_a_report_has_no_places_of_the_machine(tmp_path):
    report = checker_module._Report("/srv/arena")
    for line, shown in {
        "/srv/arena/uploads/checking-abc_1/bot.zip: 3 files": "bot.zip: 3 files",
        "/srv/arena/bots/0123456789abcdef/bot.py: x": "bot.py: x",
        "bot '/var/tmp/x/arena-upload-12.34-abc/tree/mine/bot.toml': x": "bot 'mine/bot.toml': x",
        "/srv/arena/logs/x": "logs/x",
        f"{Path(sys.executable).parent}/python3 has no module 'x'": "python3 has no module 'x'",
    }.items():
        assert report.shown(line) == shown


SLOW_ONCE = kit_bot("import time; time.sleep(60)").encode()
SLOW_TO_START = SLOW_ONCE.replace(b"run(choose", b"choose(0, 0, 0)\nrun(choose")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bot", "load", "matches"), [(SLOW_ONCE, 0.0, 1), (SLOW_ONCE, 1000.0, 2), (SLOW_TO_START, 1000.0, 2)]
)
def test_the_first_timeout_on_a_busy_machine_is_tried_once_more_and_can_be_checked_again(
    arena, monkeypatch, bot, load, matches
):
    played, play_match = [], submission_module.play_match
    monkeypatch.setattr(submission_module, "play_match", lambda *a, **o: played.append(a[0]) or play_match(*a, **o))
    monkeypatch.setattr(submission_module.os, "getloadavg", lambda: (load, load, load))
    monkeypatch.setattr(submission_module, "TRIAL_TIME", replace(submission_module.TRIAL_TIME, startup_seconds=2.0))
    one = arena.rejected(bot, "slow.py")
    assert len(played) == matches
    assert ("tried once more" in one.report.for_operator()) == (matches == 2)
    assert is_timeout(one.reason.for_operator())
    assert (
        bot is SLOW_TO_START
        or "it hardly used the processor: it sleeps or waits in choose" in one.report.for_operator()
    )
    again = arena.people.submissions.check_again(arena.persons["ada"], one.number)
    assert (again.state, again.reason.for_operator(), again.report.for_operator()) == (SubmissionState.WAITING, "", "")
    with pytest.raises(UsageError, match="not rejected, or not yours"):
        arena.people.submissions.check_again(arena.persons["ada"], one.number)


@pytest.mark.parametrize(("load", "is_busy"), [(0.5, False), (1000.0, True)])
def test_a_system_that_pins_no_processes_says_whether_it_is_busy(monkeypatch, load, is_busy):
    monkeypatch.setattr(submission_module.os, "getloadavg", lambda: (load, load, load))
    monkeypatch.delattr(submission_module.os, "sched_getaffinity")
    assert submission_module._is_machine_busy() == is_busy


NONE, LIMITS, LANDLOCK, BUBBLEWRAP = IsolationLevel


def containment_of(monkeypatch, isolation, untested=""):
    monkeypatch.setattr(containment, "choose_isolation", lambda wanted: isolation)
    result = levels.ProbeResult(isolation=isolation, untested=untested)
    monkeypatch.setattr(containment, "probe_level", lambda level: result)
    return can_contain_uploads()


@pytest.mark.parametrize(
    ("level", "groups", "is_enough", "reason"),
    [
        (LANDLOCK, True, True, "uploads are contained: unpacked, built and run at landlock+cgroup"),
        (BUBBLEWRAP, True, True, "uploads are contained: unpacked, built and run at bubblewrap+cgroup"),
        (LANDLOCK, False, False, "uploads can't be contained: no control group for memory and processes can be made"),
        (BUBBLEWRAP, False, False, "uploads can't be contained: no control group"),
        (LIMITS, True, False, "uploads can't be contained: at the level limits+cgroup a bot can read the files"),
        (NONE, False, False, "uploads can't be contained: at the level none a bot can read the files of the arena"),
    ],
)
def test_only_confined_files_and_limited_memory_are_enough(monkeypatch, level, groups, is_enough, reason):
    found = containment_of(monkeypatch, Isolation(level=level, groups=groups))
    assert found.is_enough is is_enough
    assert found.reason.startswith(reason)
    assert found.isolation == Isolation(level=level, groups=groups)


def test_control_groups_that_were_not_tried_to_the_end_and_a_level_that_is_not_there_are_other_reasons(monkeypatch):
    untested = "landlock+cgroup was not tried to the end: it took too long"
    found = containment_of(monkeypatch, Isolation(level=LANDLOCK), untested)
    assert (found.is_enough, found.reason) == (False, f"uploads can't be contained: {untested}")
    monkeypatch.undo()
    found = can_contain_uploads("chroot")
    assert not found.is_enough
    assert found.reason.startswith("uploads can't be contained: isolation = 'chroot': expected 'auto', 'none'")
    assert found.isolation is None


def test_what_was_noted_last_counts_is_bounded_and_a_home_that_cannot_be_written_is_named(tmp_path):
    assert noted_refusal(tmp_path) == NO_CHECKER
    for refusal in ("uploads can't be contained: here", ""):
        note_containment(tmp_path, refusal)
        assert noted_refusal(tmp_path) == refusal
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["containment"]
    (tmp_path / "parts" / "containment").write_bytes(b"\xff" * 10_000)
    assert noted_refusal(tmp_path) == "\ufffd" * MAX_CHARACTERS
    (tmp_path / "file" / "parts").parent.mkdir()
    (tmp_path / "file" / "parts").write_text("in the way")
    with pytest.raises(UsageError, match="parts/containment: can't be written"):
        note_containment(tmp_path / "file", "")
