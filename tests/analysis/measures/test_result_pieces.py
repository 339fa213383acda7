"""Results that are kept give the tables that reading them again gives, and are read again when they have changed."""

import random
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from arena.analysis.measures import result_pieces
from arena.analysis.measures.result_table import read_results
from arena.store.home import ArenaHome
from arena.store.results.scope import ALL_BUT_COMPARISONS, Scope
from tests.site.duels import tell

GAMES = ("differences", "plaid", "surds")


@pytest.fixture
def home(tmp_path):
    """Two tournaments of a hundred matches of two and three bots; not every bot plays every game."""
    rng = random.Random(7)
    with ArenaHome(tmp_path / "home") as opened:
        for name in ("first", "second"):
            matches = []
            for number in range(100):
                some = [f"{letter}@1" for letter in ("abc", "cde", "aef")[number // 2 % 3]]
                bots = rng.sample(some, 2 + number // 2 % 2)
                matches.append((bots, list(range(1, len(bots) + 1)), number // 4))
            tell(opened, matches, name, entrants=[f"{letter}@1" for letter in "abcdef"], games=GAMES)
        yield opened


@pytest.fixture
def reads(monkeypatch):
    read, found = result_pieces._read, []
    monkeypatch.setattr(result_pieces, "MIN_KEPT_MATCHES", 10)
    monkeypatch.setattr(
        result_pieces, "_read", lambda store, one, *others: found.append(one.name) or read(store, one, *others)
    )
    return found


def values(table):
    arrays = (table.game, table.bots, table.ranks, table.rated, table.starts, table.occurrences)
    return (table.labels, table.games, *(np.asarray(array).tolist() for array in arrays))


@pytest.mark.parametrize("game", [None, *GAMES, "unknown"])
@pytest.mark.parametrize("within", ["first", ALL_BUT_COMPARISONS, Scope(tournaments=("second",))])
def test_kept_results_are_those_that_are_read(home, within, game, monkeypatch):
    fresh = values(read_results(home.store, within, game))
    monkeypatch.setattr(result_pieces, "MIN_KEPT_MATCHES", 10)
    assert values(read_results(home.store, within, game)) == fresh
    assert values(read_results(home.store, within, game)) == fresh


def test_a_finished_tournament_is_read_once_for_all_its_games(home, reads):
    for game in (*GAMES, None):
        read_results(home.store, ALL_BUT_COMPARISONS, game)
    assert reads == ["first", "second"]


def test_what_was_kept_is_not_used_while_it_is_played(home, reads):
    read_results(home.store, "first")
    home.store.set_finished(home.store.tournament("first"), False)
    read_results(home.store, "first")
    assert reads == ["first"], "it is read as tournaments are that are being played"


@pytest.mark.parametrize("counter", ["record_count", "record_bytes"])
def test_it_is_read_again_when_its_records_are_others(home, reads, counter):
    read_results(home.store, "first")
    with closing(sqlite3.connect(home.directory / "arena.sqlite3")) as connection, connection:
        connection.execute(f"UPDATE tournaments SET {counter} = {counter} + 1")
    read_results(home.store, "first")
    assert reads == ["first"] * 2


def test_the_part_up_to_an_encounter_is_read(home, reads):
    read_results(home.store, "first")
    assert read_results(home.store, "first", last_encounter=1).match_occurrences.sum() == 2


def test_there_is_a_bound_to_what_is_kept(home, reads, monkeypatch):
    monkeypatch.setattr(result_pieces, "MAX_KEPT_MATCHES", 150)
    for name in ("first", "second", "second", "first"):
        read_results(home.store, name)
    assert reads == ["first", "second", "first"]
