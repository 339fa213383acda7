"""Who leads a tournament by points."""

import pytest

from arena.store.results.states import Leaders, first_by_points
from tests.store.results.samples import definition, line, record

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
