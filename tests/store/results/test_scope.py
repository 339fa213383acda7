from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy
from sqlalchemy import text

from arena.base.errors import ChangedMeanwhileError, DatabaseError, StoreError, UnknownNameError, UsageError
from arena.base.records import Bot, Fault
from arena.store.results.scope import Scope
from arena.store.results.store import Store
from arena.store.results.tournament_reader import Roster, roster_of
from arena.store.results.values import MAX_READINGS, read_whole
from tests.databases import on_both
from tests.store.results.samples import definition, line, record

BEGUN = {"spring": "2026-03-01", "summer": "2026-07-01", "autumn": "2026-10-01", "test": "2026-11-01"}
"""When the tournaments were begun; "test" is a comparison. The matches of each carry a number of their own."""


@pytest.fixture
def year(store):
    for count, (name, date) in enumerate(BEGUN.items(), 1):
        kind = "comparison" if name == "test" else "round-robin"
        tournament = store.create_tournament(definition(name=name, format=kind), [line(1), line(2)])
        fault = Fault(kind="exit", seat=1, ply=0, detail="")
        store.record(tournament, [record(1, rng_seed=count), record(2, rng_seed=count, faults=[fault])])
        begun = f"UPDATE tournaments SET created_at = '{date}T12:00:00+00:00' WHERE id = {count}"
        store._database.write(lambda connection, begun=begun: connection.exec_driver_sql(begun))
    return store


def names(store, scope):
    order = list(BEGUN)
    listed = [tournament.name for tournament in store.tournaments(scope)]
    assert [order[record.rng_seed - 1] for record in store.records(scope)] == [n for n in listed for _ in range(2)]
    assert [order[result.tournament - 1] for result in store.results(scope)] == [n for n in listed for _ in range(2)]
    assert [match for match, _ in store.record_texts(scope)] == [1, 2] * len(listed)
    assert sum(kinds["exit"] for kinds in store.fault_counts(scope).values()) == len(listed)
    return listed


def test_comparisons_count_on_request_only_and_a_scope_begins_at_a_time(year):
    assert names(year, Scope()) == ["spring", "summer", "autumn"]
    assert names(year, Scope(comparisons=True)) == ["spring", "summer", "autumn", "test"]
    assert names(year, Scope(tournaments=("test", "spring"))) == ["spring", "test"]
    assert len(list(year.results())) == len(list(year.records())) == 8
    assert year.latest_tournament().name == "autumn"
    assert names(year, Scope(since=datetime(2026, 7, 1, 12, tzinfo=UTC))) == ["summer", "autumn"]
    assert names(year, Scope(since=datetime(2026, 7, 1, 12, 0, 1))) == ["autumn"]
    assert names(year, Scope(since=datetime.fromisoformat("2026-07-01T13:59:59+02:00"))) == ["summer", "autumn"]
    assert names(year, Scope(since=datetime.now(UTC) + timedelta(days=1))) == []
    assert names(year, Scope(tournaments=("spring", "autumn"), since=datetime(2026, 4, 1))) == ["autumn"]


def test_a_season_is_a_set_of_tournaments_and_unknown_names_are_refused_in_a_sentence(year):
    chosen = [year.tournament(name) for name in ("spring", "test")]
    year.seasons.add("odd", chosen)
    year.seasons.add("odd", chosen[:1])
    year.seasons.add("Even", [year.tournament("summer")])
    assert year.seasons.all() == [("Even", ("summer",)), ("odd", ("spring", "test"))]
    assert names(year, Scope(season="odd")) == ["spring", "test"]
    assert names(year, Scope(season="odd", tournaments=("autumn",))) == ["spring", "autumn", "test"]
    year.seasons.remove("odd", chosen[1:])
    assert year.seasons.get("odd").tournaments == ("spring",)
    with pytest.raises(UsageError, match="season 'odd': tournament 'test' is not in it"):
        year.seasons.remove("odd", chosen)
    year.seasons.remove("odd", chosen[:1])
    year.seasons.delete("Even")
    assert year.seasons.all() == []
    assert len(year.tournaments()) == 4
    for scope, message in (
        (Scope(tournaments=("sumer",)), "unknown tournament 'sumer': did you mean 'summer'?"),
        (Scope(season="2026"), "unknown season '2026': there are none yet"),
    ):
        for question in (year.tournaments, year.fault_counts, lambda s: list(year.results(s))):
            with pytest.raises(UnknownNameError) as error:
                question(scope)
            assert str(error.value) == message
    for change in (year.seasons.delete, lambda name: year.seasons.remove(name, [])):
        with pytest.raises(UnknownNameError):
            change("2026")
    with pytest.raises(UsageError, match="season 'a/b': expected 1 to 64 visible characters"):
        year.seasons.add("a/b", [year.tournament("spring")])
    with pytest.raises(UsageError, match="season '2026': expected the tournaments to add"):
        year.seasons.add("2026", [])


def test_a_deleted_tournament_counts_nowhere(year):
    year.seasons.add("all", year.tournaments())
    year.seasons.add("one", [year.tournament("autumn")])
    year.delete(year.tournament("autumn"))
    assert names(year, Scope()) == ["spring", "summer"]
    assert names(year, Scope(comparisons=True)) == names(year, Scope(season="all")) == ["spring", "summer", "test"]
    assert year.seasons.get("one").tournaments == ()
    with pytest.raises(StoreError, match="season 'one': all its tournaments are deleted"):
        year.tournaments(Scope(season="one"))
    with pytest.raises(UnknownNameError):
        year.tournament("autumn")
    with pytest.raises(UnknownNameError):
        year.tournaments(Scope(tournaments=("deleted/3",)))
    assert year.find_tournament("autumn") is year.find_tournament("deleted/3") is None
    assert year.latest_tournament().name == "summer"
    assert [fault.tournament for fault in year.faults_of("b@1")] == ["test", "summer", "spring"]
    assert len(list(year.results())) == len(list(year.records())) == sum(year.fault_counts()["b@1"].values()) * 2 == 6


