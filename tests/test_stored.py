"""What lies in somebody else's database may be anything: it is refused in a sentence."""

import pytest

from arena.errors import StoreError
from arena.store.store import _stored_tuple, record_from
from arena.store.values import StoredTournament
from arena.stored import parse_stored

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("text", "says"), [("{", "x is not JSON"), ("9" * 5000, "x is not JSON"), (DEEP, "x is malformed: nested too")]
)
def test_what_is_no_json_is_refused_in_a_sentence(text, says):
    with pytest.raises(StoreError, match=says) as raised:
        parse_stored(text, "x")
    assert len(str(raised.value)) < 200


def test_nesting_is_refused_wherever_something_is_read():
    definition = StoredTournament(1, "t", DEEP, "", 0, 0)
    for read in (lambda: record_from(1, DEEP), lambda: _stored_tuple(DEEP), lambda: definition.definition):
        with pytest.raises(StoreError, match="nested too deeply"):
            read()


def test_what_is_no_list_is_no_line_of_seats():
    assert _stored_tuple('["a","b"]') == ("a", "b")
    with pytest.raises(StoreError, match="malformed: expected a list, got int"):
        _stored_tuple("5")
