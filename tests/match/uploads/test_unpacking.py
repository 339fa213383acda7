import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from arena.base.errors import BotDefinitionError, UploadError, UsageError
from arena.match.uploads import unpacking
from arena.match.uploads.entry import RejectedError, UnpackLimits
from arena.match.uploads.unpacking import opened_bot, packed, unpack
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.reaper import UPLOAD_PREFIX
from tests import needs
from tests.leftovers import left_in
from tests.match.uploads.archives import (
    BOT,
    MANIFEST,
    File,
    bot_tar,
    bot_zip,
    make_zip,
    tar_file,
    tree,
    unpack_here,
)
from tests.match.uploads.hostile import HOSTILE
from tests.waiting import wait_until

LEVELS = ("none", "limits", "landlock", "bubblewrap")


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    place = tmp_path / "temporary"
    place.mkdir(mode=0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def written(path, data):
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("wanted", LEVELS)
@pytest.mark.parametrize("name", ["b.zip", "b.tar"])
def test_an_archive_is_unpacked_at_every_level(tmp_path, temporary, wanted, name):
    needs.isolation(wanted)
    more = {"lib/über.py": b"x = 1\n", "run.sh": b"#!/bin/sh\n", "empty": b""}
    files = [File(path.encode(), data, 8) for path, data in more.items()]
    data = bot_zip(*files) if name == "b.zip" else bot_tar(*(tar_file(file.name, file.data) for file in files))
    unpacked = unpack(written(tmp_path / name, data), tmp_path / "into", isolation=choose_isolation(wanted))
    assert tree(tmp_path / "into") == {
        "bot.toml": (MANIFEST, False),
        "bot.py": (BOT, False),
        **{path: (data, False) for path, data in more.items()},
    }
    assert unpacked.bot == tmp_path / "into"
    assert unpacked.entries == 6
    assert unpacked.size_bytes == len(MANIFEST) + len(BOT) + 16
    assert left_in(temporary) == []


OF_EACH_KIND = (
    *("zip: symbolic link", "zip: upwards", "zip: two bots", "tar: no header"),
    *("bzip2 damaged", "xz of zeros", "xz of much memory", "a link by tarfile"),
)
AT_EVERY_LEVEL = ("zip: a bomb", "gzip of zeros behind the end", "tar: symbolic link")


@pytest.mark.slow(only=("xz of zeros-auto",))
@pytest.mark.parametrize(
    ("what", "wanted"),
    [(what, "auto") for what in OF_EACH_KIND] + [(what, level) for what in AT_EVERY_LEVEL for level in LEVELS],
)
def test_a_hostile_archive_leaves_nothing(what, wanted, tmp_path, temporary):
    """Each sentence is asked for below."""
    if wanted != "auto":
        needs.isolation(wanted)
    name, make, message = HOSTILE[what]
    with pytest.raises(UploadError) as refused:
        unpack(written(tmp_path / name, make()), tmp_path / "into", isolation=choose_isolation(wanted))
    assert str(refused.value).startswith(f"{name}: ")
    assert message in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "temporary"])
    assert left_in(temporary) == []


HOSTILE_PROGRAMS = {
    "no JSON": ("print('evil', flush=True)", "can't be unpacked here: the process gave no answer"),
    "no text": ("os.write(1, b'\\xff\\n')", "can't be unpacked here: the process gave no answer"),
    "another field": ("print('{\"evil\": 1}', flush=True)", "can't be unpacked here: the process gave no answer"),
    "another type": ("print('{\"refused\": [1]}', flush=True)", "can't be unpacked here: the process gave no answer"),
    "deep": ("print('[' * 9999, flush=True)", "can't be unpacked here: the process gave no answer"),
    "endless": ("while True: os.write(1, b'e' * 65536)", "can't be unpacked here: the process gave no answer"),
    "hidden characters": ("print(json.dumps({'refused': '\\x1b[2J\\u202e' * 9}), flush=True)", "�[2J�"),
    "a long sentence": ("print(json.dumps({'refused': 'evil ' * 2000}), flush=True)", "evil evil evil"),
    "an exception": ("raise SystemError('evil')", "the process ended with exit status 1: SystemError: evil"),
    "a crash": ("import ctypes; ctypes.string_at(0)", "the process ended with signal SIGSEGV"),
    "CPU time": ("while True: pass", "unpacking it takes more than 1 s of CPU time; expected no more than that"),
    "nothing made": ("answer()", "there is no directory tree/ (tree: No such file or directory)"),
    "a link for a tree": ("os.symlink('/etc', tree); answer()", "there is no directory tree/ (tree: Not a directory)"),
    "a link": ("os.mkdir(tree); os.symlink('/etc/passwd', tree + '/l'); answer()", "'l' is neither a file nor a dir"),
    "a pipe": ("os.mkdir(tree); os.mkfifo(tree + '/p'); answer()", "'p' is neither a file nor a directory"),
    "many files": (
        "os.mkdir(tree); [open(f'{tree}/{n}', 'w').close() for n in range(2100)]; answer()",
        "more than 2,000 files and directories",
    ),
    "deep directories": ("os.makedirs(tree + '/d' * 30); answer()", "directories more than 17 deep"),
    "a large file": (
        "os.mkdir(tree); [os.truncate(os.open(f'{tree}/{n}', os.O_CREAT | os.O_WRONLY), 60 << 20) for n in range(3)];"
        " answer()",
        "more than 128 MiB",
    ),
}
PROGRAM = """
import json, os, resource, signal, sys
resource.setrlimit(resource.RLIMIT_CPU, (1, 9))
tree = os.environ["HOME"] + "/tree"
def answer():
    print("{}", flush=True)
"""


