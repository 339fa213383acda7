import errno
import json
import logging
import multiprocessing
import os
from pathlib import Path
from unittest.mock import Mock

import pytest

from arena.base.errors import StoreError, UsageError
from arena.base.folder import path_to_write
from arena.match.players.manifest import load_bot
from arena.store.home import VISITORS_FILE, open_visitors
from arena.store.results.lock import director_file_lock
from arena.store.results.values import StoredTournament
from arena.tournament.executors.worker_start import JoinedLog


@pytest.fixture
def precious(tmp_path):
    path = tmp_path / "precious"
    path.write_text("precious")
    return path


def stored(directory, digest="?", build=(), **place):
    entrant = {"name": "bot", "version": "1", "content": digest, "build": list(build)}
    recorded = {"directory": str(directory), "command": ["./bot"], "own_files": [], **place}
    games = [{"game": "plaid", "options": {}, "players": 2}]
    text = json.dumps({"games": games, "entrants": [entrant], "places": {"bot@1": recorded}})
    fixed = {"created_at": "2026-01-01", "format": "round-robin", "scheduled": 1, "recorded": 1}
    return StoredTournament(number=1, name="t", definition_text=text, **fixed)


def test_nothing_is_built_where_the_recorded_files_are_not(home, tmp_path):
    """A build replaces ``build/``, so a record must not choose the directory."""
    project = tmp_path / "project"
    (project / "build").mkdir(parents=True)
    (project / "build" / "precious").write_text("")
    (project / "bot").write_text("")
    (project / "bot.toml").write_text("")
    with pytest.raises(UsageError, match="have changed since, and building it would write there; use --bot-path PATH"):
        home.bots.recorded(stored(project, build=["make"]), "bot@1", None)
    _, _, changed = home.bots.recorded(stored(project), "bot@1", None)
    assert changed


def test_a_recorded_build_is_done_again_where_the_files_are_the_same(home, tmp_path):
    directory = tmp_path / "bot"
    directory.mkdir()
    (directory / "bot.toml").write_text('name = "bot"\ncommand = ["./bot"]\nbuild = ["make"]\n')
    (directory / "bot").write_text("")
    (directory / "bot").chmod(0o755)
    digest = load_bot(directory).digest
    bot, _, changed = home.bots.recorded(stored(directory, digest, build=["make"]), "bot@1", None)
    assert not changed
    assert bot.build == ("make",)


@pytest.mark.parametrize("own", ["{precious}", "../precious", "link"])
def test_a_record_opens_no_file_outside_of_the_bots_directory(home, tmp_path, precious, own):
    directory = tmp_path / "bot"
    directory.mkdir()
    (directory / "link").symlink_to(precious)
    file = directory / own.format(precious=precious)
    with pytest.raises(UsageError, match="the record names files outside of"):
        home.bots.recorded(stored(directory, own_files=[str(file)]), "bot@1", None)


def test_a_record_opens_no_directory_and_no_file_that_is_not_a_bots_of_the_tournament(home, tmp_path, precious):
    (tmp_path / ".ssh").mkdir()
    with pytest.raises(UsageError, match=r"there is no bot\.toml in .*\.ssh; use --bot-path PATH"):
        home.bots.recorded(stored(tmp_path / ".ssh"), "bot@1", None)
    record = stored(precious.parent, own_files=[str(precious)], command=["cat", "precious"])
    with pytest.raises(UsageError, match="the record names files that are not its program"):
        home.bots.recorded(record, "bot@1", None)
    with pytest.raises(StoreError, match="bot 'stranger@1': it has a record in tournament 't', but did not enter it"):
        home.bots.recorded(stored(tmp_path), "stranger@1", None)


def test_what_is_kept_for_an_author_and_the_lock_and_log_of_a_director_follow_no_link(home, precious):
    (home.directory / "repro").mkdir()
    (home.directory / "repro" / "t-1-seat-0.stdin").symlink_to(precious)
    assert home.keep_input("t-1-seat-0", b"frames").read_bytes() == b"frames"
    assert precious.read_text() == "precious"
    (home.directory / "t.lock").symlink_to(precious)
    with pytest.raises(StoreError, match="can't be written"), director_file_lock(home.directory, "t"):
        pass
    assert precious.read_text() == "precious"
    path = Path(home.log_path("t"))
    path.parent.mkdir()
    path.symlink_to(precious)
    with (
        pytest.raises(StoreError, match="it is a link; remove it"),
        JoinedLog(path, multiprocessing.get_context("spawn")),
    ):
        logging.getLogger("arena").warning("never written")
    assert precious.read_text() == "precious"


def test_the_matches_of_visitors_are_written_through_no_link(home, tmp_path):
    (home.directory / VISITORS_FILE).symlink_to(tmp_path / "elsewhere.sqlite3")
    with pytest.raises(StoreError, match=r"visitors\.sqlite3: can't be written: .* is a link"):
        open_visitors(home.directory)
    assert not (tmp_path / "elsewhere.sqlite3").exists()


def test_a_log_is_written_into_no_linked_folder(home, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (home.directory / "logs").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match=r"can't be written: .*logs is a link, which may lead out of"):
        path_to_write(home.directory, home.log_path("t"))


def test_a_pipe_in_the_place_of_a_log_is_not_waited_for(home):
    path = Path(home.log_path("t"))
    path.parent.mkdir()
    os.mkfifo(path)
    with (
        pytest.raises(StoreError, match="can't be written: No such device or address"),
        JoinedLog(path, multiprocessing.get_context("spawn")),
    ):
        pass


def test_what_can_not_be_kept_is_said(home):
    (home.directory / "repro").write_text("a file in the way")
    with pytest.raises(UsageError, match="can't be written: "):
        home.keep_input("t-1-seat-0", b"frames")


def test_a_lock_on_a_full_disk_is_refused_in_a_sentence_and_free_afterwards(home, monkeypatch):
    with monkeypatch.context() as full:
        full.setattr(os, "write", Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
        with (
            pytest.raises(StoreError, match=r"t\.lock: can't be written: No space"),
            director_file_lock(home.directory, "t"),
        ):
            pass
    with director_file_lock(home.directory, "t"):
        pass
