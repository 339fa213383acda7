"""What is stored beside each record: rows of pairs, points, and bots, without a parser where no text needs one."""

import json
import random
import sqlite3
from contextlib import closing

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.enums import CorrectionKind
from arena.base.errors import StoreError
from arena.store.results.correction_log import Change
from arena.store.results.match_records import result_columns
from arena.store.results.schema import records, seats
from arena.store.results.states import Leaders, first_by_points
from arena.store.results.store import Store
from arena.store.results.values import CorrectionDetails
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
    found = [(row[2], row[3], row[4], row[6]) for row in stored(store)]
    assert sorted(found) == [
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
    ],
)
def test_the_leaders_have_the_most_points_a_match(store, ranks, leaders):
    numbers = range(1, len(ranks) + 1)
    tournament = store.create_tournament(definition(), [line(match) for match in numbers])
    store.record(tournament, [record(match, ranks=each) for match, each in zip(numbers, ranks, strict=True)])
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
    """Return the bots of one text, by the parser."""
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
