import contextlib
import os
import shutil
import sqlite3
from dataclasses import replace

import pytest

from arena.analysis.measures.standings_cache import standings_of
from arena.analysis.measures.verification import verify
from arena.base.errors import DefinitionError, StoreError, UnknownNameError, UsageError
from arena.community.contests.contest_places import result_path
from arena.community.contests.results_program import make_result
from arena.community.contests.stages import open_embargoed_home, remove_embargoed_home
from arena.store.home import ArenaHome, delete_tournament, erase_tournament, rename_tournament, restore_tournament
from arena.store.results.scope import Scope
from arena.store.results.store import Store
from arena.store.results.values import StoredBot
from arena.store.results.whole_database import copy_file
from arena.tournament.schedule import schedule
from tests.community.contests.samples import contest_of
from tests.conftest import DATA, STORED
from tests.store.results.samples import definition, line, record

HOMES = sorted(path.name for path in (STORED / "homes").iterdir())


@pytest.fixture
def home(tmp_path):
    with ArenaHome(tmp_path / "home") as home:
        home.store.record(home.store.create_tournament(definition(), [line(1), line(2)]), [record(1)])
        home.store.create_tournament(definition(name="other"), [line(1)])
        write_log(home, "t", "log of t")
        yield home


def write_log(home, name, text):
    home.log_path(name).parent.mkdir(parents=True, exist_ok=True)
    home.log_path(name).write_text(text)


def logs(home):
    return {str(path.relative_to(home.directory / "logs")): path.read_text() for path in home.directory.rglob("*.log")}


def test_a_renamed_tournament_takes_its_log_along(home):
    renamed = rename_tournament(home, "t", "spring cup")
    assert renamed.name == renamed.definition.name == "spring cup"
    assert logs(home) == {"spring cup.log": "log of t"}
    assert [found.name for found in home.store.tournaments()] == ["spring cup", "other"]
    assert [found.tournament for found in home.store.records(home.store.tournament("spring cup"))] == ["t"]
    home.store.create_tournament(definition(), [line(1)])


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ("t", "a/b", DefinitionError, "new name = 'a/b': expected 1 to 64 letters"),
        ("t", "other", StoreError, "there is a tournament 'other' already; nothing was changed"),
        ("t", "t", UsageError, "tournament 't' has this name already"),
        ("spring", "cup", UnknownNameError, "unknown tournament 'spring': expected one of: t, other"),
    ],
)
def test_a_wrong_name_changes_nothing(home, old, new, error, message):
    with pytest.raises(error) as raised:
        rename_tournament(home, old, new)
    assert str(raised.value).startswith(message)
    assert [found.name for found in home.store.tournaments()] == ["t", "other"]
    assert logs(home) == {"t.log": "log of t"}


@pytest.mark.parametrize("locked", ["t", "new"])
def test_what_a_director_runs_is_neither_renamed_nor_deleted(home, locked):
    with home.store.lock(locked):
        with pytest.raises(StoreError, match=f"tournament '{locked}' is being run by another director"):
            rename_tournament(home, "t", "new")
        if locked == "t":
            with pytest.raises(StoreError, match="tournament 't' is being run by another director"):
                delete_tournament(home, "t")
    assert [found.name for found in home.store.tournaments()] == ["t", "other"]
    assert rename_tournament(home, "t", "new").name == "new"


def test_a_deleted_tournament_is_restored_with_its_log_and_seasons(home):
    home.store.seasons.add("2026", [home.store.tournament("t")])
    deleted = delete_tournament(home, "t")
    assert (deleted.name, deleted.trash_name) == ("t", "deleted/1")
    assert logs(home) == {"deleted/1.log": "log of t"}
    assert list(home.store.results()) == []
    home.store.create_tournament(definition(), [line(1)])
    write_log(home, "t", "log of another t")
    with pytest.raises(DefinitionError, match="new name = 'a/b'"):
        restore_tournament(home, "t", "a/b")
    assert restore_tournament(home, "t", "t again").name == "t again"
    assert logs(home) == {"t.log": "log of another t", "t again.log": "log of t"}
    assert [found.name for found in home.store.tournaments(Scope(season="2026"))] == ["t again"]
    assert len(list(home.store.results())) == 1
    with pytest.raises(UnknownNameError, match="unknown deleted tournament 'x': there are none yet"):
        restore_tournament(home, "x")


def test_only_what_is_in_the_trash_is_erased(home):
    with pytest.raises(StoreError, match="tournament 't' is not in the trash"):
        erase_tournament(home, "t")
    delete_tournament(home, "t")
    erase_tournament(home, "deleted/1")
    assert home.store.deleted_tournaments() == []
    assert logs(home) == {}


