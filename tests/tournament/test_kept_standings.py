"""Kept tables: only of finished tournaments, only while nothing has changed, and never trusted."""

from dataclasses import replace

import pytest

from arena.store.values import StoredTournament
from arena.tournament import kept_standings
from arena.tournament.kept_standings import kept_or_made
from arena.tournament.standings import standings

FINISHED = StoredTournament(1, "t", {}, "2026-01-01", 10, 10, "2026-01-02")


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Return a function that asks for a table, and the list of times it was made."""
    monkeypatch.setattr(kept_standings, "WORTH_KEEPING_SECONDS", 0.0)
    times = []

    def make():
        times.append(1)
        return standings([], {}, everybody=["a"])

    return lambda tournament=FINISHED: kept_or_made(tmp_path / "cache", tournament, make), times


def test_a_finished_table_is_made_once(made):
    ask, times = made
    first, second = ask(), ask()
    assert times == [1]
    assert [line.bot for line in second.lines] == [line.bot for line in first.lines] == ["a"]


def test_a_tournament_that_goes_on_is_not_kept(made, tmp_path):
    ask, times = made
    for _ in range(2):
        ask(replace(FINISHED, finished_at=None))
    assert times == [1, 1]
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("change", [{"recorded": 11}, {"finished_at": "x"}, {"number": 2}, {"created_at": "x"}])
def test_whatever_has_changed_is_made_anew(made, change):
    ask, times = made
    ask()
    ask(replace(FINISHED, **change))
    assert times == [1, 1]


def test_other_code_makes_other_tables(made, monkeypatch):
    ask, times = made
    ask()
    monkeypatch.setattr(kept_standings, "_code", lambda: 1)
    ask()
    assert times == [1, 1]


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"\x80\x04."])
def test_a_damaged_file_is_no_problem(made, tmp_path, damage):
    ask, times = made
    ask()
    (path,) = (tmp_path / "cache").iterdir()
    path.write_bytes(damage)
    ask()
    ask()
    assert times == [1, 1]


def test_where_nothing_can_be_written_nothing_is_kept(made, tmp_path):
    ask, times = made
    (tmp_path / "cache").write_text("a file in the way")
    ask()
    ask()
    assert times == [1, 1]


def test_what_is_quick_is_not_kept(made, tmp_path, monkeypatch):
    ask, _ = made
    monkeypatch.setattr(kept_standings, "WORTH_KEEPING_SECONDS", 1000.0)
    ask()
    assert not (tmp_path / "cache").exists()
