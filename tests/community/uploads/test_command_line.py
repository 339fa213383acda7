import os
import subprocess
import sys
import tempfile

import pytest

from arena.sandbox.isolation.procfs import process_tag
from arena.sandbox.isolation.reaper import COPY_PREFIX
from tests.cli.calls import calling, printed, refusal, told
from tests.community.uploads.archives import File, bot_zip, make_zip
from tests.community.uploads.hostile import HOSTILE
from tests.conftest import BOTS

MANIFEST = b'name = "zipped"\ncommand = ["python3", "bot.py"]\ngames = ["differences"]\n'


@pytest.fixture
def place(tmp_path, monkeypatch):
    for name in ("home", "temporary", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path


@pytest.fixture
def arena(place, capfd):
    return calling(place / "home", capfd)


def good_zip():
    return make_zip(
        File(b"b-main/bot.toml", MANIFEST), File(b"b-main/bot.py", (BOTS / "minimal/bot.py").read_bytes(), 8)
    )


@pytest.mark.slow(sample=True)
def test_an_archive_is_checked_and_submitted_once_and_what_was_left_is_removed(place, arena):
    (place / "work/bot.zip").write_bytes(good_zip())
    namespace = process_tag().rpartition(".")[2]
    left = place / f"home/bots/{COPY_PREFIX}999999999.1.{namespace}-x"
    (left / "bot").mkdir(parents=True)
    assert "zipped@1" in printed(arena, "check", "bot.zip", "--game", "differences")
    submitted = printed(arena, "submit", "bot.zip")
    assert "bot.zip: 3 files and directories" in submitted
    assert submitted.endswith("zipped@1 is submitted\n")
    assert printed(arena, "submit", "bot.zip").endswith("zipped@1 is already submitted\n")
    assert sorted(path.name for path in (place / "home/bots").glob("*/*")) == ["bot.py", "bot.toml"]
    assert not left.exists()
    assert not any((place / "temporary").iterdir())


def test_a_mistake_in_the_manifest_is_named_by_the_archive(place, arena):
    (place / "work/bot.zip").write_bytes(make_zip(File(b"b/bot.toml", b"name = 3"), File(b"b/bot.py")))
    for command in ("submit", "check"):
        sentence = told(arena, 2, command, "bot.zip")
        assert "bot.zip/b/bot.toml" in sentence
        assert str(place) not in sentence


@pytest.mark.parametrize(("command", "what"), [("check", "zip: upwards"), ("submit", "zip: right to left")])
def test_a_hostile_archive_is_rejected_on_the_command_line(place, arena, command, what):
    name, make, message = HOSTILE[what]
    (place / "work" / name).write_bytes(make())
    sentence = refusal(arena, command, name)
    assert sentence.startswith(f"{name}: ")
    assert message.split("; ")[0] in sentence
    assert [path.name for path in (place / "work").iterdir()] == [name]
    assert not any((place / "temporary").iterdir())
    assert not any((place / "home").glob("bots/*"))


def test_elsewhere_an_archive_is_named_as_one(place, arena):
    (place / "work/bot.zip").write_bytes(good_zip())
    (place / "work/bot.rar").write_bytes(b"Rar!")
    for arguments in (["play", "differences", "bot.zip", "arena:greedy"], ["submit", "bot.rar"]):
        sentence = refusal(arena, *arguments)
        assert "an archive, which only arena check, arena submit and entrants_from take; expected .zip" in sentence


@pytest.mark.parametrize("inner", ["inner.zip", "inner.rar"])
def test_an_archive_of_an_archive_is_named_as_one(place, arena, inner):
    (place / "work/bot.zip").write_bytes(make_zip(File(inner.encode(), good_zip())))
    sentence = f"bot.zip: it holds only an archive, {inner!r}; expected the files of a bot with its bot.toml"
    for command in ("check", "submit"):
        assert refusal(arena, command, "bot.zip").startswith(sentence)


MEASURE = """
import os, resource, sys
from pathlib import Path
from arena.base.errors import UploadError
from arena.community.uploads.unpacking import unpack

def unpack_one(name):
    try:
        unpack(Path(name), Path(f"{name}.d"))
    except UploadError:
        pass

unpack_one("good.zip")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name in sys.argv[1:]:
    unpack_one(name)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_the_memory_of_who_asks_does_not_grow(place):
    names = []
    for what in ("zip: a bomb", "zip: many files", "zip: 60,000 entries", "gzip of zeros", "xz of zeros"):
        name, make, _ = HOSTILE[what]
        names.append(f"{len(names)}{name.removeprefix('b')}")
        (place / "work" / names[-1]).write_bytes(make())
    (place / "work/good.zip").write_bytes(bot_zip())
    (place / "work/large.zip").write_bytes(make_zip(File(b"a.py", os.urandom(40 << 20))))
    command = [sys.executable, "-c", MEASURE, *names, "large.zip"]
    done = subprocess.run(command, cwd=place / "work", capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 20 * 1024  # KiB
