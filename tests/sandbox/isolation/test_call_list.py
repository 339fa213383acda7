import os
import shutil
import sys
from pathlib import Path

import pytest

from arena.base.enums import IsolationLevel
from arena.base.records import Bot
from arena.base.shipped import CACHE_VARIABLE, KERNELS, bot_path
from arena.sandbox.isolation import bot_places, call_list
from arena.sandbox.isolation.bot_places import find_places
from arena.sandbox.isolation.call_list import AT_WORKING_DIRECTORY, CallList, StepError
from arena.sandbox.isolation.sandbox_calls import _close_files, add_landlock_rules
from tests import needs

ENOENT, EACCES, ENOTDIR = 2, 13, 20
READ_FILE = 1 << 2  # LANDLOCK_ACCESS_FS_READ_FILE
WRITE_ARGUMENTS = (sys.executable, "-I", "-S", "-c", "import os, sys; print(sys.argv[1:], os.environ)")


@pytest.fixture(params=["machine code", "Python"])
def maker(request, monkeypatch):
    if request.param == "Python":
        monkeypatch.setattr(call_list, "load_machine_code", lambda: None)
    elif call_list.load_machine_code() is None:
        pytest.skip("needs a machine with machine code")


def finish(calls):
    return os.waitstatus_to_exitcode(os.waitpid(calls.start(), 0)[1])


def failure(calls):
    with pytest.raises(StepError) as caught:
        calls.start()
    assert os.waitstatus_to_exitcode(os.waitpid(caught.value.pid, 0)[1]) == 127
    return caught.value.report


def add_program(calls, *command, environment=(), skipped=0):
    calls.add("execve", command[0], [*command, 0], [*environment, 0], subject=command[0], skipped=skipped)


def test_the_calls_are_made_in_order_before_the_program_runs(maker, tmp_path):
    output = os.open(tmp_path / "output", os.O_CREAT | os.O_WRONLY)
    with CallList() as calls:
        calls.keep_open(output)
        calls.add("chdir", str(tmp_path))
        calls.add("mkdirat", AT_WORKING_DIRECTORY, "new", 0o700)
        calls.add("chdir", "new")
        calls.add("dup3", output, 1, 0)
        add_program(calls, *WRITE_ARGUMENTS, "a b", "ä", environment=["KEY=value"])
        assert finish(calls) == 0
    assert (tmp_path / "new").is_dir()
    assert (tmp_path / "output").read_text() == "['a b', 'ä'] environ({'KEY': 'value', 'LC_CTYPE': 'C.UTF-8'})\n"
    assert Path.cwd() != tmp_path


def test_a_call_that_fails_ends_the_list_unless_it_may_fail_as_programs_may(maker, tmp_path):
    calls = CallList()
    calls.add("chdir", "/no/such/place", step="working directory", subject="there")
    calls.add("mkdirat", AT_WORKING_DIRECTORY, str(tmp_path / "after"), 0o700)
    assert failure(calls) == {"step": "working directory", "errno": ENOENT, "subject": "there"}
    assert list(tmp_path.iterdir()) == []
    calls = CallList()
    calls.add("chdir", "/no/such/place", skipped=1)
    calls.add("mkdirat", AT_WORKING_DIRECTORY, str(tmp_path / "needs it"), 0o700)
    calls.add("mkdirat", AT_WORKING_DIRECTORY, str(tmp_path / "after"), 0o700)
    assert finish(calls) == 127  # nothing was executed
    assert [path.name for path in tmp_path.iterdir()] == ["after"]
    calls = CallList()
    add_program(calls, "/no/such/program")
    add_program(calls, shutil.which("true"))
    add_program(calls, shutil.which("false"))
    assert finish(calls) == 0


@pytest.mark.parametrize(
    ("programs", "number"),
    [(["/no/such"], ENOENT), (["/no/such", "/etc/passwd"], EACCES), (["/etc/passwd/x", "/no/such"], ENOTDIR)],
)
def test_of_programs_that_can_not_be_executed_the_reason_of_one_that_is_there_is_reported(maker, programs, number):
    calls = CallList()
    for program in programs:
        add_program(calls, program)
    assert failure(calls) == {"step": "exec", "errno": number, "subject": programs[-1]}


