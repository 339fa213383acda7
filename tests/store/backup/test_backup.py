import json
import re
import shutil
import stat
import threading
from contextlib import closing
from unittest.mock import Mock

import pytest

from arena.base.errors import StoreError, UsageError
from arena.community.contests.stages import open_embargoed_home
from arena.community.submissions.upload_directory import UploadDirectory
from arena.store.backup import restoring, writing
from arena.store.backup.contents import SPARE_BYTES
from arena.store.backup.restoring import Target, restore_backup
from arena.store.backup.writing import make_backup
from arena.store.home import ArenaHome, open_people
from arena.store.people.people_store import PeopleStore
from arena.store.people.secret import hash_password
from arena.store.people.values import Role
from arena.store.results.store import Store
from tests.cli.calls import calling, printed, refusal
from tests.server.conftest import add_tournament
from tests.store.results.samples import definition, line, record

PASSWORD = "correct horse battery"
BOT = '#!/usr/bin/env python3\nprint("hello")\n'
UPLOADED = b"what an author submitted"


def fill(home, directory):
    add_tournament(home, "t")
    bot = directory / "bots" / "0123456789abcdef"
    bot.mkdir(parents=True)
    (bot / "mine.py").write_text(BOT)
    (bot / "mine.py").chmod(0o755)
    with open_people(directory) as people:
        ann = people.accounts.add("ann", Role.AUTHOR, "test")
        people.accounts.set_password(ann, hash_password(PASSWORD))
        with UploadDirectory(directory / "uploads").receive() as receiving:
            receiving.write(UPLOADED)
            received = receiving.keep()
        people.submissions.add(ann, received.name, received.digest, received.size_bytes, "mine.py", "my own note")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    place = tmp_path_factory.mktemp("filled")
    with ArenaHome(place / "home") as home:
        fill(home, home.directory)
        make_backup(home, place / "backup")
    return place


@pytest.fixture
def directory(filled, tmp_path):
    return shutil.copytree(filled / "home", tmp_path / "home")


@pytest.fixture
def backup(filled, directory, tmp_path):
    return shutil.copytree(filled / "backup", tmp_path / "backup")


def files_of(directory):
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def stored_rows(place, kind):
    with closing(kind(place)) as store:

        def read(connection):
            from arena.store.people.schema import metadata as people
            from arena.store.results.schema import metadata as results

            metadata = people if kind is PeopleStore else results
            return {
                table.name: sorted(map(repr, connection.execute(table.select()).all()))
                for table in metadata.sorted_tables
            }

        return store._database.read(read)


@pytest.mark.slow(sample=True)
def test_what_is_hidden_of_a_contest_is_copied_while_it_is_played(directory, tmp_path):
    with ArenaHome(directory) as home, open_embargoed_home(directory, "spring") as hidden:
        add_tournament(hidden, "spring")
        assert (hidden.directory / "arena.sqlite3-wal").stat().st_size
        make_backup(home, tmp_path / "backup")
        played = stored_rows(hidden.directory / "arena.sqlite3", Store)
    assert files_of(tmp_path / "backup" / "contests") == {"spring/arena.sqlite3"}
    restore_backup(tmp_path / "backup", Target(tmp_path / "restored"))
    assert stored_rows(tmp_path / "restored" / "contests" / "spring" / "arena.sqlite3", Store) == played
    assert stat.S_IMODE((tmp_path / "restored" / "contests" / "spring").stat().st_mode) == 0o700


def test_rows_bots_and_uploads_come_with_their_permissions_and_only_the_owner_can_read_them(
    directory, backup, tmp_path
):
    home = tmp_path / "elsewhere" / "restored"
    restore_backup(backup, Target(home))
    for name, kind in (("arena.sqlite3", Store), ("people.sqlite3", PeopleStore)):
        rows = stored_rows(directory / name, kind)
        assert any(rows.values())
        assert stored_rows(home / name, kind) == rows
    bot = home / "bots" / "0123456789abcdef" / "mine.py"
    assert bot.read_text() == BOT
    assert [stat.S_IMODE(path.stat().st_mode) for path in (bot, bot.parent)] == [0o755, 0o755]
    [upload] = (home / "uploads").iterdir()
    assert upload.read_bytes() == UPLOADED
    assert [stat.S_IMODE(path.stat().st_mode) for path in (upload, upload.parent)] == [0o600, 0o700]
    assert stat.S_IMODE((home / "people.sqlite3").stat().st_mode) == 0o600
    databases = {"arena.sqlite3", "people.sqlite3"}
    assert files_of(home) == databases | {"bots/0123456789abcdef/mine.py", f"uploads/{upload.name}"}
    modes = {stat.S_IMODE(path.stat().st_mode) for path in [backup, *backup.rglob("*")] if path.is_dir()}
    assert modes == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in backup.rglob("*") if path.is_file()} == {0o600}


