"""Which of several matches count, against the rule said another way."""

from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.repeats import counting


def test_what_is_always_the_same_counts_once_and_what_varies_always():
    assert counting("ABABAB", "111211") == [True, True, False, True, False, True]


def test_a_start_that_nobody_knows_is_unlike_any_other():
    assert counting([None, None], [1, 1]) == [True, True]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2))))
def test_each_start_counts_once_if_it_has_one_course_and_always_otherwise(results):
    counts = counting([start for start, _ in results], [actions for _, actions in results])
    for start in {start for start, _ in results}:
        own = [(actions, counted) for (one, actions), counted in zip(results, counts, strict=True) if one == start]
        if len({actions for actions, _ in own}) == 1:
            assert [counted for _, counted in own] == [True] + [False] * (len(own) - 1)
        else:
            assert all(counted for _, counted in own)