@pytest.mark.slow(only=("CPU time", "many files"))
@pytest.mark.parametrize("what", HOSTILE_PROGRAMS)
def test_the_process_that_unpacks_is_not_trusted(what, tmp_path, temporary, monkeypatch):
    code, message = HOSTILE_PROGRAMS[what]
    program = written(tmp_path / "program.py", f"{PROGRAM}{code}\nsignal.pause()\n".encode())
    real = unpacking._program

    def hostile(archive_format, limits):
        bot = real(archive_format, limits)
        return type(bot)(
            name="h", version="1", command=(bot.command[0], str(program)), directory="/", own_files=(str(program),)
        )

    monkeypatch.setattr(unpacking, "_program", hostile)
    with pytest.raises(UsageError) as refused:
        unpack(written(tmp_path / "b.zip", bot_zip()), tmp_path / "into", UnpackLimits(cpu_seconds=1))
    assert message in str(refused.value)
    assert len(str(refused.value)) < 700
    assert str(refused.value).isprintable()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.zip", "program.py", "temporary"]
    assert left_in(temporary) == []


@pytest.mark.slow
def test_the_time_in_which_python_starts_is_no_fault_of_the_upload(tmp_path, monkeypatch):
    slow = f"import time\nwhile time.process_time() < 1.02: pass\n{unpacking._BOOTSTRAP}"
    monkeypatch.setattr(unpacking, "_BOOTSTRAP", slow)
    unpack(written(tmp_path / "b.zip", bot_zip()), tmp_path / "into", UnpackLimits(cpu_seconds=1))


def test_a_machine_that_is_too_slow_is_no_fault_of_the_upload(tmp_path):
    upload = written(tmp_path / "b.zip", bot_zip())
    with pytest.raises(UsageError, match=r"b\.zip: it can't be unpacked here: it took more than 0 s") as failed:
        unpack(upload, tmp_path / "into", UnpackLimits(wall_seconds=0))
    assert not isinstance(failed.value, UploadError)
    assert not (tmp_path / "into").exists()


@pytest.mark.parametrize(
    ("name", "data", "is_executable"),
    [("b.py", BOT, False), ("b.py", b"#!/usr/bin/env python3\n", True), ("program", b"\x7fELF" + bytes(60), True)],
)
def test_a_single_program_is_taken_as_it_is(tmp_path, name, data, is_executable):
    upload = written(tmp_path / "upload", data)
    assert unpack(upload, tmp_path / "into", name=name).bot == tmp_path / "into" / name
    assert tree(tmp_path / "into") == {name: (data, is_executable)}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("notes.txt", "notes.txt: neither an archive nor a program"),
        ("../b.py", "../b.py: '../b.py': '..' in a path"),
        ("a/b.py", "a/b.py: a path; expected the name of a file"),
        ("b\u202e.py", "b�.py: 'b\\u202e.py': a name with characters that can't be seen"),
        ("nul.py", "nul.py: 'nul.py': a name that is a device on Windows"),
        ("", ": '': an empty name"),
        ("b.rar", "b.rar: neither an archive nor a program"),
    ],
)
def test_a_single_file_is_refused_for_its_name(tmp_path, name, message):
    upload = written(tmp_path / "upload", b"x = 1\n")
    with pytest.raises(UploadError) as refused:
        unpack(upload, tmp_path / "into", name=name)
    assert message in str(refused.value)
    assert not (tmp_path / "into").exists()


def test_what_is_too_large_is_refused_by_its_size_and_no_pipe_is_waited_for(tmp_path):
    upload = tmp_path / "b.zip"
    upload.touch()
    os.truncate(upload, (64 << 20) + 1)
    with pytest.raises(UploadError, match=r"b\.zip: it has 64 MiB; expected at most 64 MiB|67,108,865 bytes"):
        unpack(upload, tmp_path / "into")
    os.truncate(upload, 65 << 20)
    with pytest.raises(UploadError, match=r"b\.py: it has 65 MiB; expected at most 64 MiB"):
        unpack(upload, tmp_path / "into", name="b.py")
    os.mkfifo(tmp_path / "pipe.zip")
    with pytest.raises(UploadError, match="it is no plain file"):
        unpack(tmp_path / "pipe.zip", tmp_path / "into")


