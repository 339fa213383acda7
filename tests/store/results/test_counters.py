"""The counters of a tournament agree with what is counted, whatever is written."""

import random
import sqlite3
from contextlib import closing

import pytest

from arena.base.enums import CorrectionKind
from arena.store.results.correction_log import Change
from arena.store.results.store import Store
from arena.store.results.values import CorrectionDetails
from tests.databases import on_both
from tests.store.results.samples import definition, line, record


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


@on_both
def test_schedule_records_and_corrections_are_counted(store):
    store.create_tournament(definition(), [line(match) for match in range(1, 7)])
    assert_right(store)
    store.record(store.tournament("t"), [record(match) for match in (1, 2, 3, 5)])
    assert_right(store)
    made = correct(store, set_aside=[2, 3, 4])
    assert store.tournament("t").recorded == 2
    assert_right(store)
    store.record(store.tournament("t"), [record(2, actions=[[0, 7]])])
    correct(store, kind=CorrectionKind.UNDO, details=CorrectionDetails(undoes=made.number))
    assert store.tournament("t").recorded == 4
    assert_right(store)
    correct(store, kind=CorrectionKind.WITHDRAW, skip=[4, 6])
    assert store.tournament("t").scheduled == 4
    assert_right(store)


@on_both
def test_what_a_transaction_loses_is_not_counted(store):
    store.create_tournament(definition(), [line(1), line(2)])
    store.record(store.tournament("t"), [record(1)])
    with pytest.raises(Exception, match="refuses"):
        store.record(store.tournament("t"), [record(2), record(1)])
    assert store.tournament("t").recorded == 1
    assert_right(store)


@pytest.mark.slow(only=("postgresql-0", "postgresql-1", "postgresql-2"), sample=("postgresql-1",))
@pytest.mark.parametrize("seed", range(3))
def test_random_stories_are_counted(store, seed):
    chance = random.Random(seed)
    store.create_tournament(definition(), [line(match) for match in range(1, 21)])
    undoable = []
    for _ in range(25):
        recorded = store.recorded_matches(store.tournament("t"))
        chosen = chance.sample(range(1, 21), 4)
        match chance.choice(["record", "record", "void", "undo", "skip"]):
            case "record":
                store.record(store.tournament("t"), [record(number) for number in chosen if number not in recorded])
            case "void":
                undoable.append(correct(store, set_aside=chosen).number)
            case "undo" if undoable:
                undone = undoable.pop(chance.randrange(len(undoable)))
                correct(store, kind=CorrectionKind.UNDO, details=CorrectionDetails(undoes=undone))
            case "skip":
                undoable.append(correct(store, kind=CorrectionKind.WITHDRAW, skip=chosen).number)
        assert_right(store)


def test_counters_of_another_home_are_not_believed(tmp_path):
    from arena.store.results.foreign import open_foreign

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


def test_a_wrong_counter_is_named(tmp_path):
    with closing(Store(tmp_path / "arena.sqlite3")) as store:
        store.create_tournament(definition(), [line(1), line(2)])
        with closing(sqlite3.connect(tmp_path / "arena.sqlite3")) as connection:
            connection.execute("UPDATE tournaments SET record_count = 3")
            connection.commit()
        assert store.counter_problems(store.tournament("t")) == ["the counter record_count is 3, but should be 0"]