def test_a_process_starts_in_a_control_group(maker, group_of_version_2, tmp_path):
    with CallList() as calls:
        group = calls.keep_open(os.open(group_of_version_2, os.O_RDONLY))
        output = calls.keep_open(os.open(tmp_path / "output", os.O_CREAT | os.O_WRONLY))
        calls.add("dup3", output, 1, 0)
        add_program(calls, shutil.which("cat"), "/proc/self/cgroup")
        assert os.waitstatus_to_exitcode(os.waitpid(calls.start(0, group), 0)[1]) == 0
    assert f"0::/{group_of_version_2.name}\n" in (tmp_path / "output").read_text()


def test_a_list_that_can_not_be_made_is_refused():
    with pytest.raises(StepError, match="null character"):
        CallList().add("chdir", "/tmp\0/etc")
    calls = CallList()
    for _ in range(1 << 15):
        calls.add("close", -1, skipped=0)
    with pytest.raises(StepError, match="32768 system calls before the exec; 32766 are possible"):
        calls.start()


def test_in_this_process_the_calls_are_made_too(tmp_path):
    calls = CallList()
    calls.add("mkdirat", AT_WORKING_DIRECTORY, str(tmp_path / "new"), 0o700)
    calls.make_here()
    assert (tmp_path / "new").is_dir()
    with pytest.raises(StepError) as caught:
        calls.make_here()
    assert caught.value.report["step"] == "mkdirat"


@pytest.mark.parametrize("closes_files", [False, True])
def test_files_get_their_numbers_where_the_descriptors_have_a_gap(maker, closes_files):
    """The ruleset takes the gap, and a path the number behind all others; or all are closed, and three is the first."""
    needs.isolation("landlock")
    taken = [os.open("/", os.O_PATH) for _ in range(20)]
    gap = taken.pop(5)
    os.close(gap)
    lasting = [("/usr", READ_FILE), ("/etc", READ_FILE), ("/missing", READ_FILE)]
    passing = [("/proc/self/stat", READ_FILE), ("/proc/self/fd", READ_FILE), ("/dev", READ_FILE)]
    rules = {"handled": [READ_FILE], "rules": passing, "own": ["/etc"], "lasting": lasting, "stamp": 0}
    try:
        with CallList() as calls:
            if closes_files and call_list.can_close_files():
                assert _close_files(calls, None, taken[-1]) == (None, 3)
                assert add_landlock_rules(calls, rules, None) == 4
                assert calls.free_from == 8
            else:
                assert add_landlock_rules(calls, rules, None) == gap
            add_program(calls, "/bin/true")
            assert finish(calls) == 0
    finally:
        for descriptor in taken:
            os.close(descriptor)


class Place:
    """A bot with a program beside others that it may lead to, in directories that stand for those of the system."""

    def __init__(self, tmp_path, monkeypatch):
        self.at = tmp_path
        self.directory, self.path, self.etc = (tmp_path / name for name in ("bot", "bin", "etc"))
        for directory in (self.directory, self.path, self.etc, tmp_path / "cache" / KERNELS):
            directory.mkdir(parents=True)
        (tmp_path / "cache" / KERNELS).rmdir()
        self.write("bot/run", f"#!{tmp_path}/bot/start\n")
        self.write("bot/start", "")
        self.write("etc/zone", "")
        monkeypatch.setattr(bot_places, "directories_of_system", lambda: frozenset([str(self.etc)]))
        monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
        self.bot = self.bot_with(str(self.directory / "run"))

    def bot_with(self, *command, directory=None):
        return Bot(name="b", version="1", command=command, directory=str(directory or self.directory))

    def write(self, name, text):
        (self.at / name).write_text(text)
        (self.at / name).chmod(0o755)

    def find(self, level=IsolationLevel.LANDLOCK):
        own = self.bot.own_files or (self.bot.directory,)
        path = os.pathsep.join([str(self.path), "/usr/bin"])
        return find_places(self.bot, own, path, "/tmp", level, root=os.geteuid() == 0, may_mount=True)


