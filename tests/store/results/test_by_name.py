"""What is read of a tournament is read by its name as well; records are read as often as they are wanted."""

import pytest

from arena.base.errors import UnknownNameError
from arena.base.records import Fault
from arena.store.home import ArenaHome
from tests.databases import on_both
from tests.store.results.samples import definition, line, record

READERS = {
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
    """A store with a tournament of 601 matches, the last of them unplayed, and a smaller one."""
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
    for name, read in READERS.items():
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


def test_an_unknown_name_is_refused_before_anything_is_read(league):
    with pytest.raises(UnknownNameError, match="did you mean 'cup'"):
        league.records("cu")


def test_a_home_in_the_place_of_its_store_leads_there(tmp_path):
    with ArenaHome(tmp_path) as home:
        with pytest.raises(AttributeError, match=r"has no attribute 'records'; its store has: home.store.records$"):
            home.records("league")
        with pytest.raises(AttributeError, match=r"has no attribute 'recods'$"):
            home.recods("league")
        assert not hasattr(home, "_repr_html_")
