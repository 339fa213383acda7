import os
import sys
from pathlib import Path

import pytest

from arena.base.enums import IsolationLevel
from arena.base.errors import BotError
from arena.base.records import Bot, Limits
from arena.sandbox.isolation import launcher_client, levels
from arena.sandbox.isolation.launcher_client import make_scratch, open_launcher
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.sandbox_policy import Isolation, make_launch_spec
from tests import needs
from tests.open_places import open_to_everybody

TRY = """
import json, pathlib, sys
try:
    said = pathlib.Path(sys.argv[1]).read_text()
except OSError:
    said = "closed"
print(json.dumps(said))
"""


def run_bot(directory, file, isolation):
    command = (sys.executable, "-I", "-S", "-c", TRY, str(file))
    return levels.run_test_program(
        Bot(name="b", version="1", command=command, directory=str(directory), own_files=(str(directory),)), isolation
    )


@pytest.fixture
def open_path(tmp_path):
    open_to_everybody(tmp_path)
    return tmp_path


def test_a_directory_replaced_by_a_link_opens_nothing(open_path):
    needs.isolation(IsolationLevel.LANDLOCK)
    isolation = choose_isolation("landlock")
    bot, other = open_path / "bot", open_path / "other"
    for place, text in ((bot, "own"), (other, "secret")):
        place.mkdir()
        (place / "file").write_text(text)
        (place / "file").chmod(0o644)
        place.chmod(0o755)
    assert run_bot(bot, bot / "file", isolation) == "own"
    bot.rename(open_path / "away")
    bot.symlink_to(other)
    assert run_bot(bot, bot / "file", isolation) == "closed"
    assert run_bot(bot, other / "file", isolation) == "closed"


@needs.root
def test_an_entry_of_a_closed_directory_replaced_by_a_link_opens_nothing(open_path):
    needs.isolation(IsolationLevel.LANDLOCK)
    isolation = choose_isolation("landlock")
    bot, other = open_path / "bot", open_path / "closed" / "other"
    (bot / "inner").mkdir(parents=True)
    other.mkdir(parents=True)
    for place in (bot / "inner", other):
        (place / "file").write_text("own" if place != other else "secret")
    for place in (bot, other.parent):
        place.chmod(0o700)
    assert run_bot(bot, bot / "inner" / "file", isolation) == "own"
    (bot / "inner").rename(bot / "away")
    (bot / "inner").symlink_to(other)
    assert run_bot(bot, bot / "inner" / "file", isolation) == "closed"


def test_a_directory_with_too_many_files_to_be_opened_one_by_one_is_the_bots_fault(tmp_path, monkeypatch):
    launcher, scratch = open_launcher(), make_scratch()
    monkeypatch.setattr(launcher_client, "MAX_SPEC_BYTES", 100)
    spec = make_launch_spec(
        Bot(name="b", version="1", command=(sys.executable,), directory=str(tmp_path)), Isolation(), Limits(), scratch
    )
    with pytest.raises(BotError, match="has too many files to be opened to a bot one by one"):
        launcher.launch(spec, ())
    Path(scratch).rmdir()


def test_a_scratch_directory_has_no_links_in_its_name(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setattr(launcher_client.tempfile, "tempdir", str(tmp_path / "link"))
    assert Path(make_scratch()).parent == Path(os.path.realpath(tmp_path / "real"))
