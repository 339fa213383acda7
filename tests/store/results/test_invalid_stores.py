import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.base.errors import StoreError
from arena.cli import group
from arena.cli.terminal import streams
from arena.store.results.schema import Integer, Member, OptionalInteger
from arena.store.results.store import Store
from tests.databases import change
from tests.store.results.samples import definition, line
from tests.tournament.test_earlier_versions import HOMES, STORED

COMMANDS = {
    "record": [
        ["matches", "faults"], ["matches", "faults", "--times"], ["matches", "faults", "--json"],
        ["replay", "faults/1"], ["repro", "faults/1", "--isolation", "none"],
        ["verify", "faults"],
    ],
    "column": [
        ["standings", "faults"], ["standings", "swiss", "--places"], ["stats", "faults"], ["crosstable", "faults"],
        ["leaderboard"], ["show", "crasher"], ["schedule", "swiss"], ["verify"], ["export"], ["bots"],
    ],
}  # fmt: skip
REPORT = ["report", "faults", "-o", "page.html"]

RECORDS = {
    "game": [None, [[0, None]], "", "nowhere"],
    "options": [{}, "x", {"name": "plaid"}, {"self": 1}, {"players": 10**30}],
    "bots": [{}, "x", 7, [], ["\ud800", "b@1", "c@1"]],
    "ranks": [-1, [[]], [0, 1, 2], [10**9, 1, 1]],
    "scores": [[[]], [0, 0], float("nan")],
    "actions": ["x", [[0]], [["0", [1, 1]]], [[7, [1, 1]]], [[0, None], [1, None]], 10**29],
    "wall_seconds": [{}, [["0"]], [], 10**29],
    "opening_plies": [[[]], -1, 10**6],
    "notes": ["1", [[10**9, 1]], float("nan")],
    "faults": [[{"seat": 9, "kind": "exit", "ply": 0, "detail": ""}], [{"seat": 0, "kind": [], "ply": 0, "detail": 1}]],
    "seats": [[], [{"exit": 3}] * 3],
    "rng_seed": ["\ud800", 10**30, True],
    "match": ["1", None],
    "time_control": [{"per_action_seconds": float("nan")}, {"clock": 3}, {"off_turn": "dance"}],
    "tournament": [[[1]], float("inf")],
    "termination": ["boredom", 1],
}

COLUMNS = [
    ("records", "bots", '["a",["b"]]'), ("records", "bots", "[" * 5000), ("records", "ranks", "[1]"),
    ("records", "ranks", '["1","2","3"]'), ("records", "ranks", "[1000000000,1,1]"), ("records", "encounter", "x"),
    ("records", "match", "x"), ("records", "record", b"\xff"), ("records", "record", '{"a":' * 5000),
    ("records", "start", 1.5), ("matches", "seats", "[0,99]"), ("matches", "seats", "{}"), ("matches", "game", 99),
    ("matches", "opening_actions", "7"), ("matches", "round", "x"), ("tournaments", "created_at", 1),
    ("tournaments", "finished_at", b"\xff"), ("tournaments", "definition", "[]"), ("tournaments", "definition", b"{}"),
    ("faults", "bot", 5), ("faults", "kind", "sloth"),
    ("meta", "value", "x"), ("meta", "value", "0"), ("bots", "name", 3), ("bots", "entry", 1.5),
]  # fmt: skip
FAST_VALUES = ("[1]", b"{}", "sloth", "0", "x")


DEFINITIONS = [
    {"entrants": [{"name": [], "version": "1"}]}, {"entrants": [{"name": "a", "version": "1"}] * 2}, {"entrants": []},
    {"settings": []}, {"settings": {"players": []}}, {"format": None}, {"format": "nowhere"}, {"games": []},
    {"games": [{"game": 1, "options": {}, "players": 2}]}, {"limits": {"memory_bytes": "x"}}, {"active": [1]},
    {"time_control": {"per_action_seconds": float("inf")}}, {"places": {"first@1": {"command": 7}}}, {"name": [1]},
    {"colour": "blue"},
]  # fmt: skip


