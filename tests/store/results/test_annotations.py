import pytest
import sqlalchemy as sa

from arena.base.enums import AnalysisState, EventKind
from arena.base.errors import StoreError, UsageError
from arena.store.results import annotations
from arena.store.results.annotations import AnnotationRow, StoredAccuracy
from arena.store.results.schema import match_annotations
from tests.databases import on_both
from tests.store.results.samples import definition, line, record, void


@pytest.fixture
def tournament(store):
    tournament = store.create_tournament(definition(), [line(match) for match in (1, 2, 3)])
    store.record(tournament, [record(1), record(2, actions=[[0, (1, 2)], [1, (2, 1)]])])
    return tournament


def row(match, body="{}"):
    return AnnotationRow(match=match, actions_hash=record(match).actions_hash, accuracy="[]", body=body)


def left(store, tournament, **chosen):
    return [one.match for _, one in store.annotations.to_annotate(tournament, **chosen)]


@on_both
def test_an_annotation_takes_the_place_of_an_earlier_one(store, tournament):
    assert (store.annotations.find(tournament, 1), store.annotations.count(tournament)) == (None, 0)
    texts = dict(store.record_texts(tournament))
    store.annotations.write(tournament, [row(1, "old")])
    store.annotations.write(tournament, [row(1, "new")])
    assert (store.annotations.find(tournament, 1), store.annotations.count(tournament)) == ("new", 1)
    accuracy = StoredAccuracy(1, 1, "differences", ("a@1", "b@1"), "[]")
    assert list(store.annotations.accuracy(tournament)) == [accuracy]
    assert list(store.annotations.accuracy(tournament, "plaid")) == []
    assert dict(store.record_texts(tournament)) == texts


def test_reading_annotations_does_not_follow_an_annotator_that_adds_more(store, tournament):
    store.annotations.write(tournament, [row(1)])
    reading = store.annotations.accuracy(tournament)
    assert next(reading).match == 1
    (second,) = store.annotations.to_annotate(tournament)
    store.annotations.write(tournament, [AnnotationRow(match=2, actions_hash=second[0], accuracy="[]", body="{}")])
    assert list(reading) == []
    assert [one.match for one in store.annotations.accuracy(tournament)] == [1, 2]


def test_what_has_no_annotation_is_to_be_annotated_also_when_its_record_does_not_count_any_more(store, tournament):
    assert left(store, tournament) == [1, 2]
    store.annotations.write(tournament, [row(1)])
    assert left(store, tournament) == [2]
    assert left(store, tournament, again=True) == [1, 2]
    assert left(store, tournament, again=True, match=1) == [1]
    assert left(store, tournament, game="plaid") == []
    ((found, _),) = store.annotations.to_annotate(tournament)
    assert found == record(2, actions=[[0, (1, 2)], [1, (2, 1)]]).actions_hash
    store.annotations.write(tournament, [row(1)])
    void(store, tournament, 1)
    assert (store.annotations.find(tournament, 1), store.annotations.count(tournament)) == (None, 0)
    store.record(tournament, [record(1, ranks=[1, 2])])
    assert store.annotations.find(tournament, 1) is None
    assert left(store, tournament) == [1, 2]


def test_it_stays_with_a_tournament_that_is_renamed_or_in_the_trash_and_goes_when_it_is_erased(store, tournament):
    store.annotations.write(tournament, [row(1)])
    store.annotations.write(tournament, [])
    (last,) = store.events.last(f"tournament/{tournament.number}", 1)
    assert (last.kind, last.details.matches) == (EventKind.ANNOTATED, (1,))
    renamed = store.rename(tournament, "other")
    assert store.annotations.find(renamed, 1) == "{}"
    store.delete(renamed)
    back = store.restore(store.deleted_tournament("other"), "other")
    assert store.annotations.find(back, 1) == "{}"
    store.delete(back)
    store.erase(store.deleted_tournament("other"))
    assert store._database.read(lambda connection: connection.execute(sa.select(match_annotations)).all()) == []


WAITING, RUNNING, DONE = AnalysisState.WAITING, AnalysisState.RUNNING, AnalysisState.DONE


@pytest.fixture
def scheduled(store):
    scheduled = store.create_tournament(definition(), [line(match) for match in (1, 2, 3, 4)])
    store.record(scheduled, [record(1), record(2), record(3)])
    return scheduled


@pytest.fixture
def requests(store, scheduled):
    for match in (3, 1, 2, 3):
        store.analysis_requests.add(scheduled, match)
    return store.analysis_requests


@on_both
def test_they_are_taken_in_the_order_they_came_each_once_and_all_whose_place_changes_hear_of_it(
    store, requests, scheduled
):
    assert requests.find(scheduled, 1) == (WAITING, 2, 3, 0)
    first = requests.claim()
    assert (first.match, requests.find(scheduled, 3), requests.find(scheduled, 1).place) == (3, (RUNNING, 0, 2, 0), 1)
    requests.finish(first, 31)
    assert requests.find(scheduled, 3) == (DONE, 0, 2, 31)
    told = [one.details.matches for one in store.events.last(f"tournament/{scheduled.number}", 5)]
    assert sorted(told) == [(1, 2, 3), (1, 2, 3), (1, 2, 3), (1, 3), (3,)]
    assert [requests.claim().match, requests.claim().match, requests.claim()] == [1, 2, None]


def test_only_so_many_wait_and_what_has_no_record_does_not(store, scheduled, monkeypatch):
    monkeypatch.setattr(annotations, "MAX_WAITING", 2)
    for match in (1, 2, 2):
        store.analysis_requests.add(scheduled, match)
    with pytest.raises(UsageError, match="2 matches wait for their analysis; ask again when some are done"):
        store.analysis_requests.add(scheduled, 3)
    store.analysis_requests.claim()
    store.analysis_requests.add(scheduled, 3)
    store.analysis_requests.claim()
    with pytest.raises(StoreError, match="match 4 of tournament 't' has no record"):
        store.analysis_requests.add(scheduled, 4)


def test_a_search_whose_program_has_ended_may_be_asked_for_again(requests, scheduled):
    assert requests.claim().match == 3
    requests.forget_claimed()
    assert (requests.find(scheduled, 3), [one.match for one in requests.waiting()]) == (None, [1, 2])


def test_another_record_and_another_version_may_be_asked_for_again(store, requests, scheduled, monkeypatch):
    requests.finish(requests.claim(), 1)
    void(store, scheduled, 1)
    store.record(scheduled, [record(1, ranks=[1, 2])])
    monkeypatch.setattr(annotations, "__version__", "99")
    assert [requests.find(scheduled, match) for match in (1, 3)] == [None, None]


def test_those_of_a_tournament_in_the_trash_wait_for_it(store, requests, scheduled):
    store.delete(scheduled)
    assert (requests.waiting(), requests.claim()) == ([], None)
    store.restore(store.deleted_tournament("t"), "t")
    assert requests.claim().match == 3
