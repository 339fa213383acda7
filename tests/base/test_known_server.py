import json
import shutil

import pytest
from sqlalchemy import make_url

from arena.base.errors import StoreError
from arena.base.known_server import (
    MAX_CHARACTERS,
    PEOPLE,
    RESULTS,
    identity_of,
    left_out_key_of,
    note_server,
    noted_server,
)
from arena.cli.group import run
from arena.store.backup.restoring import Target, restore_backup
from arena.store.backup.writing import make_backup
from arena.store.home import ArenaHome, has_people, open_people, own_databases
from arena.store.results.connection import shown_url

SHOWN = "postgresql://ada:***@db.example.org/arena"


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in ("ARENA_STORE", "ARENA_PEOPLE", "CREDENTIALS_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)


def files(directory):
    return sorted(path.name for path in directory.iterdir())


def test_a_home_that_was_used_with_a_server_is_not_an_empty_one_without(postgres_url, tmp_path, capsys):
    url = make_url(postgres_url).set(password="hunter2").render_as_string(hide_password=False)
    with ArenaHome(tmp_path / "home", store=url):
        pass
    noted = noted_server(tmp_path / "home", RESULTS)
    assert noted == make_url(url).render_as_string(hide_password=True)
    assert "hunter2" not in (tmp_path / "home" / "results-server").read_text()
    assert (tmp_path / "home" / "results-server").stat().st_mode & 0o077 == 0
    for arguments in (["tournaments"], ["run", "arena:quickstart"], ["serve", "--only", "work"]):
        assert run(["--home", str(tmp_path / "home"), *arguments]) == 2
        out, err = capsys.readouterr()
        place = tmp_path / "home"
        assert (out, err) == (
            "",
            f"arena: {place}: its results are on the server {noted}; give its URL by --store or $ARENA_STORE, or remove"
            f" {place}/results-server if they are not there any more\n",
        )
    assert files(tmp_path / "home") == ["results-server"]
    assert run(["--home", str(tmp_path / "home"), "--store", url, "tournaments"]) in (0, 2)
    assert "its results are on the server" not in capsys.readouterr().err
    (tmp_path / "home" / "results-server").unlink()
    ArenaHome(tmp_path / "home").close()


def test_who_only_looks_at_a_server_is_not_reminded_of_it(postgres_url, tmp_path):
    (tmp_path / "home").mkdir()
    with ArenaHome(tmp_path / "home", must_exist=True, store=postgres_url):
        pass
    assert files(tmp_path / "home") == []


def test_people_on_a_server_are_not_a_home_without_people(postgres, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ARENA_PEOPLE", postgres.new_database())
    (tmp_path / "home").mkdir()
    with open_people(tmp_path / "home"):
        pass
    monkeypatch.delenv("ARENA_PEOPLE")
    assert has_people(tmp_path / "home")
    with pytest.raises(StoreError, match=r"people are on the server postgresql:.*; give its URL by \$ARENA_PEOPLE"):
        open_people(tmp_path / "home")
    with ArenaHome(tmp_path / "home") as home, pytest.raises(StoreError, match="its people are on the server"):
        make_backup(home, tmp_path / "backup")
    assert run(["--home", str(tmp_path / "home"), "people", "list"]) == 2
    assert "its people are on the server" in capsys.readouterr().err
    assert "people.sqlite3" not in files(tmp_path / "home")


def test_a_home_with_results_of_its_own_shows_them_and_says_so(tmp_path, capsys):
    with ArenaHome(tmp_path) as home:
        assert home.other_server == ""
    note_server(tmp_path, RESULTS, SHOWN)
    assert run(["--home", str(tmp_path), "tournaments", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == []
    assert err.count("\n") == 1
    assert err.startswith(f"arena: this shows a file in the home; {tmp_path}: its results are on the server {SHOWN};")
    with ArenaHome(tmp_path / "hidden", store=tmp_path / "hidden" / "arena.sqlite3") as home:
        assert home.other_server == ""


@pytest.mark.parametrize(
    ("data", "read"),
    [(b"\x1b[31mx\ny", "[31mxy"), (b"\xff", "\ufffd"), (b"x" * 100_000, "x" * MAX_CHARACTERS), (b"", "")],
)
def test_what_somebody_else_has_written_there_is_bounded_and_printable(tmp_path, data, read):
    (tmp_path / "results-server").write_bytes(data)
    assert noted_server(tmp_path, RESULTS) == read


def test_where_nothing_can_be_written_nobody_is_reminded(tmp_path):
    note_server(tmp_path / "missing", RESULTS, SHOWN)
    (tmp_path / "results-server").mkdir()
    note_server(tmp_path, RESULTS, SHOWN)
    assert noted_server(tmp_path, RESULTS) == noted_server(tmp_path / "missing", RESULTS) == ""
    assert files(tmp_path / "results-server") == []


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ada:hunter2@db/arena", "postgresql://ada:***@db/arena"),
        (
            "postgresql://db/arena?user=ada&password=hunter2&sslmode=require",
            "postgresql://db/arena?sslmode=require&user=ada",
        ),
        ("postgresql:///arena?sslpassword=hunter2", "postgresql:///arena"),
    ],
)
def test_no_password_is_shown_wherever_it_stands_in_the_url(url, shown):
    assert shown_url(url) == shown


@pytest.mark.slow(only=("both",))
@pytest.mark.parametrize(
    "shared",
    [("ARENA_STORE", "ARENA_PEOPLE"), ("ARENA_PEOPLE",), ("ARENA_STORE",)],
    ids=["both", "people", "results"],
)
def test_one_site_at_a_time_works_on_a_database(postgres, tmp_path, monkeypatch, capsys, shared):
    for variable in shared:
        monkeypatch.setenv(variable, postgres.new_database())
    here, moved, there, copied = (tmp_path / name for name in ("here", "moved", "there", "copied"))
    servers = own_databases(here)
    assert len(servers) == len(shared)
    here.rename(moved)
    assert own_databases(moved) == servers
    shutil.copytree(moved, copied)
    with pytest.raises(StoreError, match=f"it belongs to the home {moved} on .*, and this is {copied} on"):
        own_databases(copied)
    with ArenaHome(there), open_people(there):  # whoever plays or looks needs no home of its own
        pass
    assert run(["--home", str(there), "serve", "--only", "work"]) == 2
    [error] = capsys.readouterr().err.splitlines()
    assert error.startswith(f"arena: {servers[0]}: it belongs to the home {moved} on ")
    assert f"and this is {there} on " in error
    assert error.endswith("run: arena site people adopt")
    assert run(["--home", str(there), "people", "adopt"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == servers
    own_databases(there)
    with pytest.raises(StoreError, match=f"it belongs to the home {there}"):
        own_databases(moved)


@pytest.mark.slow
def test_a_copy_on_another_machine_is_kept_out_while_somebody_works_where_the_home_was(
    postgres_url, tmp_path, monkeypatch
):
    here, copied = tmp_path / "here", tmp_path / "copied"
    own_databases(here, postgres_url)
    with ArenaHome(here, store=postgres_url) as home:
        home.store.tournaments()
        shutil.copytree(here, copied)
        monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
        with pytest.raises(StoreError, match=f"it belongs to the home {here} on .*, and this is {copied} on elsewhere"):
            own_databases(copied, postgres_url)
    assert own_databases(copied, postgres_url) != []  # it was moved


def test_databases_that_are_files_are_in_their_home(tmp_path, capsys):
    assert own_databases(tmp_path / "home") == []
    assert files(tmp_path / "home") == ["arena.sqlite3"]
    assert run(["--home", str(tmp_path / "home"), "people", "adopt"]) == 2
    assert "the databases of this home are files in it" in capsys.readouterr().err


@pytest.mark.slow(sample=True)
def test_a_restored_home_is_another_one_that_knows_its_servers(postgres, tmp_path, monkeypatch):
    """Its databases belong to nobody."""
    first, second = ([postgres.new_database() for _ in range(2)] for _ in range(2))
    monkeypatch.setenv("ARENA_PEOPLE", first[1])
    own_databases(tmp_path / "home", first[0])
    with ArenaHome(tmp_path / "home", store=first[0]) as home:
        make_backup(home, tmp_path / "backup")
    monkeypatch.setenv("ARENA_PEOPLE", second[1])
    restored = tmp_path / "restored"
    restore_backup(tmp_path / "backup", Target(restored, *second))
    for what, url in zip((RESULTS, PEOPLE), second, strict=True):
        assert noted_server(restored, what) == make_url(url).render_as_string(hide_password=True)
    with ArenaHome(restored, store=second[0]) as home:
        assert home.other_server == ""
    assert own_databases(restored, second[0]) != []
    assert identity_of(restored) != identity_of(tmp_path / "home")
    with pytest.raises(StoreError, match=f"it belongs to the home {restored}"):
        own_databases(tmp_path / "home", second[0])


@pytest.mark.parametrize("data", [b"", b"x" * 64, b"\xff" * 10_000])
def test_what_is_no_identity_or_key_is_named_and_not_shown(tmp_path, data):
    (tmp_path / "keys").mkdir()
    for name, read, length in (("identity", identity_of, 32), ("keys/left_out_key", left_out_key_of, 64)):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(StoreError, match=f"{name}: it is not {length} hexadecimal digits; remove it") as refusal:
            read(tmp_path)
        assert "xx" not in str(refusal.value)


def test_a_home_keeps_its_key_to_itself_and_in_backups(home, tmp_path):
    key = left_out_key_of(home.directory)
    assert key == left_out_key_of(home.directory) != left_out_key_of(tmp_path)
    assert (home.directory / "keys/left_out_key").stat().st_mode & 0o77 == 0
    home.store.tournaments()
    make_backup(home, tmp_path / "backup")
    restore_backup(tmp_path / "backup", Target(tmp_path / "restored", None, None))
    assert left_out_key_of(tmp_path / "restored") == key
