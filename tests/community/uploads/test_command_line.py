"""Archives on the command line: one sentence and exit code 2, little memory, and nothing outside its place."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.sandbox.isolation.procfs import process_tag
from arena.sandbox.isolation.reaper import COPY_PREFIX
from tests.community.uploads.archives import File, bot_zip, make_zip
from tests.community.uploads.hostile import HOSTILE

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
MINIMAL = ROOT / "bots/minimal/bot.py"
MANIFEST = b'name = "zipped"\ncommand = ["python3", "bot.py"]\ngames = ["differences"]\n'


@pytest.fixture
def place(tmp_path):
    for name in ("home", "temporary", "work"):
        (tmp_path / name).mkdir()
    return tmp_path


def arena(place, *arguments):
    environment = os.environ | {"ARENA_HOME": str(place / "home"), "TMPDIR": str(place / "temporary"), "COLUMNS": "200"}
    command = [sys.executable, "-m", "arena", *map(str, arguments)]
    return subprocess.run(command, cwd=place / "work", env=environment, capture_output=True, text=True, check=False)


def good_zip():
    return make_zip(File(b"b-main/bot.toml", MANIFEST), File(b"b-main/bot.py", MINIMAL.read_bytes(), 8))


def test_an_archive_is_checked_and_submitted_once(place):
    (place / "work/bot.zip").write_bytes(good_zip())
    done = arena(place, "check", "bot.zip", "--game", "differences")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "zipped@1" in done.stdout
    done = arena(place, "submit", "bot.zip")
    assert done.returncode == 0, done.stderr
    assert "bot.zip: 3 files and directories" in done.stdout
    assert done.stdout.endswith("zipped@1 is submitted\n")
    assert arena(place, "submit", "bot.zip").stdout.endswith("zipped@1 is already submitted\n")
    assert sorted(path.name for path in (place / "home/bots").glob("*/*")) == ["bot.py", "bot.toml"]
    assert not any((place / "temporary").iterdir())


def test_a_mistake_in_the_manifest_is_named_by_the_archive(place):
    (place / "work/bot.zip").write_bytes(make_zip(File(b"b/bot.toml", b"name = 3"), File(b"b/bot.py")))
    for command in ("submit", "check"):
        done = arena(place, command, "bot.zip")
        assert done.returncode == 2
        assert "bot.zip/b/bot.toml" in done.stderr
        assert str(place) not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("check", "zip: upwards"),
        ("submit", "zip: two bots"),
        ("submit", "gzip of zeros"),
        ("submit", "zip: right to left"),
    ],
    ids=["upwards", "two bots", "zeros", "right to left"],
)
def test_a_hostile_archive_is_rejected_on_the_command_line(place, command, what):
    name, make, message = HOSTILE[what]
    (place / "work" / name).write_bytes(make())
    done = arena(place, command, name)
    assert (done.returncode, done.stdout) == (2, "")
    assert " ".join(done.stderr.split()).startswith(f"arena: {name}: ")
    assert message.split("; ")[0] in " ".join(done.stderr.split())
    assert [path.name for path in (place / "work").iterdir()] == [name]
    assert not any((place / "temporary").iterdir())
    assert not any((place / "home").glob("bots/*"))


def test_elsewhere_an_archive_is_named_as_one(place):
    (place / "work/bot.zip").write_bytes(good_zip())
    (place / "work/bot.rar").write_bytes(b"Rar!")
    for arguments in (["play", "differences", "bot.zip", "arena:greedy"], ["submit", "bot.rar"]):
        done = arena(place, *arguments)
        assert done.returncode == 2
        assert "an archive, which only arena check and arena submit take; expected .zip" in done.stderr


def test_what_a_killed_submission_has_copied_is_removed_by_the_next(place):
    (place / "work/bot.zip").write_bytes(good_zip())
    namespace = process_tag().rpartition(".")[2]
    left = place / f"home/bots/{COPY_PREFIX}999999999.1.{namespace}-x"
    (left / "bot").mkdir(parents=True)
    done = arena(place, "submit", "bot.zip")
    assert done.returncode == 0, done.stderr
    assert not left.exists()


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
