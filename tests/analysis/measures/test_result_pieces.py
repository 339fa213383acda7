import json
import random
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from arena.analysis.measures import result_pieces, results_so_far, standings_cache
from arena.analysis.measures.balance import seatings_of
from arena.analysis.measures.kept_files import checksum_of
from arena.analysis.measures.result_table import read_results
from arena.analysis.measures.standings_cache import standings_of
from arena.store.home import ArenaHome, delete_tournament, rename_tournament
from arena.store.results.record_reader import RecordReader
from arena.store.results.scope import ALL_BUT_COMPARISONS, Scope
from arena.tournament.corrections.corrected_tournament import undo_correction, void_matches
from tests.site.duels import tell
from tests.store.results.samples import definition, line, record

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


@pytest.mark.parametrize("game", [None, "plaid", "unknown"])
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


@pytest.mark.parametrize("counter", ["record_count", "record_bytes"])
def test_it_is_read_again_when_its_records_are_others(home, reads, counter):
    read_results(home.store, "first")
    with closing(sqlite3.connect(home.directory / "arena.sqlite3")) as connection, connection:
        connection.execute(f"UPDATE tournaments SET {counter} = {counter} + 1")
    read_results(home.store, "first")
    assert reads == ["first"] * 2


def test_there_is_a_bound_to_what_is_kept(home, reads, monkeypatch):
    monkeypatch.setattr(result_pieces, "MAX_KEPT_MATCHES", 150)
    for name in ("first", "second", "second", "first"):
        read_results(home.store, name)
    assert reads == ["first", "second", "first"]


# of a tournament that is being played: what was read before, with what has come since


MATCHES = 120
LATEST = 8


@pytest.fixture
def going_on(tmp_path, monkeypatch):
    monkeypatch.setattr(results_so_far, "MIN_STEADY_MATCHES", 10)
    monkeypatch.setattr(results_so_far, "LATEST_MATCHES", LATEST)
    monkeypatch.setattr(results_so_far, "MIN_KEPT_MATCHES", 10)
    with ArenaHome(tmp_path / "home") as opened:
        opened.store.create_tournament(definition(), map(line, range(1, MATCHES + 1)))
        yield opened


@pytest.fixture
def read_after(monkeypatch):
    columns, found = RecordReader.result_columns, []

    def reading(self, *args, after_match=0, last_match=None, **options):
        if last_match is None:  # else it checks what it has
            found.append(after_match)
        return columns(self, *args, after_match=after_match, last_match=last_match, **options)

    monkeypatch.setattr(RecordReader, "result_columns", reading)
    return found


