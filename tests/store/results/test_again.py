"""Somebody enters a ladder while it is read: what does not fit together is read again, and not called malformed."""

from dataclasses import replace

import pytest

from arena.base.errors import ChangedMeanwhileError, StoreError
from arena.base.records import Bot
from arena.store.results.again import MAX_READINGS, read_whole
from tests.databases import on_both
from tests.store.results.samples import definition, line, record

READERS = {
    "results_by_round": lambda store, which: store.results_by_round(which),
    "schedule": lambda store, which: list(store.schedule(which)),
    "seatings": lambda store, which: list(store.seatings(which)),
    "seatings_counted": lambda store, which: store.seatings_counted(which),
    "unplayed": lambda store, which: list(store.unplayed(which)),
}


def enter(store, name):
    """Let somebody enter, with a match that has a record and one that has none."""
    before = store.tournament("t")
    made = before.definition
    newcomer = Bot(name=name, version="1", command=(name,), directory="")
    store.change_definition(before, replace(made, entrants=(*made.entrants, newcomer)))
    number, last = len(made.entrants), store.last_match("t")
    lines = [replace(line(last + k), round=store.last_round("t") + 1, seats=(0, number)) for k in (1, 2)]
    store.extend_schedule(before, lines)
    store.record(before, [record(last + 1, bots=["a@1", f"{name}@1"])])


@pytest.fixture
def ladder(store):
    store.create_tournament(definition(), [line(1), line(2)])
    return store


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_what_somebody_has_entered_since_it_was_read_has_changed(ladder, read):
    before = ladder.tournament("t")
    enter(ladder, "c")
    with pytest.raises(ChangedMeanwhileError, match="'t' was changed while it was read; try again"):
        read(ladder, before)
    assert read(ladder, "t")


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_what_is_malformed_is_called_so(ladder, read):
    enter(ladder, "c")
    ladder._database.write(lambda c: c.exec_driver_sql("UPDATE matches SET seats = '[0, 9]'"))
    with pytest.raises(StoreError, match="malformed") as caught:
        read(ladder, "t")
    assert not isinstance(caught.value, ChangedMeanwhileError)


@pytest.mark.parametrize("newcomers", range(MAX_READINGS + 1))
def test_it_is_read_until_nobody_has_entered_meanwhile(ladder, newcomers):
    names = [f"n{k}" for k in range(newcomers)]

    def read():
        found = ladder.tournament("t")
        if names:
            enter(ladder, names.pop())
        return len(found.definition.entrants), len(ladder.seatings_counted(found))

    if newcomers < MAX_READINGS:
        assert read_whole(read) == (2 + newcomers, 1 + newcomers)
    else:
        with pytest.raises(ChangedMeanwhileError):
            read_whole(read)


@on_both
def test_a_round_that_is_added_while_results_are_read_is_among_them(ladder, monkeypatch):
    last_round = type(ladder).last_round
    known = ladder.tournament("t")

    def slow(store, which):
        found = last_round(store, which)
        monkeypatch.undo()
        ladder.extend_schedule(known, [replace(line(3), round=2)])
        ladder.record(known, [record(3)])
        return found

    monkeypatch.setattr(type(ladder), "last_round", slow)
    assert [len(results) for results in ladder.results_by_round(known)] == [0, 1]
