import json
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from arena.base.errors import StoreError, UnknownNameError, UsageError
from arena.site.publish.publishing import publish
from arena.store.home import ArenaHome
from tests.analysis.text.tournaments import play
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
