"""Where a bot's files lead is worked out once, and again after each change that matters."""

import os
import shutil
import sys

import pytest

from arena.base.enums import IsolationLevel
from arena.base.records import Bot
from arena.base.shipped import CACHE_VARIABLE, KERNELS, bot_path
from arena.sandbox.isolation import bot_places
from arena.sandbox.isolation.bot_places import find_places
from tests import needs


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
    directory = bot_path("arena:oracle")
    place.bot = place.bot_with(sys.executable, "bot.py", directory=directory)
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
