import json
import shutil
import sqlite3
from contextlib import closing

import pytest
import sqlalchemy as sa

from arena.store.results import migrations
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
