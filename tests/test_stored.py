"""What lies in somebody else's database may be anything: it is refused in a sentence."""

import pytest

from arena.errors import StoreError
from arena.store.statements import record_from, stored_bots_and_ranks
from arena.store.values import StoredTournament
from arena.stored import from_json_text

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "x is not JSON"),
        ("9" * 5000, "x is malformed: a whole number in it has thousands of digits"),
        (DEEP, "x is malformed: it is nested too"),
    ],
)
def test_what_is_no_json_is_refused_in_a_sentence(text, says):
    with pytest.raises(StoreError, match=says) as raised:
        from_json_text(text, "x")
    assert len(str(raised.value)) < 200


def test_nesting_is_refused_wherever_something_is_read():
    definition = StoredTournament(
        number=1, name="t", definition_text=DEEP, created_at="", format="", scheduled=0, recorded=0
    )
    for read in (
        lambda: record_from(1, DEEP),
        lambda: stored_bots_and_ranks('["a", "b"]', DEEP),
        lambda: definition.definition,
    ):
        with pytest.raises(StoreError, match="nested too deeply"):
            read()


def test_what_is_no_list_is_no_line_of_seats():
    assert stored_bots_and_ranks('["a","b"]', "[1,2]") == (("a", "b"), (1, 2))
    with pytest.raises(StoreError, match="malformed: expected a place for each bot"):
        stored_bots_and_ranks('["a","b"]', "5")
