import json
import shutil
import sqlite3
from contextlib import closing
from unittest.mock import Mock

import pytest
import sqlalchemy as sa
from sqlalchemy import literal, select

from arena.base.errors import StoreError
from arena.store.results import connection, migrations, sqlite_engine
from arena.store.results.schema import SCHEMA_VERSION, events, meta, metadata, topics
from arena.store.results.store import Store
from tests.conftest import DATA, STORED
from tests.store.results.samples import definition, line, record
from tests.store.results.test_recording import expected, stored

HOMES = sorted((STORED / "homes").iterdir())
NEW_TABLES = (
    "topics", "events", "seats", "progress", "live_matches", "watches", "annotations", "owners", "analysis_requests",
)  # fmt: skip


def shape(database):
    def look(connection):
        found = sa.inspect(connection)
        return {
            name: (
                {column["name"]: (str(column["type"]), column["nullable"]) for column in found.get_columns(name)},
                found.get_pk_constraint(name)["constrained_columns"],
                {index["name"]: (index["column_names"], index["unique"]) for index in found.get_indexes(name)},
                sorted(key["referred_table"] for key in found.get_foreign_keys(name)),
            )
            for name in found.get_table_names()
        }

    return database.read(look)


def versions():
    with_version = {}
    for home in HOMES:
        with closing(sqlite3.connect(home / "arena.sqlite3")) as connection:
            ((version,),) = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'")
        with_version[int(version)] = home
    return with_version


EARLIER = {"schema 1": None} | {f"version {version}": home for version, home in versions().items()}
WITH_A_LOG = [home for version, home in versions().items() if version >= 5]


@pytest.fixture(params=EARLIER)
def earlier(request, tmp_path):
    path = tmp_path / "earlier" / "arena.sqlite3"
    path.parent.mkdir()
    home = EARLIER[request.param]
    if home is None:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript((DATA / "schema_1.sql").read_text())
    else:
        shutil.copyfile(home / "arena.sqlite3", path)
    return path


def test_there_is_a_home_of_every_version():
    assert set(versions()) == set(range(2, SCHEMA_VERSION))


def test_the_tables_are_those_of_a_new_database(earlier, tmp_path):
    with closing(Store(earlier)) as store, closing(Store(tmp_path / "new.sqlite3")) as new:
        assert shape(store._database) == shape(new._database)


@pytest.mark.parametrize("earlier", [name for name, home in EARLIER.items() if home not in WITH_A_LOG], indirect=True)
def test_seats_and_logs_are_filled_from_what_was_recorded(earlier, monkeypatch):
    monkeypatch.setattr(migrations, "SEATS_AT_A_TIME", 7)
    with closing(Store(earlier)) as store:
        assert stored(store) == expected(store)
        for tournament in store.tournaments():
            recorded = sorted(store.recorded_matches(tournament))
            query = sa.select(events.c.seq, events.c.kind, events.c.at, events.c.body)
            query = query.where(events.c.topic == f"tournament/{tournament.number}")
            ((seq, kind, at, body),) = store._database.read(lambda c, query=query: c.execute(query).all())
            assert (seq, kind.value) == (1, "imported")
            assert at == (tournament.finished_at or tournament.created_at)
            assert json.loads(body) == {"matches": recorded[-20:], "match_count": len(recorded)}
        counts = store._database.read(lambda c: c.execute(sa.select(topics.c.topic, topics.c.seq)).all())
        assert sorted(map(tuple, counts)) == sorted((f"tournament/{t.number}", 1) for t in store.tournaments())


