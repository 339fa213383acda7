import hashlib
import json
import os
import shutil
import sqlite3
from contextlib import closing

import pytest

from arena.community.contests.stages import open_embargoed_home
from arena.store.backup.contents import MANIFEST, MAX_LINE_BYTES
from arena.store.backup.writing import make_backup
from arena.store.home import ArenaHome, open_people
from tests.cli.calls import refusal
from tests.server.conftest import add_tournament
from tests.store.backup.test_backup import calling


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("made")
    with ArenaHome(place / "home") as home:
        add_tournament(home)
        (home.directory / "bots" / "ab").mkdir(parents=True)
        (home.directory / "bots" / "ab" / "x.py").write_text("print(1)\n")
        open_people(home.directory).close()
        open_embargoed_home(home.directory, "spring").close()
        make_backup(home, place / "backup")
    return place / "backup"


@pytest.fixture
def backup(made, tmp_path):
    return shutil.copytree(made, tmp_path / "backup")


def lines_of(backup):
    return [json.loads(text) for text in (backup / MANIFEST).read_text().splitlines()]


def write_lines(backup, lines):
    body = "".join(json.dumps(line) + "\n" for line in lines)
    end = {"files": len(lines) - 1, "sha256": hashlib.sha256(body.encode()).hexdigest(), "is_whole": True}
    (backup / MANIFEST).write_text(body + json.dumps(end) + "\n")


def with_file(backup, path, content=b"x", **changes):
    entry = {"path": path, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), "is_program": False}
    write_lines(backup, [*lines_of(backup)[:-1], entry | changes])


def replace_file(backup, path, content):
    (backup / path).write_bytes(content)
    changed = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    write_lines(backup, [line | changed if line.get("path") == path else line for line in lines_of(backup)[:-1]])


@pytest.fixture
def refused(backup, tmp_path, capsys):
    def refused():
        before = sorted(tmp_path.rglob("*"))
        error = refusal(calling(tmp_path / "restored", capsys), "backup", "restore", backup)
        if (tmp_path / "restored").exists():
            (tmp_path / "restored").rmdir()  # it is empty
        assert sorted(tmp_path.rglob("*")) == before
        return error

    return refused


PATHS = [
    "/etc/passwd", "../evil", "bots/../../evil", "bots/./x", "bots//x", "bots/", "bots", "", "evil", "cache/x",
    "locks/x", "arena.sqlite3-wal", "people.sqlite3-journal", "arena.sqlite3/x", "contests/spring/arena.sqlite3-wal",
    "contests/spring/deeper/arena.sqlite3", "manifest.jsonl", "bots/a\0b", f"bots/{'a' * 300}",
    "bots/" + "a/" * 200 + "x", "bots/\ud800", "x" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_no_home_has_is_refused(backup, refused, path):
    with_file(backup, path)
    assert "manifest.jsonl" in refused()


def test_a_file_that_is_named_twice_is_refused(backup, refused):
    (backup / "bots" / "ab" / "y.py").write_text("x")
    write_lines(backup, [*lines_of(backup)[:-1], next(line for line in lines_of(backup) if "x.py" in str(line))])
    assert "names it twice" in refused()


def test_a_file_that_is_a_directory_too_is_refused_and_the_reverse_as_well(backup, refused):
    with_file(backup, "bots/ab/x.py/y")
    assert "it as a file and a directory" in refused()
    (backup / "bots" / "ab" / "d").mkdir()
    write_lines(backup, lines_of(backup)[:-2])
    with_file(backup, "bots/ab/d")
    assert "can't be read" in refused() or "ordinary" in refused()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"bytes": 0}, "longer than the manifest says"),
        ({"bytes": 2}, "shorter than the manifest says"),
        ({"bytes": -1}, "bytes"),
        ({"bytes": 2**60}, "bytes"),
        ({"bytes": 1.0}, "bytes"),
        ({"sha256": "0" * 64}, "digest is not that of the manifest"),
        ({"sha256": "0"}, "sha256"),
        ({"is_program": 1}, "is_program"),
        ({"mode": 0o4755}, "mode"),
    ],
)
def test_a_file_that_is_not_as_the_manifest_says_is_refused(backup, refused, changes, reason):
    (backup / "bots" / "ab" / "y").write_bytes(b"x")
    with_file(backup, "bots/ab/y", **changes)
    assert reason in refused()


