import json
import re
import shutil
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest

from arena.site.publish.verification import verify_folder
from arena.store.home import ArenaHome
from arena.store.people.people_store import PeopleStore
from arena.tournament.transfer.export import DigestChain
from tests.analysis.text.tournaments import play
from tests.cli.calls import calling
from tests.community.contests.samples import contest_of
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
@pytest.mark.parametrize(("name", "place", "number", "message"), NUMBERS, ids=["a rank", "points", "a count"])
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
