import json
import re
import shutil
import stat
import subprocess
import threading
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest

from arena.base.errors import StoreError, UsageError
from arena.site.publish.signature import KEY_FILE, PUBLIC_KEY, SIGNATURE, public_key, signing_key
from arena.site.publish.verification import verify_folder
from arena.store.home import ArenaHome
from arena.store.people.people_store import PeopleStore
from arena.tournament.transfer.export import DigestChain
from tests.analysis.text.tournaments import play
from tests.cli.calls import calling, told
from tests.community.contests.samples import contest_of
from tests.needs import program
from tests.site.folders import content, published, signed_again, two_tournaments


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    with ArenaHome(tmp_path_factory.mktemp("small")) as home:
        play(home, "cup", ["alpha", "beta"], encounters=1)
        yield published(home, tmp_path_factory.mktemp("published") / "out")


@pytest.fixture
def folder(made, tmp_path):
    """A folder of two matches: all of a folder is made again to verify it."""
    return shutil.copytree(made, tmp_path / "out")


@pytest.mark.slow
def test_what_was_published_holds(tmp_path):
    with ArenaHome(tmp_path / "home") as home:
        two_tournaments(home)
        folder = published(home, tmp_path / "out")
    found = verify_folder(folder)
    assert found.problems == []
    assert found.files == len(content(folder)) - 1
    assert found.matches > 10
    assert found.pages == sum(path.endswith(".html") for path in content(folder))


@pytest.mark.slow
def test_frozen_results_are_said_in_each_page_of_their_tournament_and_verified(tmp_path, capsys):
    with ArenaHome(tmp_path / "home") as home:
        for name in ("spring-qualification", "cup"):
            play(home, name, ["alpha", "beta"], encounters=1)
    with PeopleStore(tmp_path / "home" / "people.sqlite3", lambda: 1e9) as people:
        people.contests.add("dora", contest_of(opens_at="2021-01-15T08:00:00", deadline_at="2021-01-20T23:59:59"))
    arena, folder = calling(tmp_path / "home", capsys), tmp_path / "out"
    assert arena("publish", folder, "--no-matches")[0] == 0
    sentence = "Frozen since Wed 20 Jan 2021, 19:59:59 (Europe/Berlin, UTC+01:00);"
    pages = {path for path, data in content(folder).items() if sentence.encode() in data}
    assert {path.parent for path in map(Path, pages)} >= {Path("tournaments/spring-qualification")}
    assert not any("cup" in path for path in pages)
    index = json.loads((folder / "tournaments/spring-qualification/index.json").read_text())
    assert index["frozen"]["sentence"].startswith(sentence)
    assert "tournaments/spring-qualification/index.html" in pages
    assert verify_folder(folder).problems == []
    changed(folder / "tournaments/spring-qualification/index.html", sentence.encode(), b"Nothing is hidden;")
    signed_again(folder)
    assert any("it does not say what" in problem for problem in verify_folder(folder).problems)


def changed(path, old, new):
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))


def louder(path):
    path.write_bytes(path.read_bytes().replace(b"</h1>", b"!</h1>").replace(b"color", b"colour"))


def forge(folder, *, is_consistent):
    """Give a bot a better score in the first record of the cup; if wanted, with digests of lines that belong to it."""
    path = folder / "records" / "cup.jsonl"
    lines = [
        line for text in path.read_text().splitlines() if not {"digests", "end"} & (line := json.loads(text)).keys()
    ]
    record = next(line for line in lines if "scores" in line)
    record["scores"][0] += 1
    chain = DigestChain()
    for line in lines:
        chain.add(json.dumps(line).encode())
    before = path.read_text().splitlines()
    end = [json.dumps({"digests": chain.digests}), json.dumps({"end": chain.lines})] if is_consistent else before[-2:]
    path.write_text("\n".join([*map(json.dumps, lines), *end, ""]))


def test_a_forged_record_is_found_also_with_digests_that_fit(folder):
    forge(folder, is_consistent=False)
    (problem,) = verify_folder(folder).problems
    assert problem.startswith("records/cup.jsonl: it")
    signed_again(folder)
    (problem,) = verify_folder(folder).problems
    assert re.match("records/cup.jsonl: line .*was changed after it was exported", problem)
    forge(folder, is_consistent=True)
    signed_again(folder)
    (problem,) = verify_folder(folder).problems
    assert re.match("records/cup.jsonl: .*match 1: .*scores", problem)


CUP, GAMES = "tournaments/cup/index", "games/index.html"
CHANGED = [
    ("bots/index.html", Path.unlink, "it is missing", "it is missing, and so it is in the manifest"),
    ("static/evil.js", Path.touch, "it is not in the manifest", "nothing in the records leads to it"),
    (GAMES, louder, "it has .* bytes.*", "it does not say what games/index.json says"),
    ("static/site.css", louder, "it has .* bytes.*", "it is not the arena's"),
]
NUMBERS = [
    (CUP, ["standings", 0, "rank"], 2, "standings[0].rank is 2, but 1 by the records"),
    (CUP, ["standings", 0, "margin_95"], None, "standings[0].margin_95 is null, but "),
    (CUP, ["crosstable", "cells", 0, 1, "points"], 0.25, "crosstable.cells[0][1].points is "),
    ("index", ["tournaments", 0, "recorded"], 9999, "tournaments[0].recorded is "),
]


