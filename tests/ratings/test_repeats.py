"""Which matches count, against the rule written in another way."""

from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.repeats import counting


def test_what_is_always_the_same_counts_once_and_what_varies_always():
    assert counting("ABABAB", "111211") == [True, True, False, True, False, True]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2))))
def test_an_opening_counts_once_if_the_same_match_follows_and_always_otherwise(matches):
    counts = counting([opening for opening, _ in matches], [actions for _, actions in matches])
    for opening in {opening for opening, _ in matches}:
        own = [(actions, counted) for (of, actions), counted in zip(matches, counts, strict=True) if of == opening]
        if len({actions for actions, _ in own}) == 1:
            assert [counted for _, counted in own] == [True] + [False] * (len(own) - 1)
        else:
            assert all(counted for _, counted in own)