def test_what_is_made_again_or_unfinished_is_left_out(directory, tmp_path):
    for path in (
        *("cache/standings", "locks/t", "parts/web.lock", "repro/x.stdin", "logs/t.log", "my notes.txt"),
        *("annotator.lock", "visitors.lock", "visitors.sqlite3", "visitors.sqlite3-wal", "visitors.sqlite3-shm"),
        *("bots/unfinished-1-a/bot/x.py", "bots/.0123456789abcdef.built", "bots/0123456789abcdef/build/program"),
        *("uploads/receiving-abc", "uploads/checking-abc/x.py", "bots/fedcba9876543210/build/data.txt"),
    ):
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text("x")
    (directory / "bots" / "link").symlink_to("/etc")
    (directory / "uploads" / "link").symlink_to("/etc/passwd")
    with ArenaHome(directory) as home:
        made = make_backup(home, tmp_path / "backup")
        assert made.left_out == ("my notes.txt",)
        kept = {path.split("/")[0] for path in files_of(tmp_path / "backup")}
        assert kept == {"arena.sqlite3", "people.sqlite3", "bots", "uploads", "manifest.jsonl"}
        assert made.files == 5
        # a directory named build of a bot without a build is its own
        assert "bots/fedcba9876543210/build/data.txt" in files_of(tmp_path / "backup")
        make_backup(home, tmp_path / "with logs", with_logs=True)
    assert files_of(tmp_path / "with logs") - files_of(tmp_path / "backup") == {"logs/t.log"}


def test_a_home_without_people_is_restored_without_them(tmp_path):
    with ArenaHome(tmp_path / "home") as home:
        add_tournament(home)
        make_backup(home, tmp_path / "backup")
    assert not (tmp_path / "home" / "people.sqlite3").exists()
    assert not restore_backup(tmp_path / "backup", Target(tmp_path / "restored")).has_people
    assert [path.name for path in (tmp_path / "restored").iterdir()] == ["arena.sqlite3"]


@pytest.mark.slow
def test_a_backup_is_of_one_moment_while_matches_are_recorded(tmp_path):
    with ArenaHome(tmp_path / "home") as home:
        tournament = home.store.create_tournament(definition(name="t"), [line(k) for k in range(1, 400)])
        is_over = threading.Event()

        def keep_recording():
            with ArenaHome(tmp_path / "home") as other:
                for k in range(1, 400):
                    if is_over.is_set():
                        break
                    other.store.record(tournament, [record(k, tournament="t")])

        director = threading.Thread(target=keep_recording)
        director.start()
        counts = []
        try:
            for k in range(5):
                make_backup(home, tmp_path / f"backup{k}")
                restore_backup(tmp_path / f"backup{k}", Target(tmp_path / f"restored{k}"))
                with ArenaHome(tmp_path / f"restored{k}") as restored:
                    found = restored.store.tournament("t")
                    rows = stored_rows(tmp_path / f"restored{k}" / "arena.sqlite3", Store)
                    assert found.recorded == len(rows["records"])
                    counts.append(found.recorded)
        finally:
            is_over.set()
            director.join()
    assert counts == sorted(counts)


def test_a_file_that_vanishes_meanwhile_is_left_out(directory, tmp_path, monkeypatch):
    [upload] = (directory / "uploads").iterdir()
    original = writing.make_directories

    def remove_first(folder, path, tree):
        upload.unlink(missing_ok=True)
        original(folder, path, tree)

    monkeypatch.setattr(writing, "make_directories", remove_first)
    with ArenaHome(directory) as home:
        made = make_backup(home, tmp_path / "backup")
    assert made.files == 3
    restore_backup(tmp_path / "backup", Target(tmp_path / "restored"))


@pytest.mark.slow
def test_a_server_is_backed_up_and_restored_as_files_and_back(postgres, tmp_path, monkeypatch):
    postgres_url, people_url, other_results, other_people = (postgres.new_database() for _ in range(4))
    monkeypatch.setenv("ARENA_PEOPLE", people_url)
    with ArenaHome(tmp_path / "home", store=postgres_url) as home:
        fill(home, home.directory)
        with open_people(home.directory) as people:
            left = people.accounts.add("bob", Role.AUTHOR, "test")
            forget(people, left.number)
        make_backup(home, tmp_path / "backup")
    restore_backup(tmp_path / "backup", Target(tmp_path / "files"))
    restore_backup(tmp_path / "backup", Target(tmp_path / "servers", other_results, other_people))
    assert not (tmp_path / "servers" / "arena.sqlite3").exists()
    assert not (tmp_path / "servers" / "people.sqlite3").exists()
    for kind, places in (
        (Store, (postgres_url, tmp_path / "files" / "arena.sqlite3", other_results)),
        (PeopleStore, (people_url, tmp_path / "files" / "people.sqlite3", other_people)),
    ):
        first, *others = (stored_rows(place, kind) for place in places)
        assert any(first.values())
        assert others == [first, first]
    for place in (tmp_path / "files" / "people.sqlite3", other_people):
        with PeopleStore(place) as people:
            assert people.accounts.add("cy", Role.AUTHOR, "test").number == left.number + 1
    for place in (tmp_path / "files" / "arena.sqlite3", other_results):
        with closing(Store(place)) as store:
            assert store.create_tournament(definition(name="next"), [line(1)]).number == 2


