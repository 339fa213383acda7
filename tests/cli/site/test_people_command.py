import csv
import re
import sqlite3

import pytest

from arena.store.people.people_store import PeopleStore
from tests.cli.calls import as_json, printed, refusal


def people(arena):
    return {row["name"]: (row["role"], row["account"]) for row in as_json(arena, "people", "list")}


def test_a_person_is_added_with_a_link_that_can_be_used_once(arena, tmp_path):
    text = printed(arena, "people", "add", "ada", "--role", "director", "--site", "https://arena.example.org/")
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
    lines = as_json(arena, "people", "log")
    of_bob = [(line["action"], line["reason"]) for line in reversed(lines) if line["subject"] == "bob"]
    assert of_bob[2] == ("changed the role from author to director of", "runs the spring contest")
    assert of_bob[3] == ("closed the account of", "left")
    assert {line["by"] for line in lines} == {"the command line"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("add", "x y"), "name 'x y': expected 2 to 32 letters"),
        (("add", "EVE"), "name 'EVE': it is taken"),
        (("add", "e-ve"), "looks too much like"),
        (("add", "bob", "--role", "king"), "'king' is not one of"),
        (("add", "bob", "--site", "a.example.org"), "site 'a.example.org': expected an address such as https://"),
        (("add", "bob", "--site", "https://a.example.org?page=1"), "page=1': expected an address such as https://"),
        (("add", "bob", "--site", "http://[::1"), "site 'http://[::1': expected an address such as https://"),
        (("add", "bob", "--days", "0"), "0 is not in the range"),
        (("link", "bob"), "unknown person 'bob'"),
        (("role", "eve", "author"), "the last operator"),
        (("close", "eve", "--yes"), "the last operator"),
        (("close", "eve"), "expected --yes"),
        (("open", "eve"), "the account is open already"),
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


ROSTER = "\ufeffname;Role;E-Mail\r\nada;;ada@example.org\r\n\r\nbob;director;'b'\r\n"


def test_a_roster_becomes_accounts_links_and_one_line_in_the_log(arena, tmp_path):
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8", newline="")
    out = tmp_path / "links.csv"
    words = ("people", "import", tmp_path / "roster.csv", "--invitations", out, "--site", "https://arena.example.org")
    code, said, _ = arena(*words)
    assert (code, "choose a password at https://arena.example.org, for 7 days, are in" in said) == (0, True)
    assert people(arena) == {"ada": ("author", "invited"), "bob": ("director", "invited")}
    (one,) = as_json(arena, "people", "log")
    assert (one["action"], one["subject"]) == ("made accounts from a list for", "1 author, 1 director")
    rows = list(csv.DictReader(out.read_text().splitlines()))
    found = [(row["name"], row["role"], row["e-mail"]) for row in rows]
    assert found == [("ada", "author", "ada@example.org"), ("bob", "director", "'b'")]
    assert out.stat().st_mode & 0o777 == 0o600
    with PeopleStore(tmp_path / "home" / "people.sqlite3") as store:
        for row in rows:
            secret = row["link"].removeprefix("https://arena.example.org/invitations/")
            assert store.invitations.find(secret).person == row["name"]
    assert "it exists" in refusal(arena, *words)


@pytest.mark.parametrize(
    ("roster", "sentences"),
    [
        (
            b"eva\n=1+1\nbob\nB.ob\nx y\n" + b"z" * 201,
            [
                (1, "name 'eva': it is taken"),
                (2, "name '=1+1': a spreadsheet would take this for a formula; expected another first character"),
                (4, "name 'B.ob': line 3 has it already"),
                (5, "name 'x y': expected 2 to 32 letters"),
                (6, "expected at most 200 characters; there are 201"),
            ],
        ),
        (b"name,role\nada,king\nbob\n", [(2, "role 'king': expected 'author', 'director'"), (3, "expected 2 cells")]),
        (b"ada\nb\xe4r\n", [(2, "the byte 0xe4 is not UTF-8")]),
        ("ada\n".encode("utf-16"), [(1, "this is UTF-16")]),
        (b'ada\n"bob', [(2, "not valid CSV")]),
        (b"ada,author\n", [(1, "expected the headings of columns")]),
        (b"name,link\nada,x\n", [(1, "heading 'link'")]),
        (b"name,x,x\nada,x,x\n", [(1, "two columns have it")]),
        (b"name\n", [(1, "expected 1 to 1,000 people")]),
        (b" \n", [(1, "found an empty list")]),
        (b"ada\n" * 1001, [(1001, "there are 1,001")]),
        (b"a" * 70_000, [(1, "expected at most 65,536 bytes")]),
    ],
)
def test_a_roster_with_mistakes_is_refused_line_by_line_and_nobody_is_added(arena, tmp_path, roster, sentences):
    arena("people", "add", "eva")
    (tmp_path / "roster.csv").write_bytes(roster)
    code, out, err = arena("people", "import", tmp_path / "roster.csv", "--invitations", tmp_path / "links.csv")
    assert (code, out, len(err.splitlines())) == (2, "", len(sentences)), err
    for said, (line, sentence) in zip(err.splitlines(), sentences, strict=True):
        assert said.startswith(f"arena: {tmp_path}/roster.csv: line {line}: ") and sentence in said
    assert people(arena) == {"eva": ("author", "invited")}
    assert not (tmp_path / "links.csv").exists()


def test_nobody_is_added_if_the_links_cannot_be_written(arena, tmp_path, monkeypatch):
    (tmp_path / "roster.csv").write_text("ada\n")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    said = refusal(arena, "people", "import", tmp_path / "roster.csv", "--invitations", tmp_path / "links.csv")
    assert said.endswith("can't be written: No space left on device")
    monkeypatch.undo()
    assert people(arena) == {}
    assert not (tmp_path / "links.csv").exists()
