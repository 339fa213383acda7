import pytest

from arena.store.results.scope import Scope
from tests.databases import on_both
from tests.store.results.samples import definition, line, record

HOSTILE = 'a%_"\\<\u05d0\u0301@1'


@pytest.fixture
def played(store):
    """Two tournaments; in the second the bot with the hostile name plays a, then b; in the first only b."""
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
