import errno
import json
import os
import re
import subprocess
import sys
from urllib.parse import quote
from xml.etree import ElementTree

import pytest

from arena.base.errors import StoreError, UnknownNameError, UsageError
from arena.base.version import __version__
from arena.site.publish.folder_files import FORM, MAX_MANIFEST_BYTES, FileEntry, FolderReader, Manifest, new_folder
from arena.site.publish.publishing import publish
from arena.store.home import ArenaHome
from tests.analysis.text.tournaments import play
from tests.browser.conftest import a_browser
from tests.site.folders import Links, content, published, targets, two_tournaments
from tests.site.hostile import TEXTS, fill

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with ArenaHome(tmp_path_factory.mktemp("publish")) as home:
        two_tournaments(home)
        play(home, "secret", ["spy", "alpha"], encounters=2)
        yield home


@pytest.fixture(scope="module")
def folder(home, tmp_path_factory):
    return published(home, tmp_path_factory.mktemp("published") / "out", "League", "cup")


def pages(folder):
    return [path for path in content(folder) if path.endswith(".html")]


@pytest.mark.slow
def test_every_address_leads_to_a_file_in_the_folder_and_every_page_is_reached(home, folder):
    files, seen, waiting = content(folder), {"index.html"}, ["index.html"]
    ids = {page: Links(files[page].decode()).ids for page in pages(folder)}
    while waiting:
        page = waiting.pop()
        for path, anchor in targets(folder, page):
            assert path in files, f"{page} -> {path}"
            is_made_by_script = re.fullmatch(r"ply-\d+|match-\d+", anchor)
            assert not anchor or anchor in ids[path] or is_made_by_script, f"{page} -> {path}#{anchor}"
            if path.endswith(".html") and path not in seen:
                seen.add(path)
                waiting.append(path)
    assert seen == set(pages(folder))
    for path, data in files.items():
        for other in (b"secret", b"spy", os.fsencode(home.directory)):
            assert other not in data, f"{path} has something of the rest of the home"
    feeds = [path for path in files if path.endswith("feed.atom")]
    assert {path.partition("/")[0] for path in feeds} == {"tournaments", "bots"}
    for path in feeds:
        linked = [link.get("href") for link in ElementTree.parse(folder / path).iter(f"{ATOM}link")]
        assert len(linked) > 2
        assert all((folder / path).parent.joinpath(address).is_file() for address in linked)


AGAIN = """
import locale, sys
from pathlib import Path
from arena.store.home import ArenaHome
from arena.site.publish.publishing import publish
locale.setlocale(locale.LC_ALL, "")
with ArenaHome(sys.argv[1]) as home:
    publish(home, ["cup", "League", "cup"], Path(sys.argv[2]))
"""


@pytest.mark.slow
def test_published_again_it_is_the_same_where_clocks_and_languages_are_others(home, folder, tmp_path):
    there = {**os.environ, "TZ": "Pacific/Auckland", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "7", "ARENA_STORE": ""}
    command = [sys.executable, "-c", AGAIN, str(home.directory), str(tmp_path / "again")]
    subprocess.run(command, env=there, check=True, timeout=120, cwd=tmp_path)
    assert content(tmp_path / "again") == content(folder)


@pytest.mark.slow
def test_without_names_all_are_published_in_files_of_their_own_and_as_many_matches_as_are_wanted(tmp_path):
    with ArenaHome(tmp_path / "home") as home:
        for name in ("Same", "same"):  # in the order of names, if both begin in the same second
            play(home, name, ["bot", "Bot"], encounters=2)
        assert publish(home, [], tmp_path / "none", max_matches=0).tournaments == ("Same", "same")
        few = published(home, tmp_path / "few", max_matches=3)
    manifest = json.loads((few / "manifest.json").read_text())
    assert [one["name"] for one in manifest["tournaments"]] == ["Same", "same"]
    files = content(few)
    assert len({path.casefold() for path in files}) == len(files)
    is_match = re.compile(r"/matches/\d+/\d+\.html$")
    assert [page for page in pages(tmp_path / "none") if is_match.search(page)] == []
    assert 0 < len([page for page in pages(few) if is_match.search(page)]) <= 2 * 3
    for page in pages(few):
        assert all(path in files for path, _ in targets(few, page))


