"""Connections to SQLite are closed: since Python 3.13 one that is forgotten warns, wherever it is collected."""

import sqlite3
from unittest.mock import Mock

import pytest
from sqlalchemy import literal, select

from arena.base.errors import StoreError
from arena.store.results import connection, sqlite_engine
from arena.store.results.store import Store


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
