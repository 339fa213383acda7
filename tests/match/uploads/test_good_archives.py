import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import pytest

from arena.match.uploads.entry import DEFAULT_LIMITS
from arena.sandbox.isolation.procfs import process_tag
from arena.sandbox.isolation.reaper import COPY_PREFIX
from tests import needs
from tests.cli.calls import calling, printed, refusal, told
from tests.conftest import BOTS
from tests.leftovers import left_in
from tests.match.uploads.archives import (
    BOT,
    MANIFEST,
    File,
    bot_tar,
    bot_zip,
    extra_field,
    make_zip,
    pax,
    tar_file,
    tar_header,
    tree,
    unpack_here,
)
from tests.match.uploads.hostile import HOSTILE

LONG = "a-directory-with-quite-a-long-name/" * 4 + "and-a-file-with-a-name-that-is-not-short-either.py"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    root = tmp_path_factory.mktemp("source") / "my-bot"
    for name, data in {
        "bot.toml": MANIFEST,
        "bot.py": BOT,
        "lib/empty.py": b"",
        "lib/übergröße.py": b"x = 1\n",
        "lib/with space.txt": b"text\n" * 10_000,
        ".hidden": b"h",
        "weights.bin": bytes(range(256)) * 3000,
        "run.sh": b"#!/bin/sh\nexec true\n",
        LONG: b"long\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
        (root / name).chmod(0o755 if name == "run.sh" else 0o644)
    (root / "lib").chmod(0o2775)  # as directories are that a group shares
    return root


def unpacked(data, name, place):
    unpack_here(data, name, place)
    return tree(place / "tree")


class Pipe(io.BytesIO):
    def seekable(self):
        return False

    def tell(self):
        raise OSError


@pytest.mark.parametrize(
    ("kind", "method"),
    [(io.BytesIO, zipfile.ZIP_STORED), (io.BytesIO, zipfile.ZIP_DEFLATED), (Pipe, zipfile.ZIP_DEFLATED)],
)
def test_a_zip_by_python(source, tmp_path, kind, method):
    buffer = kind()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for path in sorted(source.rglob("*")):
            archive.write(path, path.relative_to(source))
    assert unpacked(buffer.getvalue(), "b.zip", tmp_path) == tree(source)


def test_a_zip_by_python_with_room_for_large_files(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, archive.open("a.py", "w", force_zip64=True) as file:
        file.write(BOT)
    assert unpacked(buffer.getvalue(), "b.zip", tmp_path) == {"a.py": (BOT, False)}


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("name", [".", "my-bot"])
@pytest.mark.parametrize("compression", ["", "gz", "xz", "bz2"])
def test_a_tar_by_python(source, tmp_path, form, name, compression):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{compression}", format=form) as archive:
        archive.add(source, name)
    top = "" if name == "." else "my-bot/"
    expected = {f"{top}{name}": file for name, file in tree(source).items()}
    assert unpacked(buffer.getvalue(), f"b.tar.{compression}".rstrip("."), tmp_path) == expected


COMMANDS = {
    "zip": (["zip", "-qr", "-", "my-bot"], "b.zip"),
    "zip without compression": (["zip", "-qr0", "-", "my-bot"], "b.zip"),
    "jar": (["jar", "-c", "my-bot"], "b.zip"),
    "7z": (["7z", "a", "-tzip", "-so", "x", "my-bot"], "b.zip"),
    "bsdtar zip": (["bsdtar", "-c", "--format", "zip", "-f", "OUT", "my-bot"], "b.zip"),
    "bsdtar": (["bsdtar", "-cz", "-f", "-", "my-bot"], "b.tar.gz"),
    "tar": (["tar", "-c", "my-bot"], "b.tar"),
    "tar gzip": (["tar", "-cz", "my-bot"], "b.tgz"),
    "tar bzip2": (["tar", "-cj", "my-bot"], "b.tar.bz2"),
    "tar xz": (["tar", "-cJ", "my-bot"], "b.tar.xz"),
    "tar ustar": (["tar", "-c", "--format=ustar", "my-bot"], "b.tar"),
    "tar gnu": (["tar", "-c", "--format=gnu", "my-bot"], "b.tar"),
    "tar pax": (["tar", "-c", "--format=pax", "my-bot"], "b.tar"),
    "busybox": (["busybox", "tar", "-c", "my-bot"], "b.tar"),
}
PACKERS = {"bzip2": "bzip2", "xz": "xz"}


@pytest.mark.parametrize("what", COMMANDS)
def test_an_archive_by_a_program(source, tmp_path, what):
    command, name = COMMANDS[what]
    if not all(map(shutil.which, (command[0], PACKERS.get(what.removeprefix("tar "), command[0])))):
        pytest.skip(f"needs {command[0]}")
    out = tmp_path / "out"
    given = [str(out) if word == "OUT" else word for word in command]
    done = subprocess.run(given, cwd=source.parent, stdout=subprocess.PIPE, check=True)
    data = out.read_bytes() if "OUT" in command else done.stdout
    found = {path: file for path, file in unpacked(data, name, tmp_path).items() if "META-INF" not in path}
    expected = {f"my-bot/{path}": file for path, file in tree(source).items()}
    if what == "jar":  # which knows no modes
        assert found.pop("my-bot/run.sh")[1]
        expected.pop("my-bot/run.sh")
    assert found == expected


@pytest.mark.parametrize("name", ["b.zip", "b.tar", "b.tar.gz"])
@needs.program("git")
def test_an_archive_by_git(source, tmp_path, name):
    """As GitHub makes them: the hash of the commit is a comment, and one directory is above all files."""
    work = tmp_path / "work"
    shutil.copytree(source, work)
    git = ["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], check=True)
    form = name.removeprefix("b.")
    done = subprocess.run([*git, "archive", f"--format={form}", "--prefix=b-main/", "HEAD"], stdout=-1, check=True)
    assert unpacked(done.stdout, name, tmp_path) == {f"b-main/{path}": file for path, file in tree(source).items()}


BOTH = {"bot.toml": (MANIFEST, False), "bot.py": (BOT, False)}


def test_a_zip_with_a_comment_and_extra_fields(tmp_path):
    more = File(b"a.py", extra=extra_field(0x5455, b"\x01abcd") + extra_field(0x7875, b"\x01\x04abcd\x04abcd"))
    assert unpacked(bot_zip(more, comment=b"0" * 40), "b.zip", tmp_path) == {**BOTH, "a.py": (BOT, False)}


def test_an_archive_in_an_archive_is_a_file(tmp_path):
    inner = {"a.zip": bot_zip(), "b.tar.gz": b"\x1f\x8b anything", "z.zip": bot_zip(comment=b"c")}
    found = unpacked(bot_zip(*(File(name.encode(), data) for name, data in inner.items())), "b.zip", tmp_path)
    assert found == {**BOTH, **{name: (data, False) for name, data in inner.items()}}


def test_a_zip_with_names_in_utf8_that_does_not_say_so(tmp_path):
    assert "é.py" in unpacked(bot_zip(File("é.py".encode())), "b.zip", tmp_path)


def test_a_tar_with_headers_for_all_and_for_one(tmp_path):
    parts = (
        pax((b"comment", b"0" * 40), kind=b"g"),
        pax((b"path", b"a.py"), (b"mtime", b"1.5"), (b"LIBARCHIVE.xattr.user", b"eA=="), (b"SCHILY.dev", b"1")),
        tar_file(b"other"),
        tar_header(b"./", kind=b"5"),
        tar_header(b"./lib", kind=b"5"),
        tar_file(b"./lib/b.py", magic=b"ustar  \0", mode=0o755),
        tar_file(b"c.py", kind=b"\0", prefix=b"lib/deep", owner=b"\x80\0\0\0\x7f\0\0\0"),
    )
    found = unpacked(bot_tar(*parts), "b.tar", tmp_path)
    more = {"a.py": (BOT, False), "lib/b.py": (BOT, True), "lib/deep/c.py": (BOT, False)}
    assert found == {**BOTH, **more}


def test_as_many_and_as_large_as_allowed(tmp_path):
    files = [File(b"d/%d" % number, b"") for number in range(DEFAULT_LIMITS.entries - 1)]
    assert len(unpacked(make_zip(*files), "b.zip", tmp_path)) == DEFAULT_LIMITS.entries - 1
    place = tmp_path / "deep"
    place.mkdir()
    deep = b"d/" * DEFAULT_LIMITS.depth + b"e" * DEFAULT_LIMITS.name_bytes
    assert os.fsdecode(deep) in unpacked(bot_zip(File(deep)), "b.zip", place)


BOT_TOML = b'name = "zipped"\ncommand = ["python3", "bot.py"]\ngames = ["differences"]\n'


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
        File(b"b-main/bot.toml", BOT_TOML), File(b"b-main/bot.py", (BOTS / "minimal/bot.py").read_bytes(), 8)
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
    assert left_in(place / "temporary") == []


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
    assert left_in(place / "temporary") == []
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
from arena.match.uploads.unpacking import unpack

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
