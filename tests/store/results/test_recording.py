import json
import random
import shutil
import sqlite3
from contextlib import closing
from unittest.mock import Mock

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import literal, select

from arena.base.enums import CorrectionKind
from arena.base.errors import StoreError
from arena.store.results import connection, migrations, sqlite_engine
from arena.store.results.correction_log import Change
from arena.store.results.match_records import result_columns
from arena.store.results.schema import SCHEMA_VERSION, events, meta, metadata, records, seats, topics
from arena.store.results.states import Leaders, first_by_points
from arena.store.results.store import Store
from arena.store.results.values import CorrectionDetails
from tests.conftest import DATA, STORED
from tests.databases import on_both
from tests.store.results.samples import definition, line, record


def stored(store):
    return sorted(tuple(row) for row in store._database.read(lambda c: c.execute(sa.select(seats)).all()))


def expected(store):
    query = sa.select(records.c.tournament_id, records.c.match, records.c.game, records.c.bots, records.c.ranks)
    found = []
    for number, match, game, bots, ranks in store._database.read(lambda c: c.execute(query).all()):
        pairs = list(zip(json.loads(bots), json.loads(ranks), strict=True))
        for seat, (bot, rank) in enumerate(pairs):
            for other, (rival, place) in enumerate(pairs):
                if seat != other:
                    ahead = 1 if rank < place else -1 if rank > place else 0
                    found.append((bot, number, match, seat, other, rival, ahead, game))
    return sorted(found)


@on_both
def test_every_pair_of_a_match_has_a_row_and_a_bot_against_itself_one_for_each_seat(store):
    tournament = store.create_tournament(definition(), [line(1), line(2)])
    three, twice = ["a@1", "b@1", "c@1"], ["a@1", "a@1"]
    store.record(tournament, [record(1, bots=three, ranks=[2, 1, 2]), record(2, bots=twice, ranks=[1, 2])])
    assert stored(store) == expected(store)
    assert sorted([(row[2], row[3], row[4], row[6]) for row in stored(store)]) == [
        *((1, 0, 1, -1), (1, 0, 2, 0), (1, 1, 0, 1), (1, 1, 2, 1), (1, 2, 0, 0), (1, 2, 1, -1)),
        *((2, 0, 1, 1), (2, 1, 0, -1)),
    ]


@pytest.mark.parametrize(("bots", "ranks"), [("[", "[1,2]"), ('["a@1"]', "[1,2]"), (json.dumps(["a@1"] * 65), "[]")])
def test_a_malformed_record_has_no_rows(store, bots, ranks):
    tournament = store.create_tournament(definition(), [line(1), line(2)])
    store.record(tournament, [record(1)._replace(bots=bots, ranks=ranks), record(2)])
    assert {row[2] for row in stored(store)} == {2}


def assert_right(store, name="t"):
    tournament = store.tournament(name)
    texts = dict(store.record_texts(tournament))
    aside = list(store.corrections.set_aside(tournament))
    left_out = {match for match, _ in store.corrections.skipped(tournament)} - set(texts)
    assert tournament.recorded == len(texts)
    assert tournament.scheduled == len(list(store.schedule(tournament))) - len(left_out)
    assert tournament.record_bytes == sum(map(len, texts.values())) + sum(len(found.text) for found in aside)
    assert store.counter_problems(tournament) == []


def correct(store, **changes):
    details = changes.pop("details", CorrectionDetails())
    kind = changes.pop("kind", CorrectionKind.VOID)
    return store.corrections.add(store.tournament("t"), Change(kind=kind, reason="r", details=details, **changes))


@pytest.mark.slow(only=("postgresql-0", "postgresql-1", "postgresql-2"), sample=("postgresql-2",))
@pytest.mark.parametrize("seed", range(3))
def test_random_stories_are_counted_and_leave_the_rows_that_the_records_lead_to(store, seed):
    chance = random.Random(seed)
    store.create_tournament(definition(), [line(match) for match in range(1, 21)])
    undoable, most = [], 0
    for _ in range(25):
        recorded = store.recorded_matches(store.tournament("t"))
        chosen = chance.sample(range(1, 21), 4)
        match chance.choice(["record", "record", "void", "undo", "skip"]):
            case "record":
                pairs = [
                    (chance.sample(["a@1", "b@1", "c@2"], 2), chance.choice([[1, 2], [2, 1], [1, 1]])) for _ in chosen
                ]
                new = zip(chosen, pairs, strict=True)
                rows = [record(k, bots=bots, ranks=ranks) for k, (bots, ranks) in new if k not in recorded]
                store.record(store.tournament("t"), rows)
            case "void":
                undoable.append(correct(store, set_aside=chosen).number)
            case "undo" if undoable:
                undone = undoable.pop(chance.randrange(len(undoable)))
                correct(store, kind=CorrectionKind.UNDO, details=CorrectionDetails(undoes=undone))
            case "skip":
                undoable.append(correct(store, kind=CorrectionKind.WITHDRAW, skip=chosen).number)
        assert_right(store)
        assert stored(store) == expected(store)
        most = max(most, len(stored(store)))
    assert most > 0