def play(home, numbers, rng):
    rows = []
    for match in numbers:
        bots = rng.sample(["a@1", "b@1"], 2)
        ranks = rng.choice([[1, 2], [2, 1], [1, 1]])
        actions = [[0, (rng.randrange(12), 1)], [1, (rng.randrange(2), 2)]]  # of which the first one is the opening
        rows.append(record(match, encounter=(match + 1) // 2, bots=bots, ranks=ranks, actions=actions, opening_plies=1))
    home.store.record(home.store.tournament("t"), rows)


def assert_right(home, game=None):
    """Compare with what is read by a store that has kept nothing, and by one that only has the file."""
    tables = []
    for cache in (None, home.cache_directory):
        with ArenaHome(home.directory) as fresh:
            tables.append(values(read_results(fresh.store, "t", game, cache_directory=cache)))
    assert tables == [values(read_results(home.store, "t", game, cache_directory=home.cache_directory))] * 2


@pytest.mark.slow(only=("1",))
@pytest.mark.parametrize("seed", range(2))
def test_results_are_those_that_are_read_afresh(going_on, seed):
    """Matches end in any order, some of them long after later ones."""
    rng = random.Random(seed)
    to_play = list(range(1, MATCHES + 1))
    while to_play:
        chosen = [match for match in to_play[: 2 * LATEST] if rng.random() < 0.7]
        play(going_on, chosen, rng)
        to_play = [match for match in to_play if match not in chosen]
        assert_right(going_on, rng.choice([None, "differences", "plaid"]))


def test_only_later_matches_are_read_again(going_on, read_after):
    rng = random.Random(1)
    for first in range(1, MATCHES, 20):
        play(going_on, range(first, first + 20), rng)
        read_results(going_on.store, "t")
    assert read_after == [0, *(first - 1 - LATEST for first in range(21, MATCHES, 20))]


def test_memory_keeps_what_no_file_can_be_written_for(going_on, read_after):
    going_on.cache_directory.touch()
    play(going_on, range(1, MATCHES + 1), random.Random(1))
    for _ in range(2):
        read_results(going_on.store, "t", cache_directory=going_on.cache_directory)
    assert read_after == [0, MATCHES - LATEST]


def test_a_correction_has_all_read_again(going_on, read_after):
    rng = random.Random(2)
    play(going_on, range(1, MATCHES + 1), rng)
    assert_right(going_on)
    void_matches(going_on.store, "t", [3, 4], reason="a test")
    assert_right(going_on)
    play(going_on, [3, 4], rng)
    assert_right(going_on)
    undo_correction(going_on.store, "t", 1, reason="a test")
    assert_right(going_on)


@pytest.fixture
def in_file(going_on):
    play(going_on, [match for match in range(1, 100) if match != 5], random.Random(3))
    read_results(going_on.store, "t", cache_directory=going_on.cache_directory)
    (path,) = going_on.cache_directory.glob("*.results")
    return path


def test_the_next_process_reads_only_later_matches(going_on, in_file, read_after):
    play(going_on, [100, 101], random.Random(4))
    assert_right(going_on)
    assert read_after == [0, 99 - LATEST, 99 - LATEST]


def older_copy_put_back(home):
    """Other records of the latest matches, as many as before."""
    with closing(sqlite3.connect(home.directory / "arena.sqlite3")) as connection, connection:
        connection.execute("UPDATE records SET ranks = CASE ranks WHEN '[1,2]' THEN '[2,1]' ELSE '[1,2]' END")


def voided_and_undone(home):
    void_matches(home.store, "t", [3, 4], reason="a test")
    undo_correction(home.store, "t", 1, reason="a test")


@pytest.mark.parametrize(
    "change",
    [
        lambda home: play(home, [5], random.Random(5)),
        lambda home: void_matches(home.store, "t", [3, 4], reason="a test"),
        voided_and_undone,
        older_copy_put_back,
    ],
)
def test_a_file_is_not_used_when_earlier_records_are_others(going_on, in_file, read_after, change):
    change(going_on)
    assert_right(going_on)
    assert read_after == [0, 0, 99 - LATEST]  # the last one from the file that the one before has written


def test_matches_that_are_there_no_more_do_not_decide_what_counts(going_on, read_after):
    """Twenty times the same match counts, because the last one differs, until a copy without it is restored."""
    openings = {match: match if 20 < match < 41 else 0 for match in range(1, 42)}
    played = [
        record(match, bots=["a@1", "b@1"], actions=[[0, (opening, 1)], [1, (match // 41, 2)]], opening_plies=1)
        for match, opening in openings.items()
    ]
    going_on.store.record(going_on.store.tournament("t"), played)
    assert read_results(going_on.store, "t", cache_directory=going_on.cache_directory).rated.all()
    with closing(sqlite3.connect(going_on.directory / "arena.sqlite3")) as connection, connection:
        connection.execute("DELETE FROM records WHERE match = 41")
        connection.execute("UPDATE tournaments SET record_count = 40")
    assert_right(going_on)
    assert read_after == [0, 0, 41 - LATEST, 41 - LATEST]
    assert read_results(going_on.store, "t").rated.sum() == 21


def finish(home):
    home.store.set_finished(home.store.tournament("t"), True)
    standings_of(home.store, "t", cache_directory=home.cache_directory)


@pytest.mark.parametrize(
    "change", [finish, lambda home: rename_tournament(home, "t", "u"), lambda home: delete_tournament(home, "t")]
)
def test_the_file_goes_when_nobody_needs_it(going_on, in_file, change, monkeypatch):
    monkeypatch.setattr(standings_cache, "WORTH_CACHING_SECONDS", 0.0)
    change(going_on)
    assert not in_file.exists()


def sealed(line, data):
    text = json.dumps(line).encode() + b"\n"
    return text + data + checksum_of(text + data)


@pytest.mark.parametrize(
    ("harm", "column"),
    [
        *(({name: value}, None) for name, value in {"seats": 3, "matches": 10**9, "last_match": 0}.items()),
        *(({name: value}, None) for name, value in {"labels": ["a@1", "a@1"], "games": [1], "code": "x"}.items()),
        *((None, column) for column in ("games", "bots", "ranks", "encounters", "counts")),
    ],
)
def test_a_file_of_somebody_else_does_no_harm(going_on, in_file, read_after, harm, column):
    text, _, data = in_file.read_bytes()[:-4].partition(b"\n")
    line = json.loads(text)
    assert len(data) == line["matches"] * 49
    if column is not None:
        start = {"games": 0, "bots": 4, "ranks": 12, "encounters": 16, "counts": 48}[column] * line["matches"]
        data = data[:start] + b"\xf0" * 8 + data[start + 8 :]
    in_file.write_bytes(sealed({**line, **(harm or {})}, data))
    assert_right(going_on)
    assert read_after[:2] == [0, 0]


def test_seatings_are_those_of_the_schedule(going_on):
    assert going_on.store.seatings_counted("t") == seatings_of(going_on.store.schedule("t"))