@pytest.mark.slow(sample=True)
def test_files_that_are_not_as_published_are_found_also_with_a_manifest_that_fits(folder):
    for name, change, *_ in CHANGED:
        change(folder / name)
    problems = verify_folder(folder).problems
    assert len(problems) == len(CHANGED)
    for name, _, unsigned, _ in CHANGED:
        assert any(re.fullmatch(f"{name}: {unsigned}", problem) for problem in problems), name
    signed_again(folder)
    assert sorted(verify_folder(folder).problems) == sorted(f"{name}: {signed}" for name, *_, signed in CHANGED)


@pytest.mark.slow(only=("a rank", "points"), sample=("a rank",))
@pytest.mark.parametrize(
    ("name", "place", "number", "message"), NUMBERS, ids=["a rank", "no margin", "points", "a count"]
)
def test_a_changed_number_is_found_although_the_manifest_fits(folder, name, place, number, message):
    value = json.loads((folder / f"{name}.json").read_text())
    reduce(getitem, place[:-1], value)[place[-1]] = number
    (folder / f"{name}.json").write_text(json.dumps(value))
    signed_again(folder)
    problems = verify_folder(folder).problems
    assert any(problem.startswith(f"{name}.json: {message}") for problem in problems)
    assert f"{name}.html: it does not say what {name}.json says" in problems


def test_a_link_in_place_of_a_file_and_swapped_digests(folder, tmp_path):
    def swap(manifest):
        one, other = (manifest["files"][f"{CUP}.{kind}"] for kind in ("html", "json"))
        one["sha256"], other["sha256"] = other["sha256"], one["sha256"]

    signed_again(folder, swap)
    (folder / "index.html").rename(tmp_path / "elsewhere")
    (folder / "index.html").symlink_to(tmp_path / "elsewhere")
    link, *digests = sorted(verify_folder(folder).problems)
    assert link.startswith("index.html: it can't be read: ")
    assert digests == [f"{CUP}.{kind}: its digest is not that of the manifest" for kind in ("html", "json")]


@pytest.mark.slow
def test_a_folder_of_another_version_has_the_same_numbers(folder):
    def older(manifest):
        manifest["arena"] = "0.0.9"

    changed(folder / "index.html", b"</h1>", b"!</h1>")
    value = json.loads((folder / "index.json").read_text())
    value["a field of another version"] = 1
    (folder / "index.json").write_text(json.dumps(value))
    signed_again(folder, older)
    assert verify_folder(folder).problems == []
    value["matches"] += 1
    (folder / "index.json").write_text(json.dumps(value))
    signed_again(folder, older)
    (problem,) = verify_folder(folder).problems
    assert problem.startswith("index.json: matches is ")


@pytest.mark.slow(only=("", "[]", '{"tournaments": 1e999}'))
@pytest.mark.parametrize(
    "text", ["", "[]", "[" * 200_000, '{"tournaments": 1e999}', '{"tournaments": [], "matches": ' + "9" * 400 + ".0}"]
)
def test_a_hostile_twin_is_a_problem_and_nothing_else(folder, text):
    (folder / "index.json").write_text(text)
    signed_again(folder)
    problems = verify_folder(folder).problems
    assert problems
    assert all(problem.startswith("index.") and len(problem) < 600 for problem in problems)


@pytest.mark.parametrize("records", ["index.html", "../secret", "records/../index.json", "records/no.jsonl", ""])
def test_records_are_only_where_they_belong(folder, records):
    signed_again(folder, lambda manifest: manifest["tournaments"][0].update(records=records))
    assert verify_folder(folder).problems


OF_RFC_8032 = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
"""The public key of the first test in its section 7.1."""


@pytest.fixture(scope="module")
def signed_once(tmp_path_factory):
    with ArenaHome(tmp_path_factory.mktemp("signed")) as home:
        play(home, "cup", ["alpha", "beta"], encounters=1)
        yield published(home, tmp_path_factory.mktemp("published") / "out", key=signing_key(home.directory))


@pytest.fixture
def signed(signed_once, tmp_path):
    return shutil.copytree(signed_once, tmp_path / "out")


def key_of(signed):
    return public_key(str(signed / PUBLIC_KEY))


@program("openssl")
def test_openssl_finds_the_signature_right(signed):
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", PUBLIC_KEY, "-rawin", "-in", "manifest.json"]
    command += ["-sigfile", SIGNATURE]
    assert subprocess.run(command, cwd=signed, capture_output=True, check=False).returncode == 0
    with (signed / "manifest.json").open("a") as file:
        file.write(" ")
    assert subprocess.run(command, cwd=signed, capture_output=True, check=False).returncode != 0


def test_the_key_of_somebody_else(signed, tmp_path):
    other = signing_key(tmp_path).public
    (problem,) = verify_folder(signed, key=other).problems
    assert problem == f"it is signed with the key {key_of(signed).text}, not with {other.text}"
    (signed / PUBLIC_KEY).write_bytes(other.pem)
    (problem,) = verify_folder(signed).problems
    assert problem == f"{SIGNATURE}: it is not the signature of manifest.json by {other.text}"


