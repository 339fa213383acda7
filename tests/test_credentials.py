import os
import sys

import pytest

from arena.base.errors import StoreError, UsageError
from arena.base.programs.systemd import MAX_CREDENTIAL_BYTES, credential
from arena.cli.group import run
from arena.sandbox.isolation.file_access import READ_ONLY_SYSTEM, readable_paths
from arena.sandbox.isolation.interpreters import is_below
from arena.sandbox.isolation.sandbox_policy import clean_environment
from arena.store.home import ArenaHome, has_people, open_people, people_url, store_url

SECRET = "hunter2"
URL = f"postgresql://ada:{SECRET}@db.example.org/arena"


@pytest.fixture
def given(tmp_path, monkeypatch):
    place = tmp_path / "credentials"
    place.mkdir()
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(place))
    monkeypatch.delenv("ARENA_STORE", raising=False)
    monkeypatch.delenv("ARENA_PEOPLE", raising=False)

    def give(name, data):
        (place / name).write_bytes(data)

    return give


def test_each_database_has_its_own_and_variables_come_first(given, monkeypatch):
    assert (store_url(), people_url()) == (None, None)
    given("arena.store-url", f"{URL}\n".encode())
    assert (store_url(), people_url()) == (URL, None)
    given("arena.people-url", b"postgresql:///people")
    assert (store_url(), people_url()) == (URL, "postgresql:///people")
    monkeypatch.setenv("ARENA_STORE", "postgresql:///mine")
    monkeypatch.setenv("ARENA_PEOPLE", "postgresql:///ours")
    assert (store_url(), people_url()) == ("postgresql:///mine", "postgresql:///ours")


def test_one_that_can_not_be_read_is_named_and_a_manager_that_gives_none_is_no_mistake(given, monkeypatch, tmp_path):
    (tmp_path / "credentials" / "arena.store-url").mkdir()
    with pytest.raises(UsageError, match=r"credential arena\.store-url: can't be read: Is a directory"):
        store_url()
    for place in ("", str(tmp_path / "missing")):
        monkeypatch.setenv("CREDENTIALS_DIRECTORY", place)
        assert credential("arena.store-url") == ""


@pytest.mark.parametrize("data", [b"\n", b"", b"  \n"])
def test_an_empty_one_is_none_as_the_units_have_it_without_a_file(given, tmp_path, data):
    given("arena.store-url", data)
    given("arena.people-url", data)
    with ArenaHome(tmp_path / "home") as home:
        assert home.store.server is None
    assert not has_people(tmp_path / "home")
    with open_people(tmp_path / "home"):
        assert has_people(tmp_path / "home")


@pytest.mark.parametrize(
    "data",
    [
        f"{URL}\n{URL}".encode(),
        f"{URL}\0".encode(),
        b"\xff" + SECRET.encode(),
        SECRET.encode() * MAX_CREDENTIAL_BYTES,
        b"mysql://ada:" + SECRET.encode() + b"@x/y",
    ],
)
def test_what_is_no_url_is_refused_in_a_sentence_without_it(given, tmp_path, capsys, data):
    given("arena.store-url", data)
    with pytest.raises(UsageError) as raised:
        ArenaHome(tmp_path / "home")
    assert SECRET not in str(raised.value)
    assert run(["--home", str(tmp_path / "home"), "tournaments"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("arena: ")
    assert shown.count("\n") == 1
    assert SECRET not in shown


def test_no_bot_is_given_them_or_reads_where_they_are(given):
    given("arena.store-url", URL.encode())
    assert "CREDENTIALS_DIRECTORY" not in clean_environment("/scratch")
    readable = (*READ_ONLY_SYSTEM, *readable_paths((sys.executable,), ("/srv/bot",), os.defpath))
    assert not is_below("/run/credentials/arena-checker.service/arena.store-url", readable)


def test_a_server_that_is_named_so_is_asked(given, tmp_path):
    given("arena.store-url", f"postgresql://ada:{SECRET}@127.0.0.1:1/arena".encode())
    with pytest.raises(StoreError, match=r"127\.0\.0\.1") as raised:
        ArenaHome(tmp_path / "home")
    assert SECRET not in str(raised.value)