@pytest.mark.parametrize("kind", ["link", "directory link", "fifo", "missing"])
def test_what_is_no_ordinary_file_is_not_followed(backup, refused, tmp_path, kind):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "y").write_bytes(b"x")
    place = backup / "bots" / "ab" / "y"
    path = "bots/ab/y"
    if kind == "link":
        place.symlink_to(secret / "y")
    elif kind == "directory link":
        place.symlink_to(secret)
        path = "bots/ab/y/y"
    elif kind == "fifo":
        os.mkfifo(place)
    with_file(backup, path)
    assert path in refused()


def test_a_manifest_without_its_end_is_refused(backup, refused):
    lines = (backup / MANIFEST).read_text().splitlines(keepends=True)
    for text in ("", *("".join(lines[:count]) for count in range(len(lines))), "".join(lines)[:-1]):
        (backup / MANIFEST).write_text(text)
        assert "this is not the manifest of a whole backup" in refused()


def test_a_manifest_that_was_changed_is_refused(backup, refused):
    text = (backup / MANIFEST).read_text()
    (backup / MANIFEST).write_text(text.replace('"is_program": false', '"is_program": true', 1))
    assert "it was changed after it was written" in refused()
    (backup / MANIFEST).write_text(text + "more\n")
    assert "something after its last line" in refused()


@pytest.mark.parametrize(
    "first",
    [
        *("[]", "null", '{"arena_backup": 1}'),
        '{"arena_backup": 2, "arena": "9", "made_at": "x"}',
        '{"arena_backup": true, "arena": "9", "made_at": "x"}',
        '{"a":' * 10000,
        "x" * (2 * MAX_LINE_BYTES),
        "\xff",
    ],
    ids=range(8),
)
def test_another_first_line_is_refused(backup, refused, first):
    rest = (backup / MANIFEST).read_bytes().split(b"\n", 1)[1]
    (backup / MANIFEST).write_bytes(first.encode("latin-1") + b"\n" + rest)
    assert "manifest.jsonl" in refused()


def test_a_backup_without_results_is_refused(backup, refused):
    write_lines(backup, [line for line in lines_of(backup)[:-1] if line.get("path") != "arena.sqlite3"])
    assert "it names no arena.sqlite3" in refused()


HIDDEN = "contests/spring/arena.sqlite3"
DATABASES = ["arena.sqlite3", "people.sqlite3", HIDDEN]


@pytest.mark.parametrize("name", DATABASES)
@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("CREATE TRIGGER evil AFTER INSERT ON {} BEGIN DELETE FROM {}; END", "is no part of an arena's database"),
        ("CREATE VIEW evil AS SELECT 1", "is no part of an arena's database"),
        ("CREATE TABLE evil (a, b AS (abs(a)))", "is no part of an arena's database"),
        ("UPDATE {} SET value = '999' WHERE key = 'schema_version'", "a newer arena is needed"),
        ("UPDATE {} SET value = 'x' WHERE key = 'schema_version'", "expected a number"),
    ],
)
def test_a_database_with_anything_else_in_it_is_refused(backup, refused, name, statement, reason):
    meta = "people_meta" if name == "people.sqlite3" else "meta"
    with closing(sqlite3.connect(backup / name)) as database:
        database.execute(statement.replace("{}", meta))
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    replace_file(backup, name, (backup / name).read_bytes())
    assert reason in refused()


@pytest.mark.parametrize("name", DATABASES)
def test_a_damaged_database_is_refused(backup, refused, name):
    for content in (b"", b"no database" * 1000, (backup / name).read_bytes()[:-4096] + b"\xff" * 4096):
        replace_file(backup, name, content)
        sentence = refused()
        assert name in sentence, sentence


@pytest.mark.parametrize("kind", ["nothing", "file", "directory", "link loop"])
def test_what_is_no_backup_at_all_is_refused(tmp_path, capsys, kind):
    place = tmp_path / "folder"
    if kind == "file":
        place.touch()
    elif kind == "directory":
        place.mkdir()
    elif kind == "link loop":
        place.symlink_to(place)
    assert refusal(calling(tmp_path / "restored", capsys), "backup", "restore", place)
    assert not (tmp_path / "restored").exists()