def test_what_is_not_there_is_not_published(home, tmp_path):
    with pytest.raises(UnknownNameError):
        publish(home, ["leage"], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    with ArenaHome(tmp_path / "empty") as empty, pytest.raises(StoreError, match="no tournament yet"):
        publish(empty, [], tmp_path / "out")


@pytest.mark.parametrize("place", ["", "site", ".."])
def test_the_home_is_not_published_into(home, place):
    with pytest.raises(UsageError, match="outside of the arena's home"):
        publish(home, [], home.directory / place)


@pytest.mark.slow
def test_names_that_no_page_takes_and_rules_that_are_not_here_do_not_keep_the_rest_from_it(tmp_path):
    with ArenaHome(tmp_path / "home") as home:
        fill(home, ["".join(TEXTS[1:3]), "../a", "..", "a\0b", "w" * 201, "", "no_such_module:Game"])
        folder = published(home, tmp_path / "out", max_matches=2)
    files = content(folder)
    for page in pages(folder):
        for path, _ in targets(folder, page):
            assert path in files, f"{page} -> {path}"
    assert "there is no module" in next(
        files[path].decode() for path in pages(folder) if path.startswith("games/no_such_module")
    )
    assert not any("w" * 49 in path for path in pages(folder))


EMPTY = Manifest(arena_folder=FORM, arena=__version__, max_matches=None, tournaments=(), files={})


def write(out, files):
    with new_folder(out, EMPTY) as writer:
        for path, content in files.items():
            writer.write(path, [content])


def test_the_manifest_has_sizes_and_digests(tmp_path):
    write(tmp_path / "out", {"a/b.txt": b"abc", "c": b""})
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["files"] == {
        "a/b.txt": {"bytes": 3, "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        "c": {"bytes": 0, "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    }
    with FolderReader(tmp_path / "out") as reader:
        assert sorted(reader.paths()) == ["a/b.txt", "c", "manifest.json"]
        assert reader.manifest().arena == __version__
        assert [reader.problem_of(*entry) for entry in reader.manifest().files.items()] == [None, None]


def test_an_empty_directory_is_taken_and_a_folder_that_was_published_replaced(tmp_path):
    (tmp_path / "out").mkdir()
    for name in ("old", "new"):
        write(tmp_path / "out", {name: b"1"})
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["manifest.json", name]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["thesis.txt", "manifest.json"])
def test_what_somebody_else_has_made_stays(tmp_path, name):
    (tmp_path / name).write_text('{"name": "an app"}')
    with pytest.raises(UsageError, match="has not made, and stays as it is"):
        write(tmp_path, {"new": b"2"})
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_nothing_half_is_left(tmp_path, failure):
    write(tmp_path / "out", {"old": b"1"})

    def content():
        yield b"some"
        raise failure

    expected = (UsageError, KeyboardInterrupt)
    with pytest.raises(expected) as raised, new_folder(tmp_path / "out", EMPTY) as writer:
        writer.write("a", [b"1"])
        writer.write("b", content())
    assert raised.value is failure or str(raised.value).endswith("can't be written: No space left on device")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["manifest.json", "old"]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("no/out", "there is no directory"),
        ("file", "expected a directory, or nothing there"),
        ("loop", "expected a directory, or nothing there"),
    ],
)
def test_a_place_where_no_folder_can_be(tmp_path, place, message):
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match=message):
        write(tmp_path / place, {})


ENTRY = FileEntry(bytes=3, sha256="ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")


@pytest.mark.parametrize(
    "path", ["../secret", "/etc/passwd", "a/../../secret", "", ".", "link", "linked/secret", "pipe", "a"]
)
def test_no_path_and_no_link_leads_out_of_a_folder(tmp_path, path):
    (tmp_path / "secret").write_bytes(b"abc")
    out = tmp_path / "out"
    (out / "a").mkdir(parents=True)
    (out / "link").symlink_to(tmp_path / "secret")
    (out / "linked").symlink_to(tmp_path)
    os.mkfifo(out / "pipe")
    with FolderReader(out) as reader:
        assert reader.problem_of(path, ENTRY)
        assert sorted(reader.paths()) == ["link", "linked", "pipe"]


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "[" * 100_000, "\xff", '{"files": 1}',
        '{"arena_folder": 1, "arena": "1", "max_matches": -1, "tournaments": [], "files": {}}',
        '{"arena_folder": 1, "arena": "1", "max_matches": null, "tournaments": [], "files": {"a": {"bytes": 1}}}',
        '{"arena_folder": 9, "arena": "1", "max_matches": null, "tournaments": [], "files": {}}',
        '{"arena_folder": 1, "arena": "1", "max_matches": null, "files": {}, "tournaments":'
        ' [{"name": "a", "records": "records/a"}, {"name": "b", "records": "records/a"}]}',
        " " * (MAX_MANIFEST_BYTES + 1),
    ],
    ids=str.__len__,
)  # fmt: skip
def test_a_manifest_that_is_none_is_refused_in_a_sentence(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    with FolderReader(tmp_path) as reader, pytest.raises(UsageError) as refused:
        reader.manifest()
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.slow
def test_no_page_misses_anything_and_an_address_can_name_a_ply(home, tmp_path):
    folder = published(home, tmp_path / "from disk", "League", "cup")
    complaints, asked, root = [], [], f"{folder.as_uri()}/"
    with a_browser() as browser:
        page = browser.new_page(offline=True)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda request: complaints.append(f"{request.url}: {request.failure}"))
        page.on("request", lambda request: asked.append(request.url))
        for path in content(folder):
            if path.endswith(".html"):
                page.goto(root + quote(path))
        match = sorted(folder.glob("tournaments/League*/matches/0/*.html"))[0]
        for address in ("#ply-2", "?ply=2"):
            page.goto(match.as_uri() + address)
            assert page.text_content("#ply").startswith("ply 2 of ")
    left = ": net::ERR_ABORTED"  # of a page that was left before all of it was there
    assert [complaint for complaint in complaints if not complaint.endswith(left)] == []
    assert all(address.startswith(root) for address in asked)