def test_a_folder_that_was_changed_and_whose_manifest_fits_is_not_signed_any_more(signed):
    (signed / "index.html").write_text("")
    (problem,) = verify_folder(signed).problems
    assert problem.startswith("index.html: ")
    signed_again(signed)
    found = verify_folder(signed)
    assert found.signed_by is None
    assert found.problems == [f"{SIGNATURE}: it is not the signature of manifest.json by {key_of(signed).text}"]


@pytest.mark.parametrize("missing", [[SIGNATURE], [PUBLIC_KEY], [SIGNATURE, PUBLIC_KEY]])
def test_what_is_missing(signed, missing):
    key = key_of(signed)
    for name in missing:
        (signed / name).unlink()
    (problem,) = verify_folder(signed, key=key).problems
    expected = {
        SIGNATURE: f"{SIGNATURE}: it is not the signature of manifest.json by {key.text}",
        PUBLIC_KEY: f"{PUBLIC_KEY}: it is no Ed25519 public key in PEM",
    }
    assert problem == (expected[missing[0]] if len(missing) == 1 else f"it is not signed, and so not by {key.text}")
    assert (verify_folder(signed).problems == []) == (len(missing) == 2)


def test_what_is_no_signature_and_what_is_no_key_is_said(signed, tmp_path):
    for data in (b"", b"x" * 64, b"x" * 63, b"x" * 100_000):
        (signed / SIGNATURE).write_bytes(data)
        (problem,) = verify_folder(signed).problems
        assert problem.startswith(f"{SIGNATURE}: it is not the signature")
    for data in (b"", b"-----BEGIN PUBLIC KEY-----\n", b"\0" * 5000):
        (signed / PUBLIC_KEY).write_bytes(data)
        assert verify_folder(signed).problems == [f"{PUBLIC_KEY}: it is no Ed25519 public key in PEM"]
    (signed / PUBLIC_KEY).rename(tmp_path / "elsewhere")
    (signed / PUBLIC_KEY).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="can't be read"):
        verify_folder(signed)


def test_a_key_is_made_once_and_only_its_owner_reads_it(tmp_path):
    found = []
    threads = [threading.Thread(target=lambda: found.append(signing_key(tmp_path).public.text)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [signing_key(tmp_path).public.text] * 20
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()] == [KEY_FILE]
    assert stat.S_IMODE((tmp_path / KEY_FILE).parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600


def test_what_is_no_key_is_not_replaced(tmp_path):
    (tmp_path / KEY_FILE).parent.mkdir()
    for data in (b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nxx\n-----END PRIVATE KEY-----\n"):
        (tmp_path / KEY_FILE).write_bytes(data)
        with pytest.raises(StoreError, match="expected an Ed25519 key in PEM"):
            signing_key(tmp_path)
        assert (tmp_path / KEY_FILE).read_bytes() == data


def test_a_key_by_its_digits():
    assert public_key(f"ed25519:{OF_RFC_8032}").text == f"ed25519:{OF_RFC_8032}"
    signature = bytes.fromhex(
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )
    assert public_key(f"ed25519:{OF_RFC_8032}").has_signed(b"", signature)
    assert not public_key(f"ed25519:{OF_RFC_8032}").has_signed(b"x", signature)
    for text in ("", "ed25519:", f"ed25519:{OF_RFC_8032}0", OF_RFC_8032, "/", "\0", "x" * 5000):
        with pytest.raises(UsageError, match="expected ed25519: and 64 hexadecimal digits, or a PEM file"):
            public_key(text)


@pytest.mark.slow
def test_as_commands(tmp_path, capsys):
    call = calling(tmp_path / "home", capsys)
    with ArenaHome(tmp_path / "home") as home:
        play(home, "cup", ["alpha", "beta"], encounters=1)
    code, out, _ = call("publish", "cup", tmp_path / "out", "--sign")
    key = key_of(tmp_path / "out").text
    assert (code, out.splitlines()[1]) == (0, f"signed with the key {key}")
    found = verify_folder(tmp_path / "out")
    assert (found.problems, found.signed_by, found.files) == ([], key, len(content(tmp_path / "out")) - 3)
    code, out, _ = call("verify", tmp_path / "out", "--key", key)
    assert (code, out.splitlines()[1]) == (0, f"signed with the key {key}")
    assert out.startswith(f"{tmp_path / 'out'}: ") and out.splitlines()[0].endswith("checked: all of them hold")
    errors = told(call, 1, "verify", tmp_path / "out", "--key", f"ed25519:{OF_RFC_8032}")
    assert "not with" in errors
    assert call("verify", tmp_path / "out", "--key", "nothing")[0] == 2
    (tmp_path / "out" / "index.html").write_text("")
    code, _, errors = call("verify", tmp_path / "out")
    assert (code, "index.html: it has 0 bytes" in errors) == (1, True)
    assert call("verify", "cup", "--key", key)[0] == 2