def test_counters_of_another_home_are_not_believed_and_a_wrong_one_is_named(tmp_path):
    from arena.store.results.addition import open_foreign

    path = tmp_path / "there" / "arena.sqlite3"
    with closing(Store(path)) as store:
        store.create_tournament(definition(), [line(1), line(2)])
        store.record(store.tournament("t"), [record(1)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE tournaments SET match_count = 99, record_count = -5, record_bytes = 7")
        connection.commit()
    (tmp_path / "copies").mkdir()
    with closing(open_foreign(path, tmp_path / "copies")) as source:
        (tournament,) = source.tournaments()
        assert (tournament.scheduled, tournament.recorded) == (2, 1)
    with closing(Store(tmp_path / "arena.sqlite3")) as store:
        store.create_tournament(definition(), [line(1), line(2)])
        with closing(sqlite3.connect(tmp_path / "arena.sqlite3")) as connection:
            connection.execute("UPDATE tournaments SET record_count = 3")
            connection.commit()
        assert store.counter_problems(store.tournament("t")) == ["the counter record_count is 3, but should be 0"]


A, B, BOTH = [1, 2], [2, 1], [1, 1]


@pytest.mark.parametrize(
    ("ranks", "leaders"),
    [
        ([], Leaders(bots=())),
        ([A, A, A, B], Leaders(bots=("a",), score_share=0.75)),
        ([B, BOTH, BOTH, BOTH, BOTH], Leaders(bots=("b",), score_share=0.6)),
        ([A, B, BOTH], Leaders(bots=("a", "b"), score_share=0.5)),
        (  # 1 + 1 + 1/3 points and 2/3 + 2/3 + 1
            [[1, 2, 4, 3], [1, 2, 3, 4], [3, 1, 4, 2]],
            Leaders(bots=("a", "b"), score_share=pytest.approx(7 / 9)),
        ),
    ],
)
def test_the_leaders_have_the_most_points_a_match(store, ranks, leaders):
    numbers = range(1, len(ranks) + 1)
    tournament = store.create_tournament(definition(), [line(match) for match in numbers])
    bots = ["a@1", "b@1", "c@1", "d@1"]
    rows = [record(match, ranks=own, bots=bots[: len(own)]) for match, own in zip(numbers, ranks, strict=True)]
    store.record(tournament, rows)
    assert first_by_points(store, store.tournament("t")) == leaders


ODD = st.sampled_from(["a@1", "b@1", "", "é@2", '"', "\\", "\n", '","', '"]\n["'])
LABELS = st.lists(st.one_of(ODD, st.text(max_size=4)), max_size=3)
TEXTS = st.one_of(
    LABELS.map(lambda labels: json.dumps(labels, separators=(",", ":"))),
    LABELS.map(lambda labels: json.dumps(labels, ensure_ascii=False)),
    LABELS.map(lambda labels: '["' + '","'.join(labels) + '"]'),
    st.sampled_from(['["a"]\n["b"]', '["', '"]', '["]', "[]", '["a",1]', "null", ' ["a"]', '["a"', "x"]),
)


def bots_of(text):
    try:
        found = json.loads(text)
    except ValueError:
        return None
    is_right = isinstance(found, list) and found and all(isinstance(label, str) for label in found)
    return found if is_right and all(label.isascii() or label.encode() for label in found) else None


def columns_of(texts):
    ranks = [json.dumps([1] * len(bots_of(text) or "?")) for text in texts]
    return result_columns(1, [(k, 1, "surds", *both, "", "") for k, both in enumerate(zip(texts, ranks, strict=True))])


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_bots_are_those_that_a_parser_finds(texts):
    expected = [bots_of(text) for text in texts]
    if None in expected:
        with pytest.raises(StoreError):
            columns_of(texts)
    else:
        assert columns_of(texts).bots == expected


def test_most_texts_need_no_parser(monkeypatch):
    monkeypatch.setattr("arena.store.results.match_records.from_json_text", None)
    assert columns_of(['["a@1","b@1"]', '["c@1"]']).bots == [["a@1", "b@1"], ["c@1"]]


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