@on_both
def test_two_in_the_trash_may_have_had_the_same_name_and_come_back_as_they_were(year):
    before = year.tournament("summer")
    texts = list(year.record_texts(before))
    year.seasons.add("warm", [before])
    year.delete(before)
    again = year.create_tournament(definition(name="summer"), [line(1)])
    with pytest.raises(StoreError, match="there is a tournament 'summer' already"):
        year.restore(year.deleted_tournament("summer"), "summer")
    year.delete(again)
    with pytest.raises(StoreError) as error:
        year.deleted_tournament("summer")
    assert str(error.value) == "2 deleted tournaments had the name 'summer'; expected 'deleted/2' or 'deleted/5'"
    assert [one.trash_name for one in year.deleted_tournaments()] == ["deleted/2", "deleted/5"]
    restored = year.restore(year.deleted_tournament("deleted/2"), "summer 2026")
    assert list(year.record_texts(restored)) == texts
    assert (restored.deleted_at, restored.definition.entrants) == (None, before.definition.entrants)
    assert year.seasons.get("warm").tournaments == ("summer 2026",)
    assert year.deleted_tournament("deleted/5").scheduled == 1
    with pytest.raises(StoreError, match="tournament 'spring' is not in the trash"):
        year.deleted_tournament("spring")
    with pytest.raises(UnknownNameError, match="unknown deleted tournament 'winter'"):
        year.deleted_tournament("winter")


@on_both
def test_what_is_erased_leaves_no_row(year):
    with pytest.raises(StoreError, match="tournament 'summer' is not in the trash"):
        year.erase(year.tournament("summer"))
    year.seasons.add("warm", [year.tournament("summer"), year.tournament("autumn")])
    year.note_void(year.tournament("summer"), 1, "no memory")
    year.delete(year.tournament("summer"))
    (deleted,) = year.deleted_tournaments()
    year.erase(deleted)
    assert year.deleted_tournaments() == []
    assert names(year, Scope(comparisons=True)) == ["spring", "autumn", "test"]
    keys = {"tournaments": "id = 2", **dict.fromkeys(["topics", "events"], "topic LIKE '%/2'")}
    for table in year._database.read(lambda connection: set(sqlalchemy.inspect(connection).get_table_names())):
        if table not in ("meta", "bots", "owners"):
            query = f"SELECT count(*) FROM {table} WHERE {keys.get(table, 'tournament_id = 2')}"
            assert year._database.read(lambda c, query=query: c.execute(sqlalchemy.text(query)).scalar()) == 0, table


@on_both
def test_directors_are_known_without_disturbing_them(year, place):
    assert year.directors() == {}
    with year.lock("spring"), year.lock("another"), closing(Store(place)) as other:
        (holder,) = other.directors().items()
        assert holder[0] == "spring"
        assert holder[1].startswith("process ")
        with pytest.raises(StoreError, match="being run by another director"), other.lock("spring"):
            pass
        assert list(other.directors()) == ["spring"]
    assert year.directors() == {}
    with year.lock("spring"):
        pass


HOSTILE = 'a%_"\\<\u05d0\u0301@1'


@pytest.fixture
def played(store):
    for name, third in (("first", ["a@1", "b@1"]), ("second", [HOSTILE, "a@1"])):
        tournament = store.create_tournament(definition(name=name), [line(1), line(2), line(3)])
        rows = [record(1), record(2, bots=third), record(3, bots=["b@1", HOSTILE, "A@1"], ranks=[1, 2, 3])]
        store.record(tournament, rows)
    return store


def keys(matches):
    return [(result.tournament, result.bots) for result in matches.results()]


@on_both
def test_results_come_in_the_order_of_the_schedule(played):
    three = ("b@1", HOSTILE, "A@1")
    assert keys(played.matches_of([HOSTILE])) == [(1, three), (2, (HOSTILE, "a@1")), (2, three)]
    assert keys(played.matches_of(["A@1"])) == [(1, three), (2, three)]
    assert keys(played.matches_of([HOSTILE], ["a@1"])) == [(2, (HOSTILE, "a@1"))]
    assert keys(played.matches_of([HOSTILE], within=Scope(tournaments=("first",)))) == [(1, three)]
    assert keys(played.matches_of(["a@1", "b@1"], ["b@1"])) == [(1, ("a@1", "b@1"))] * 2 + [(2, ("a@1", "b@1"))]


@on_both
@pytest.mark.parametrize("bots", [["%@1"], ["a"], ["a%"], ["_@1"], []])
def test_names_are_whole_and_no_patterns(played, bots):
    assert keys(played.matches_of(bots)) == played.matches_of(bots).latest(5) == []


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
    store.record(store.create_tournament(definition(name="cup"), [line(1), line(2)]), [record(1)])
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


NAMES = text("SELECT name FROM tournaments")


def test_reads_that_share_a_transaction_see_one_instant_and_fail_as_alone(tmp_path):
    with closing(Store(tmp_path / "a.sqlite3")) as store, closing(Store(tmp_path / "a.sqlite3")) as other:
        with store.one_transaction():
            assert store.names() == []
            other.create_tournament(definition(name="later"), [])
            with store.one_transaction():
                assert store.names() == []
            assert store._database.read_snapshot(lambda connection: connection.execute(NAMES).all()) == []
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
