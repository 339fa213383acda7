"""``arena site people``: what is printed, and what is refused without a change."""

import json
import re
import sqlite3

import pytest

from arena.store.people.people_store import PeopleStore
from tests.cli.calls import refusal


def people(arena):
    return {row["name"]: (row["role"], row["account"]) for row in json.loads(arena("people", "list", "--json")[1])}


def test_a_person_is_added_with_a_link_that_can_be_used_once(arena, tmp_path):
    code, text, _ = arena("people", "add", "ada", "--role", "director", "--site", "https://arena.example.org/")
    assert code == 0
    first, link = text.splitlines()
    assert first == "ada is a director now, and can choose a password for 7 days at:"
    secret = re.fullmatch(r"https://arena\.example\.org/invitations/([A-Za-z0-9_-]{43})", link)[1]
    assert people(arena) == {"ada": ("director", "invited")}
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["people.sqlite3"]
    with sqlite3.connect(tmp_path / "home" / "people.sqlite3") as database:
        stored = "\n".join(database.iterdump())
    database.close()
    assert secret not in stored


def test_roles_and_accounts_are_changed_and_the_log_says_why(arena):
    for words in (
        ("add", "ada", "--role", "operator"),
        ("add", "bob"),
        ("role", "BOB", "director", "--reason", "runs the spring contest"),
        ("close", "bob", "--reason", "left", "--yes"),
        ("open", "bob"),
        ("link", "bob"),
    ):
        assert arena("people", *words)[0] == 0
    assert people(arena) == {"ada": ("operator", "invited"), "bob": ("director", "invited")}
    lines = json.loads(arena("people", "log", "--json")[1])
    assert [(line["action"], line["subject"], line["reason"]) for line in reversed(lines) if line["subject"] == "bob"][
        2:4
    ] == [
        ("changed the role from author to director of", "bob", "runs the spring contest"),
        ("closed the account of", "bob", "left"),
    ]
    assert {line["by"] for line in lines} == {"the command line"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("add", "x y"), "name 'x y': expected 2 to 32 letters"),
        (("add", "EVE"), "name 'EVE': it is taken"),
        (("add", "e-ve"), "looks too much like"),
        (("add", "bob", "--role", "king"), "'king' is not one of"),
        (("add", "bob", "--site", "a.example.org"), "--site 'a.example.org': expected an address such as https://"),
        (("add", "bob", "--days", "0"), "0 is not in the range"),
        (("link", "bob"), "unknown person 'bob'"),
        (("role", "eve", "author"), "the last operator"),
        (("close", "eve", "--yes"), "the last operator"),
        (("close", "eve"), "expected --yes"),
        (("open", "eve"), "the account is open"),
        (("ad",), "did you mean 'add'?"),
        (("add",), "Missing argument"),
    ],
)
def test_wrong_use_is_one_sentence_and_changes_nothing(arena, tmp_path, words, sentence):
    arena("people", "add", "eve", "--role", "operator")
    with PeopleStore(tmp_path / "home" / "people.sqlite3") as store:
        store.accounts.set_password(store.accounts.get("eve"), "hash")
    before = people(arena)
    assert sentence in refusal(arena, "people", *words)
    assert people(arena) == before


def test_an_empty_list_says_how_to_begin(arena):
    assert "arena site people add NAME --role director" in arena("people")[1]


def test_the_database_may_be_elsewhere(arena, monkeypatch):
    monkeypatch.setenv("ARENA_PEOPLE", "mysql://somewhere/people")
    assert "expected a URL such as postgresql://" in refusal(arena, "people")
