"""Ranks with ties."""

from hypothesis import given
from hypothesis import strategies as st

from arena.base.results import competition_ranks


def test_equals_share_the_better_rank_and_the_next_is_skipped():
    """The standard competition ranking, "1224" (https://en.wikipedia.org/wiki/Ranking)."""
    assert competition_ranks(["a", "b", "b", "c"]) == [1, 2, 2, 4]
    assert competition_ranks([30, 10, 20, 10]) == [4, 1, 3, 1]
    assert competition_ranks([]) == []


@given(st.lists(st.integers(0, 5)))
def test_a_rank_is_one_more_than_how_many_are_better(keys):
    assert competition_ranks(keys) == [1 + sum(other < key for other in keys) for key in keys]