def forget(people, number):
    from arena.store.people.schema import people as table

    people._database.write(lambda connection: connection.execute(table.delete().where(table.c.id == number)))


@pytest.mark.slow
def test_a_server_that_is_not_empty_is_refused(postgres_url, backup, tmp_path):
    Store(postgres_url).close()
    with pytest.raises(StoreError, match=r"^postgresql:.*expected an empty database"):
        restore_backup(backup, Target(tmp_path / "restored", postgres_url))
    assert list((tmp_path / "restored").iterdir()) == []


def test_a_backup_is_written_nowhere_where_something_is(directory, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    with ArenaHome(directory) as home:
        for name in ("file", "empty", "link"):
            with pytest.raises(UsageError, match="something is there already"):
                make_backup(home, tmp_path / name)
        with pytest.raises(UsageError, match="there is no directory"):
            make_backup(home, tmp_path / "no" / "where")
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.parametrize("step", ["_copy_databases", "_measured", "_copied", "other_entries"])
def test_nothing_is_there_when_a_backup_is_ended(directory, tmp_path, monkeypatch, step):
    monkeypatch.setattr(writing, step, Mock(side_effect=KeyboardInterrupt))
    before = {path.name for path in tmp_path.iterdir()}
    with ArenaHome(directory) as home, pytest.raises(KeyboardInterrupt):
        make_backup(home, tmp_path / "backup")
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("step", ["_take_databases", "check_copy", "_put_into_place"])
def test_nothing_is_there_when_restoring_is_ended(backup, tmp_path, monkeypatch, step):
    monkeypatch.setattr(restoring, step, Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        restore_backup(backup, Target(tmp_path / "restored"))
    assert list((tmp_path / "restored").iterdir()) == []


@pytest.mark.parametrize("module", [writing, restoring])
def test_a_full_disk_is_said_before_it_is_full(directory, backup, tmp_path, monkeypatch, module):
    usage = shutil.disk_usage(tmp_path)._replace(free=SPARE_BYTES + 100)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with ArenaHome(directory) as home, pytest.raises(UsageError, match=r"^the disk has 64 MiB left"):
        if module is writing:
            make_backup(home, tmp_path / "other")
        else:
            restore_backup(backup, Target(tmp_path / "other"))
    assert not (tmp_path / "other").exists() or not list((tmp_path / "other").iterdir())


@pytest.mark.parametrize("name", ["arena.sqlite3", "bots", "restoring-abc", ".hidden"])
def test_a_home_that_is_not_empty_is_refused(backup, tmp_path, name):
    (tmp_path / "restored" / name).mkdir(parents=True)
    with pytest.raises(UsageError, match=f"it has '{name}'; a backup is only restored into an empty directory"):
        restore_backup(backup, Target(tmp_path / "restored"))
    assert [path.name for path in (tmp_path / "restored").iterdir()] == [name]


def test_a_link_to_itself_is_no_place_for_a_home(backup, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match="loop': expected an empty directory, or nothing there"):
        restore_backup(backup, Target(tmp_path / "loop"))


def test_the_commands_say_what_they_did(directory, tmp_path, capsys):
    call = calling(directory, capsys)
    code, text, error = call("backup", "make", tmp_path / "backup")
    assert (code, error) == (0, "")
    first, last = text.splitlines()
    assert first.startswith(f"{tmp_path}/backup has 4 files, ")
    assert "It has hashes of passwords" in first
    digest = re.fullmatch(r"Its digest is ([0-9a-f]{64})", last)[1]
    text = printed(call, "backup", "verify", tmp_path / "backup", "--json")
    assert json.loads(text) | {"bytes": 0} == {"is_whole": True, "files": 4, "bytes": 0, "digest": digest}
    elsewhere = calling(tmp_path / "restored", capsys)
    sentence = refusal(elsewhere, "backup", "restore", tmp_path / "backup", "--digest", "0" * 64)
    assert "the digest of its manifest is" in sentence
    code, text, _ = elsewhere("backup", "restore", tmp_path / "backup", "--digest", digest)
    assert code == 0
    assert re.fullmatch(rf"{tmp_path}/restored is as it was at \S+, with its people \(4 files\)\.\n", text)
    assert json.loads(elsewhere("tournaments", "--json")[1])[0]["tournament"] == "t"


def test_verification_names_the_damaged_file(directory, backup, capsys):
    bot = backup / "bots" / "0123456789abcdef" / "mine.py"
    bot.write_text(BOT.replace("hello", "jello"))
    code, text, _ = calling(directory, capsys)("backup", "verify", backup)
    assert code == 1
    assert text.endswith("mine.py: its digest is not that of the manifest\n")