@pytest.mark.parametrize("place", ["t", "deleted/1"])
@pytest.mark.parametrize("kind", ["a link", "a pipe"])
def test_a_log_in_a_home_from_elsewhere_leads_nowhere_else(home, tmp_path, place, kind):
    outside, log = tmp_path / "profile", home.log_path(place)
    outside.write_text("mine")
    log.parent.mkdir(exist_ok=True)
    log.unlink(missing_ok=True)
    log.symlink_to(outside) if kind == "a link" else os.mkfifo(log)
    with pytest.raises(UsageError, match="the tournament is stored, but its log can't be moved"):
        delete_tournament(home, "t")
    assert outside.read_text() == "mine"
    assert "mine" not in [path.read_text() for path in home.directory.rglob("*.log") if path.is_file() and path != log]


def test_a_linked_folder_of_logs_in_a_home_from_elsewhere_keeps_its_files(home, tmp_path):
    shutil.rmtree(home.directory / "logs")
    (tmp_path / "deleted").mkdir()
    files = [tmp_path / "t.log", tmp_path / "deleted" / "1.log"]
    for file in files:
        file.write_text("mine")
    (home.directory / "logs").symlink_to(tmp_path)
    with pytest.raises(UsageError, match=r"its log can't be moved: .*logs is a link, which may lead out of"):
        delete_tournament(home, "t")
    with pytest.raises(UsageError, match=r"is erased, but its log can't be: .*logs is a link"):
        erase_tournament(home, "deleted/1")
    assert [file.read_text() for file in files] == ["mine", "mine"]


@pytest.mark.parametrize("linked", ["contests", "contests/spring"])
def test_a_linked_folder_of_contests_in_a_home_from_elsewhere_stays_as_it_is(home, tmp_path, linked):
    outside = tmp_path / "mine"
    (outside / "spring").mkdir(parents=True)
    (home.directory / linked).parent.mkdir(exist_ok=True)
    (home.directory / linked).symlink_to(outside)
    modes = [path.stat().st_mode for path in (outside, outside / "spring")]
    with pytest.raises(StoreError, match=r"can't be written: .* is a link, which may lead out of"):
        open_embargoed_home(home.directory, "spring")
    with pytest.raises(StoreError, match=r"can't be removed: .* is a link"):
        remove_embargoed_home(home, contest_of())
    with pytest.raises(UsageError, match=r"can't be written: .*cache is a link"):
        (home.directory / "cache").symlink_to(outside)
        make_result(home, "spring", [])
    assert modes == [path.stat().st_mode for path in (outside, outside / "spring")]
    assert [path.name for path in outside.rglob("*")] == ["spring"]


def test_a_contest_that_came_with_a_home_leads_nowhere_else_by_its_name(home, tmp_path):
    (tmp_path / "mine").mkdir()
    with open_embargoed_home(home.directory, "../../mine") as hidden:
        assert hidden.directory.parent == home.directory / "contests"
    remove_embargoed_home(home, replace(contest_of(), name="../../mine"))
    assert not list((home.directory / "contests").iterdir())
    assert (tmp_path / "mine").is_dir()
    assert result_path(home.directory, "../../mine").parent == home.directory / "cache" / "results"


def test_a_log_is_never_overwritten(home):
    write_log(home, "new", "old text, ")
    rename_tournament(home, "t", "new")
    assert logs(home) == {"new.log": "old text, log of t"}


def test_standings_are_not_taken_from_the_cache_of_another_tournament(home, monkeypatch):
    monkeypatch.setattr("arena.analysis.measures.standings_cache.WORTH_CACHING_SECONDS", 0)
    home.store.set_finished(home.store.tournament("t"), True)
    standings_of(home.store, "t", cache_directory=home.cache_directory)
    assert list(home.cache_directory.iterdir())
    rename_tournament(home, "t", "new")
    assert not list(home.cache_directory.iterdir())
    assert standings_of(home.store, "new", cache_directory=home.cache_directory).matches == 1


@pytest.fixture(params=["version 1", *HOMES])
def old_home(request, tmp_path):
    directory = tmp_path / "old"
    if request.param != "version 1":
        shutil.copytree(STORED / "homes" / request.param, directory)
    else:
        directory.mkdir()
        with contextlib.closing(sqlite3.connect(directory / "arena.sqlite3")) as connection:
            connection.executescript((DATA / "schema_1.sql").read_text())
    with ArenaHome(directory, must_exist=True) as home:
        yield home


def test_an_old_home_can_be_tidied_too(old_home):
    store = old_home.store
    first, second, *_ = [found.name for found in store.tournaments()]
    texts = list(store.record_texts(store.tournament(first)))
    total = len(list(store.results()))
    renamed = rename_tournament(old_home, first, "renamed")
    if store.find_tournament("swiss") is not None:  # not those of version 1, which somebody has made up
        assert verify(old_home, renamed) == (len(texts), [])
    store.seasons.add("old", [store.tournament("renamed"), store.tournament(second)])
    delete_tournament(old_home, "renamed")
    assert len(list(store.results())) == total - len(texts)
    assert [found.name for found in store.tournaments(Scope(season="old"))] == [second]
    restore_tournament(old_home, "renamed", first)
    assert list(store.record_texts(store.tournament(first))) == texts
    assert store.seasons.get("old").tournaments == (first, second)
    delete_tournament(old_home, second)
    erase_tournament(old_home, second)
    assert store.seasons.get("old").tournaments == (first,)