@pytest.mark.parametrize("top", ["", "b/", "b-main/"])
def test_the_only_directory_is_the_bots(tmp_path, top):
    beside = [File(b"__MACOSX/._bot.py"), File(b".DS_Store"), File(b"._b")] if top else []
    files = [File(top.encode() + b"bot.toml", MANIFEST), File(top.encode() + b"bot.py"), *beside]
    with opened_bot(written(tmp_path / "b.zip", make_zip(*files))) as path:
        assert Path(path, "bot.toml").read_bytes() == MANIFEST
        assert Path(path, "bot.py").read_bytes() == BOT
    assert not Path(path).exists()


def test_an_archive_of_one_program_is_that_program(tmp_path, temporary):
    with opened_bot(written(tmp_path / "one.zip", make_zip(File(b"single.py")))) as path:
        assert Path(path).name == "single.py"
        assert Path(path).read_bytes() == BOT
    assert left_in(temporary) == []


def test_a_zip_made_on_windows_has_programs_by_how_they_begin(tmp_path):
    files = [File(b"run", b"#!/bin/sh\n", mode=0), File(b"a.py", mode=0), File(b"bot.toml", MANIFEST, mode=0)]
    unpack(written(tmp_path / "b.zip", make_zip(*files)), tmp_path / "into")
    assert {name for name, (_, is_executable) in tree(tmp_path / "into").items() if is_executable} == {"run"}


KILLED = """
import sys
from pathlib import Path
from arena.match.uploads import unpacking
with unpacking.opened_bot(sys.argv[1]) as path:
    print("unpacked", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow(sample=True)
def test_what_a_killed_process_has_unpacked_is_removed_by_the_next(tmp_path, temporary):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(written(tmp_path / "b.zip", bot_zip()))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    assert process.stdout.readline() == b"unpacked\n"
    assert len(list(temporary.glob(f"{UPLOAD_PREFIX}*"))) == 1
    process.send_signal(signal.SIGKILL)
    process.communicate()
    code = "from arena.sandbox.isolation.launcher import open_launcher; open_launcher()"
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"TMPDIR": str(temporary)}, check=True)
    wait_until(lambda: not list(temporary.iterdir()))


LATER = {f"zip: {what}" for what in ("without a manifest", "two bots")}
"""What is refused only when everything has been unpacked."""


@pytest.mark.slow(only=("bzip2 of zeros", "tar: 60,000 entries", "xz of zeros"))
@pytest.mark.parametrize("what", sorted(HOSTILE.keys() - LATER))
def test_a_hostile_archive_is_rejected_in_a_sentence(what, tmp_path):
    name, make, message = HOSTILE[what]
    with pytest.raises(RejectedError) as refused:
        unpack_here(make(), name, tmp_path)
    sentence = str(refused.value)
    assert message in sentence
    assert sentence.isprintable()
    assert len(sentence) < 300
    assert re.search(r"expected|claims|damaged", sentence)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["temporary", "tree", "upload"]
    assert not [path for path in tmp_path.rglob("*") if path.is_symlink()]


MINE = 'name = "mine"\nversion = "1"\ncommand = ["python3", "bot.py"]\n'


@pytest.fixture
def bot(tmp_path):
    directory = tmp_path / "mine"
    (directory / "data").mkdir(parents=True)
    (directory / "bot.toml").write_text(MINE)
    (directory / "bot.py").write_text("print()\n")
    (directory / "data" / "table").write_bytes(bytes(range(256)) * 100)
    (directory / "tool").write_text("#!/bin/sh\n")
    (directory / "tool").chmod(0o755)
    (directory / "__pycache__").mkdir()
    (directory / "__pycache__" / "bot.pyc").write_bytes(b"old")
    return directory


def read(path):
    with packed(path) as one:
        data = one.file.read()
        assert len(data) == one.size_bytes
        return one.name, data


def test_the_same_files_give_the_same_bytes_whenever_and_wherever_they_were_written(bot, tmp_path):
    name, data = read(bot)
    assert name == "mine.tar.gz"
    os.utime(bot / "bot.py", (1, 1))
    other = tmp_path / "elsewhere" / "mine"
    other.parent.mkdir()
    bot.rename(other)
    assert read(other) == (name, data)
    (other / "bot.py").write_text("print(1)\n")
    assert read(other)[1] != data


def test_what_is_packed_is_what_is_unpacked(bot, tmp_path):
    name, data = read(bot)
    archive = tmp_path / name
    archive.write_bytes(data)
    unpacked = unpack(archive, tmp_path / "out")
    found = {path.relative_to(unpacked.bot).as_posix(): path for path in unpacked.bot.rglob("*") if path.is_file()}
    assert set(found) == {"bot.toml", "bot.py", "data/table", "tool"}
    assert found["data/table"].read_bytes() == bytes(range(256)) * 100
    assert os.access(found["tool"], os.X_OK)
    assert not found["bot.py"].stat().st_mode & 0o100


def test_a_file_is_submitted_as_it_is_and_what_is_no_bot_is_rejected(bot, tmp_path):
    assert read(bot / "bot.py") == ("bot.py", b"print()\n")
    (tmp_path / "no bot").mkdir()
    for name in ("nothing.py", "no bot"):
        with pytest.raises(BotDefinitionError):
            read(tmp_path / name)
