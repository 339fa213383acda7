"""The short way to read an answer agrees with the long one."""

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.base.errors import BotError
from arena.base.records import DEFAULT_LIMITS
from arena.protocol.frames import FrameError, decode_body
from arena.protocol.messages import common_action, read_action


def body(**fields):
    return msgpack.packb({"type": "action", **fields})


@pytest.mark.parametrize("action", ["+", "", "é", 0, -1, 200, 2**63, [3, 4], ["v", 3], [], list(range(8))])
@pytest.mark.parametrize("ply", [0, 127, 128, 70_000])
def test_a_plain_answer_is_read_the_short_way(action, ply):
    assert common_action(body(ply=ply, action=action), ply) == action


@pytest.mark.parametrize(
    "data",
    [
        body(action="+", ply=1),
        body(ply=1, action="+", note="n"),
        body(ply=2, action="+"),
        body(ply=1.0, action="+"),
        body(ply=True, action="+"),
        body(ply=1, action="+") + b"\xc0",
        body(ply=1, action="+")[:-1],
        body(ply=1, action="ab")[:-1] + b"\xff",  # not UTF-8
        msgpack.packb({"type": "note", "ply": 1, "action": "+"}),
        b"",
    ],
)
def test_other_answers_are_left_to_the_long_way(data):
    assert common_action(data, 1) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text() | st.binary(),
    lambda values: st.lists(values, max_size=10) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=12,
)


@given(VALUES, st.integers(0, 300), st.binary(max_size=2), st.integers(0, 3))
def test_what_is_read_the_short_way_is_read_the_same_the_long_way(action, ply, more, less):
    data = body(ply=ply, action=action) + more
    data = data[: len(data) - less]
    found = common_action(data, ply)
    try:
        expected = read_action(decode_body(data, DEFAULT_LIMITS), ply)[0]
    except (FrameError, BotError):
        expected = None
    if found is not None:
        assert (found, type(found)) == (expected, type(expected))