@pytest.fixture
def place(open_path, monkeypatch):
    return Place(open_path, monkeypatch)


CHANGES = {
    "its first line": lambda place: place.write("bot/run", f"#!{sys.executable}\n"),
    "the program that it leads to": lambda place: place.write("bot/start", f"#!{sys.executable}\n"),
    "another program": lambda place: (
        place.write("bot/new", f"#!{sys.executable}\n"),
        (place.directory / "new").rename(place.directory / "run"),
    ),
    "no program": lambda place: (place.directory / "run").unlink(),
    "a link": lambda place: ((place.directory / "run").unlink(), (place.directory / "run").symlink_to(sys.executable)),
    "another directory": lambda place: (
        place.directory.rename(place.at / "away"),
        shutil.copytree(place.at / "away", place.directory),
    ),
    "a file of the system": lambda place: (place.write("etc/new", ""), (place.etc / "new").rename(place.etc / "zone")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_after_a_change_that_matters_all_is_worked_out_again(place, change):
    before = place.find()
    assert place.find() is before
    CHANGES[change](place)
    after = place.find()
    assert after.stamp != before.stamp
    assert place.find() is after
    bot_places._known_places.clear()
    assert after == place.find()._replace(stamp=after.stamp)


def test_what_does_not_matter_changes_nothing_and_a_program_earlier_on_path_is_found(place):
    before = place.find()
    (place.directory / "notes").write_text("what the bot has written")
    assert place.find() is before
    (place.etc / "new").touch()
    assert place.find() is not before
    before = place.find(IsolationLevel.NONE)  # there nothing is opened file by file
    (place.etc / "newer").touch()
    assert place.find(IsolationLevel.NONE) is before
    place.bot = place.bot_with("sh")
    before = place.find()
    assert before.program.refused == ""
    place.write("bin/sh", "")
    after = place.find()
    assert after.stamp != before.stamp
    assert str(place.path / "sh") in after.program.looked_at


def test_a_directory_that_was_replaced_by_a_link_stays_closed(place):
    assert str(place.at / "other") not in place.find().readable
    place.directory.rename(place.at / "other")
    place.directory.symlink_to(place.at / "other")
    assert str(place.at / "other") not in place.find().readable


@needs.root
def test_directories_that_other_users_may_not_enter_are_noticed(place):
    place.at.chmod(0o755)
    place.find()
    place.directory.chmod(0o700)
    assert {*place.find().closed[str(place.directory)]} == {f"{place.directory}/run", f"{place.directory}/start"}
    place.write("bot/new", "")
    assert f"{place.directory}/new" in place.find().closed[str(place.directory)]
    place.directory.chmod(0o755)
    assert str(place.directory) not in place.find().closed
    place.at.chmod(0o700)
    assert place.find().closed[str(place.at)]


def test_kernels_that_are_built_later_are_opened_to_an_example_bot(place, monkeypatch):
    place.bot = place.bot_with(sys.executable, "bot.py", directory=bot_path("arena:oracle"))
    assert place.find().lab == ()
    (place.at / "cache" / KERNELS).mkdir()
    assert place.find().lab == (os.path.realpath(place.at / "cache" / KERNELS),)
    monkeypatch.setenv(CACHE_VARIABLE, str(place.at / "another"))
    assert place.find().lab == ()


def test_as_many_are_kept_as_is_said(place, monkeypatch):
    monkeypatch.setattr(bot_places, "MAX_KEPT", 2)
    monkeypatch.setattr(bot_places, "_known_places", {})
    stamps = []
    for number in (1, 2, 1, 3, 1, 2):
        place.bot = place.bot_with(str(place.directory / "run"), str(number))
        stamps.append(place.find().stamp)
    assert stamps[0] == stamps[2] == stamps[4]
    assert stamps[5] != stamps[1]