def submitted(home, digest="0" * 24, name="bot", version="1"):
    directory = home.directory / "bots" / digest
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "bot.py").write_text("")
    home.store.add_bot(StoredBot(name, version, digest, "bot.py", "2026-01-01"))
    return directory


def enter(home, directory, **fields):
    entrant = replace(definition().entrants[0], directory=str(directory))
    entrants = (entrant, definition().entrants[1])
    cup = definition(**{"name": "cup", "entrants": entrants, "opening_plies": 0, **fields})
    return home.store.create_tournament(cup, schedule(cup))


def test_a_removed_bot_leaves_the_list_and_its_files_go(home):
    directory = submitted(home)
    tournament = enter(home, directory)
    home.store.set_finished(tournament, True)  # as a ladder is that continues later: a match of it is scheduled
    with pytest.raises(UsageError, match="tournament 'cup' is not finished and needs its files"):
        home.bots.remove("bot@1")
    bots, seeds = ["a@1", "b@1"], [match.rng_seed for match in home.store.schedule(tournament)]
    played = [record(1, rng_seed=seeds[0]), record(2, rng_seed=seeds[1], bots=bots[::-1])]
    home.store.record(tournament, played)
    home.bots.remove("bot@1")
    assert home.store.submitted_bots() == []
    assert not directory.exists()
    assert verify(home, home.store.tournament("cup")) == (2, [])


@pytest.mark.parametrize("is_deleted", [False, True])
def test_the_files_that_a_tournament_needs_stay(home, is_deleted):
    directory = submitted(home)
    enter(home, directory)
    if is_deleted:
        delete_tournament(home, "cup")
    with pytest.raises(UsageError) as error:
        home.bots.remove("bot@1")
    where = " (in the trash)" if is_deleted else ""
    assert str(error.value) == (
        f"bot 'bot@1': tournament 'cup'{where} is not finished and needs its files; nothing was changed"
    )
    assert directory.exists()
    assert len(home.store.submitted_bots()) == 1


def test_the_files_stay_that_an_embargoed_tournament_of_a_contest_needs(home):
    directory = submitted(home)
    with open_embargoed_home(home.directory, "spring") as hidden:
        tournament = enter(hidden, directory)
        with pytest.raises(UsageError, match="tournament 'cup' is not finished and needs its files"):
            home.bots.remove("bot@1")
        hidden.store.record(tournament, [record(1), record(2)])
        hidden.store.set_finished(tournament, True)
    home.bots.remove("bot@1")
    assert not directory.exists()


def test_a_bot_that_is_paired_while_it_is_removed_is_put_back(home, monkeypatch):
    directory = submitted(home)
    remove_bot = Store.remove_bot

    def removed_and_paired(store, bot):
        remove_bot(store, bot)
        enter(home, directory)

    monkeypatch.setattr(Store, "remove_bot", removed_and_paired)
    with pytest.raises(UsageError, match="nothing was changed"):
        home.bots.remove("bot@1")
    assert directory.exists()
    assert [bot.label for bot in home.store.submitted_bots()] == ["bot@1"]


def test_files_that_two_submissions_share_stay_until_the_last_goes(home):
    directory = submitted(home)
    submitted(home, name="copy")
    enter(home, directory)
    home.bots.remove("copy@1")
    assert directory.exists()
    with pytest.raises(UsageError, match="tournament 'cup' is not finished"):
        home.bots.remove("bot@1")


def test_nothing_outside_of_the_home_is_removed(home, tmp_path):
    (tmp_path / "precious").write_text("")
    (home.directory / "bots").symlink_to(tmp_path)
    for version, digest in enumerate(("../../precious", "precious")):
        home.store.add_bot(StoredBot("bot", str(version), digest, "bot.py", "2026-01-01"))
        with pytest.raises(StoreError, match=f"its digest in the database, '{digest}', is malformed"):
            home.bots.remove(f"bot@{version}")
    assert (tmp_path / "precious").exists()


def test_an_unknown_bot_is_not_removed(home):
    submitted(home)
    with pytest.raises(UnknownNameError, match="unknown bot 'bot': did you mean 'bot@1'"):
        home.bots.remove("bot")


def test_a_file_in_the_place_of_the_cache_keeps_nothing_from_being_deleted(home):
    shutil.rmtree(home.cache_directory, ignore_errors=True)
    home.cache_directory.write_text("no directory")
    name = next(iter(home.store.names()))
    delete_tournament(home, name)
    assert name not in home.store.names()


def test_a_pipe_in_the_place_of_a_database_is_not_copied(tmp_path):
    os.mkfifo(tmp_path / "arena.sqlite3")
    with pytest.raises(StoreError, match="can't be copied: it is no ordinary file"):
        copy_file(tmp_path / "arena.sqlite3", tmp_path / "copy.sqlite3")
