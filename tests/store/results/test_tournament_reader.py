from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy import text

from arena.base.errors import ChangedMeanwhileError, DatabaseError, StoreError, UnknownNameError
from arena.base.records import Bot, Fault
from arena.store.results.store import Store
from arena.store.results.tournament_reader import Roster, roster_of
from arena.store.results.values import MAX_READINGS, read_whole
from tests.databases import on_both
from tests.store.results.samples import definition, line, record

READ_WHOLE = ("results_by_round", "schedule", "seatings", "seatings_counted", "unplayed")
"""What must fit together."""


def enter(store, name):
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


@pytest.mark.parametrize("name", READ_WHOLE)
def test_what_somebody_has_entered_since_it_was_read_has_changed(ladder, name):
    before, read = ladder.tournament("t"), READS_BY_NAME[name]
    enter(ladder, "c")
    with pytest.raises(ChangedMeanwhileError, match="'t' was changed while it was read; try again"):
        read(ladder, before)
    assert read(ladder, "t")


@pytest.mark.parametrize("name", READ_WHOLE)
def test_what_is_malformed_is_called_so(ladder, name):
    enter(ladder, "c")
    ladder._database.write(lambda c: c.exec_driver_sql("UPDATE matches SET seats = '[0, 9]'"))
    with pytest.raises(StoreError, match="malformed") as caught:
        READS_BY_NAME[name](ladder, "t")
    assert not isinstance(caught.value, ChangedMeanwhileError)


NOBODY = ("", "[]", "{", '{"entrants": 1}', '{"entrants": []}', '{"entrants": [1], "games": []}')
NO_NAME = '{"entrants": [{"name": "a", "version": "1"}], "games": [{"game": ["x"]}, {"game": "plaid"}]}'


@pytest.mark.parametrize("stored", [*NOBODY, NO_NAME])
def test_what_can_not_be_read_of_a_definition_is_left_out(stored):
    entered = Roster(frozenset({"a@1"}), frozenset({"plaid"})) if stored == NO_NAME else Roster()
    assert roster_of(stored) == entered


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


def test_a_roster_has_the_bots_and_games_of_its_tournament(home):
    home.store.create_tournament(definition(name="t"), [line(1)])
    home.store.create_tournament(definition(name="u"), [line(1)])
    home.store.delete(home.store.tournament("u"))
    expected = Roster(frozenset({"a@1", "b@1"}), frozenset({"differences"}))
    assert home.store.rosters() == {1: expected, 2: expected}
    assert home.store.rosters([2, 7]) == {2: expected}


READS_BY_NAME = {
    "fault_counts": lambda store, which: store.fault_counts(which),
    "last_encounter": lambda store, which: store.last_encounter(which),
    "last_match": lambda store, which: store.last_match(which),
    "last_round": lambda store, which: store.last_round(which),
    "record_of": lambda store, which: store.record_of(which, 2),
    "record_texts": lambda store, which: list(store.record_texts(which)),
    "recorded_matches": lambda store, which: store.recorded_matches(which),
    "records": lambda store, which: list(store.records(which)),
    "results": lambda store, which: list(store.results(which)),
    "results_by_round": lambda store, which: store.results_by_round(which),
    "schedule": lambda store, which: list(store.schedule(which)),
    "seatings": lambda store, which: list(store.seatings(which)),
    "seatings_counted": lambda store, which: store.seatings_counted(which),
    "unplayed": lambda store, which: list(store.unplayed(which)),
    "void_tries": lambda store, which: store.void_tries(which),
}


@pytest.fixture
def league(store):
    tournament = store.create_tournament(definition(name="league"), [line(number) for number in range(1, 602)])
    fault = Fault(kind="exit", seat=1, ply=0, detail="")
    store.record(tournament, [record(number, faults=[fault] if number == 7 else []) for number in range(1, 601)])
    store.note_void(tournament, 3, "a test")
    cup = store.create_tournament(definition(name="cup"), [line(1), line(2)])
    store.record(cup, [record(1)])
    return store


@pytest.mark.slow(sample=("sqlite",))
@on_both
def test_a_name_reads_what_its_tournament_reads(league):
    for name, read in READS_BY_NAME.items():
        by_name = read(league, "league")
        assert by_name, name
        assert by_name == read(league, league.tournament("league")), name
        with pytest.raises(UnknownNameError, match="unknown tournament 'leagu': did you mean 'league'"):
            read(league, "leagu")


def test_records_are_counted_and_read_again(league):
    records = league.records("league")
    assert len(records) == 600
    for _ in range(2):
        assert [one.match for one in records] == list(range(1, 601))
    assert [one.match for one in records.first(3)] == [1, 2, 3]
    assert [one.match for one in records.last(2)] == [599, 600]
    everything = league.records()
    assert (len(everything), len(league.records(game="plaid"))) == (601, 0)
    assert [one.match for one in everything.last(3)] == [599, 600, 1]
    assert not league.records(game="plaid").first(3)
    with pytest.raises(UnknownNameError, match="did you mean 'cup'"):  # before anything is read
        league.records("cu")


def test_a_home_in_the_place_of_its_store_leads_there(home):
    with pytest.raises(AttributeError, match=r"has no attribute 'records'; its store has: home.store.records$"):
        home.records("league")
    with pytest.raises(AttributeError, match=r"has no attribute 'recods'$"):
        home.recods("league")
    with pytest.raises(AttributeError, match=r"arena\.standings_of\(home\.store, NAME\)"):
        home.standings_of("league")
    assert not hasattr(home, "_repr_html_")


def test_reads_that_share_a_transaction_see_one_instant_and_fail_as_alone(tmp_path):
    with closing(Store(tmp_path / "a.sqlite3")) as store, closing(Store(tmp_path / "a.sqlite3")) as other:
        with store.one_transaction():
            assert store.names() == []
            other.create_tournament(definition(name="later"), [])
            assert store.names() == []
            with ThreadPoolExecutor(1) as thread:
                assert thread.submit(store.names).result() == ["later"]
            with pytest.raises(DatabaseError, match=r"a.sqlite3: the database refuses: no such table: missing"):
                store._database.rows(text("SELECT * FROM missing"))
        assert store.names() == ["later"]
        with pytest.raises(UnknownNameError, match=r"unknown tournament 'none'.*later"), store.one_transaction():
            store.require_tournament("none")
        store.require_tournament("later")
        store.rename(store.tournament("later"), "renamed")
        assert store.names() == ["renamed"]