@pytest.fixture
def database(tmp_path, monkeypatch):
    home = tmp_path / "home"
    shutil.copytree(STORED / "homes" / HOMES[1], home)
    monkeypatch.setenv("ARENA_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    return home / "arena.sqlite3"


def check_commands(commands, capsys):
    for command in commands:
        code = group.run(list(command))
        printed = capsys.readouterr().err
        assert "defect" not in printed, (command, printed)
        assert code in (streams.OK, streams.FAILED, streams.WRONG_USE), command
        if code == streams.WRONG_USE:
            assert printed.startswith("arena: "), (command, printed)
            assert printed.count("\n") == 1, (command, printed)


@pytest.mark.slow(sample=("actions-commands", "game-commands", "ranks-commands"))
@pytest.mark.parametrize(
    "commands", [COMMANDS["record"], pytest.param([REPORT], marks=pytest.mark.soak)], ids=["commands", "report"]
)
@pytest.mark.parametrize("field", RECORDS)
def test_a_record_of_other_types_is_told_in_a_sentence(database, capsys, field, commands):
    first = "match = 1 AND tournament_id = (SELECT id FROM tournaments WHERE name = 'faults')"
    with closing(sqlite3.connect(database)) as connection:
        (text,) = connection.execute(f"SELECT record FROM records WHERE {first}").fetchone()
    for value in RECORDS[field]:
        changed = json.dumps({**json.loads(text), field: value})
        change(database, f"UPDATE records SET record = ? WHERE {first}", changed)
        check_commands(commands, capsys)


SLOW = {
    each: pytest.mark.slow(sample=each[1:] == ("record", b"\xff")) for each in COLUMNS if each[2] not in FAST_VALUES
}


@pytest.mark.parametrize(
    ("table", "column", "value"), [pytest.param(*each, marks=SLOW.get(each, ())) for each in COLUMNS]
)
def test_a_column_of_other_types_is_told_in_a_sentence(database, capsys, table, column, value):
    change(database, f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT min(rowid) FROM {table})", value)
    check_commands(COMMANDS["column"], capsys)


@pytest.mark.slow(sample=[str(each) for each in DEFINITIONS[::5]])
@pytest.mark.parametrize("changes", DEFINITIONS, ids=str)
def test_a_definition_of_other_types_is_told_in_a_sentence(database, capsys, changes):
    with closing(sqlite3.connect(database)) as connection:
        stored = connection.execute("SELECT id, definition FROM tournaments").fetchall()
    for number, text in stored:
        changed = json.dumps({**json.loads(text), **changes})
        change(database, "UPDATE tournaments SET definition = ? WHERE id = ?", changed, number)
    check_commands(COMMANDS["column"], capsys)


def test_a_truncated_database_is_told_in_a_sentence(database, capsys):
    data = Path(database).read_bytes()
    for size in (50, 5000, len(data) // 2):
        Path(database).write_bytes(data[:size])
        check_commands(COMMANDS["column"], capsys)


@pytest.mark.slow
def test_a_name_with_a_path_writes_nothing_elsewhere(database, capsys, tmp_path, monkeypatch):
    change(database, "UPDATE tournaments SET name = ? WHERE name = 'faults'", "../../escaped")
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    check_commands([["report", "../../escaped"], ["repro", "../../escaped/1", "--isolation", "none"]], capsys)
    assert [path.parent for path in tmp_path.rglob("*escaped*.html")] == [tmp_path / "a" / "b"]
    assert {path.parent for path in tmp_path.rglob("*escaped*.stdin")} <= {database.parent / "repro"}


class Light(StrEnum):
    RED = "red"
    GREEN = "green"


class Switch(StrEnum):
    ON = "on"
    OFF = "off"


TABLE = sa.Table(
    "lamps",
    sa.MetaData(),
    sa.Column("number", Integer, primary_key=True),
    sa.Column("light", Member(Light, "light", 16), nullable=False),
    sa.Column("switch", Member(Switch, "position", 16), nullable=False),
    sa.Column("level", OptionalInteger),
)


@pytest.fixture
def connection():
    engine = sa.create_engine("sqlite://")
    with engine.connect() as connection:
        TABLE.metadata.create_all(connection)
        connection.exec_driver_sql("INSERT INTO lamps VALUES (1, 'red', 'on', NULL), (2, 'on', 'red', 'high')")
        yield connection
    engine.dispose()


def value(connection, column, number):
    return connection.execute(sa.select(TABLE.c[column].label("value")).where(TABLE.c.number == number)).scalar_one()


def test_a_member_is_read_as_the_member_of_its_own_enumeration(connection):
    assert value(connection, "light", 1) is Light.RED
    assert value(connection, "switch", 1) is Switch.ON
    assert value(connection, "level", 1) is None


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("light", "the database holds 'on' where a light belongs; expected 'red' or 'green'"),
        ("switch", "the database holds 'red' where a position belongs; expected 'on' or 'off'"),
        ("level", "the database holds 'high' where a number belongs"),
    ],
)
def test_what_belongs_elsewhere_is_refused(connection, column, message):
    value(connection, column, 1)
    with pytest.raises(StoreError) as caught:
        value(connection, column, 2)
    assert str(caught.value) == message


def test_a_round_beyond_all_matches_is_named_and_no_list_of_that_length_is_made(tmp_path):
    with closing(Store(tmp_path / "arena.sqlite3")) as store:
        tournament = store.create_tournament(definition(format="swiss"), [replace(line(1), round=2**31 - 1)])
        with pytest.raises(StoreError, match=r"tournament 't': its schedule has round 2147483647, but 1 match$"):
            store.results_by_round(tournament)