def test_a_malformed_record_does_not_keep_a_home_from_being_opened(tmp_path):
    path = tmp_path / "arena.sqlite3"
    shutil.copyfile(versions()[4] / "arena.sqlite3", path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("""UPDATE records SET bots = '["a",["b"]]' WHERE tournament_id = 1 AND "match" = 1""")
        connection.execute("""UPDATE records SET ranks = '{' WHERE tournament_id = 1 AND "match" = 2""")
        connection.execute("""UPDATE records SET "match" = 'x' WHERE tournament_id = 1 AND "match" = 3""")
        connection.execute("UPDATE tournaments SET finished_at = 1.5 WHERE id = 2")
        connection.commit()
    with closing(Store(path)) as store:
        rows = store._database.read(lambda c: c.exec_driver_sql('SELECT DISTINCT "match" FROM seats').all())
        assert 4 in {match for (match,) in rows}


@pytest.mark.slow(sample=True)
def test_a_server_of_version_4_is_brought_up_to_date(postgres_url):
    """Its tables are those of now without what versions 5 to 8 have added; records were written before."""
    with closing(Store(postgres_url)) as store:
        tournament = store.create_tournament(definition(), [line(match) for match in range(1, 40)])
        store.record(tournament, [record(match, ranks=[1, 2]) for match in range(1, 31)])
        new, rows = shape(store._database), stored(store)

        def back_to_4(connection):
            for name in NEW_TABLES:
                metadata.tables[name].drop(connection)
            for name in ("records_by_game", "records_by_termination", "faults_by_kind"):
                connection.exec_driver_sql(f"DROP INDEX {name}")
            connection.exec_driver_sql("CREATE INDEX records_by_game ON records (game)")
            connection.execute(meta.update().where(meta.c.key == "schema_version").values(value="4"))

        store._database.write(back_to_4)
    with closing(Store(postgres_url)) as store:
        assert shape(store._database) == new
        assert stored(store) == rows == expected(store)
        store.record(tournament, [record(31)])
        assert stored(store) == expected(store)


@pytest.fixture
def opened(monkeypatch):
    """Return the connections that are opened; each notes in ``is_closed`` whether it was closed."""
    seen, create = [], sqlite_engine.create_engine

    class NotedConnection(sqlite3.Connection):
        is_closed = False

        def __init__(self, *args, **more):
            super().__init__(*args, **more)
            seen.append(self)

        def close(self):
            self.is_closed = True
            super().close()

    def noting(url, connect_args, **more):
        return create(url, connect_args={**connect_args, "factory": NotedConnection}, **more)

    monkeypatch.setattr(sqlite_engine, "create_engine", noting)
    return seen


def test_a_connection_that_cannot_be_set_up_is_closed():
    raw = Mock(**{"execute.side_effect": sqlite3.DatabaseError("file is not a database")})
    with pytest.raises(sqlite3.DatabaseError):
        sqlite_engine._set_up(raw, None)
    raw.close.assert_called_once()


def test_a_signal_that_outlives_its_store_and_a_file_that_is_no_database_leave_nothing_open(tmp_path, opened):
    store = Store(tmp_path / "arena.sqlite3")
    signal = store.commit_signal()
    signal.read()
    store.close()
    signal.close()
    assert opened
    assert all(connection.is_closed for connection in opened)
    (tmp_path / "arena.sqlite3").write_bytes(b"not a database" * 500)
    with pytest.raises(StoreError, match="no arena database"):
        Store(tmp_path / "arena.sqlite3")
    assert opened
    assert all(connection.is_closed for connection in opened)


def test_rows_that_nobody_reads_to_their_end_leave_nothing_open(tmp_path, opened):
    """As when an interrupt ends a merge, and its traceback keeps what was being read."""
    database = connection.Database(tmp_path / "arena.sqlite3")
    rows = database.each(select(literal(1)))
    assert next(rows) == (1,)
    database.close()
    assert opened
    assert all(connection.is_closed for connection in opened)
    rows.close()


def test_a_connection_that_is_used_while_its_database_is_closed_is_closed_thereafter(tmp_path, opened, caplog):
    """As when a signal sees another file in the place of the one that a request is reading; nothing of it is logged."""
    caplog.set_level("INFO")
    database = connection.Database(tmp_path / "arena.sqlite3")
    database.read(lambda _: database.close())
    assert [connection.is_closed for connection in opened] == [True]
    database.read(lambda _: None)
    database.read(lambda _: None)
    assert [connection.is_closed for connection in opened] == [True, False]
    database.close()
    assert [entry for entry in caplog.records if entry.name.startswith("arena")] == []


def test_files_share_their_compiled_statements(tmp_path, monkeypatch):
    compiled = Mock(side_effect=sqlite_engine._Dialect.statement_compiler)
    monkeypatch.setattr(sqlite_engine._Dialect, "statement_compiler", compiled)
    question = select(literal("asked of two files").label("a_name_of_its_own"))
    for name in ("one", "two"):
        database = connection.Database(tmp_path / name)
        assert database.scalar(question) == "asked of two files"
        database.close()
    compiled.assert_called_once()
