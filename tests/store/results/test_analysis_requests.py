import pytest

from arena.base.enums import AnalysisState
from arena.base.errors import StoreError, UsageError
from arena.store.results import annotations
from tests.databases import on_both
from tests.store.results.samples import definition, line, record, void

WAITING, RUNNING, DONE = AnalysisState.WAITING, AnalysisState.RUNNING, AnalysisState.DONE


@pytest.fixture
def tournament(store):
    tournament = store.create_tournament(definition(), [line(match) for match in (1, 2, 3, 4)])
    store.record(tournament, [record(1), record(2), record(3)])
    return tournament


@pytest.fixture
def requests(store, tournament):
    for match in (3, 1, 2, 3):
        store.analysis_requests.add(tournament, match)
    return store.analysis_requests


@on_both
def test_they_are_taken_in_the_order_they_came_each_once_and_all_whose_place_changes_hear_of_it(
    store, requests, tournament
):
    assert requests.find(tournament, 1) == (WAITING, 2, 3, 0)
    first = requests.claim()
    assert (first.match, requests.find(tournament, 3), requests.find(tournament, 1).place) == (3, (RUNNING, 0, 2, 0), 1)
    requests.finish(first, 31)
    assert requests.find(tournament, 3) == (DONE, 0, 2, 31)
    told = [one.details.matches for one in store.events.last(f"tournament/{tournament.number}", 5)]
    assert sorted(told) == [(1, 2, 3), (1, 2, 3), (1, 2, 3), (1, 3), (3,)]
    assert [requests.claim().match, requests.claim().match, requests.claim()] == [1, 2, None]


def test_only_so_many_wait_and_what_has_no_record_does_not(store, tournament, monkeypatch):
    monkeypatch.setattr(annotations, "MAX_WAITING", 2)
    for match in (1, 2, 2):
        store.analysis_requests.add(tournament, match)
    with pytest.raises(UsageError, match="2 matches wait for their analysis; ask again when some are done"):
        store.analysis_requests.add(tournament, 3)
    store.analysis_requests.claim()
    store.analysis_requests.add(tournament, 3)
    store.analysis_requests.claim()
    with pytest.raises(StoreError, match="match 4 of tournament 't' has no record"):
        store.analysis_requests.add(tournament, 4)


def test_a_search_whose_program_has_ended_may_be_asked_for_again(requests, tournament):
    assert requests.claim().match == 3
    requests.forget_claimed()
    assert (requests.find(tournament, 3), [one.match for one in requests.waiting()]) == (None, [1, 2])


def test_another_record_and_another_version_may_be_asked_for_again(store, requests, tournament, monkeypatch):
    requests.finish(requests.claim(), 1)
    void(store, tournament, 1)
    store.record(tournament, [record(1, ranks=[1, 2])])
    monkeypatch.setattr(annotations, "__version__", "99")
    assert [requests.find(tournament, match) for match in (1, 3)] == [None, None]


def test_those_of_a_tournament_in_the_trash_wait_for_it(store, requests, tournament):
    store.delete(tournament)
    assert (requests.waiting(), requests.claim()) == ([], None)
    store.restore(store.deleted_tournament("t"), "t")
    assert requests.claim().match == 3
