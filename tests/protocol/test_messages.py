"""Messages from bots, and the short way to read an answer, which agrees with the long one."""

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.base.errors import BotError
from arena.base.records import DEFAULT_LIMITS
from arena.protocol.frames import FrameError, decode_body
from arena.protocol.messages import Wants, common_action, read_action, read_ready


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


def test_ready_may_say_no_more_than_it_must_and_an_action_is_given_with_its_note():
    ready = read_ready({"type": "ready", "protocol": 1})
    assert ready.wants == Wants(legal=True, observation=True, updates=False)
    assert (ready.name, ready.version, ready.author) == ("", "", "")
    wants = {"legal": False, "updates": True, "weather": "sunny"}
    ready = read_ready({"type": "ready", "protocol": 1, "name": "x", "wants": wants, "colour": "blue"})
    assert ready.wants == Wants(legal=False, observation=True, updates=True)
    assert ready.name == "x"
    assert read_action({"type": "action", "ply": 3, "action": [1, 2]}, 3) == ([1, 2], None)
    assert read_action({"type": "action", "ply": 3, "action": "+", "note": "why not", "x": 1}, 3) == ("+", "why not")


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"type": "action", "ply": 0, "action": "+"}, "expected a 'ready' message, got 'action'"),
        ({"type": "ready"}, "ready.protocol = None: this arena speaks version 1"),
        ({"type": "ready", "protocol": 2}, "ready.protocol = 2: this arena speaks version 1"),
        ({"type": "ready", "protocol": True}, "ready.protocol = True"),
        ({"type": "ready", "protocol": 1, "name": 5}, "ready.name = 5"),
        ({"type": "ready", "protocol": 1, "version": "x" * 101}, "at most 100 characters"),
        ({"type": "ready", "protocol": 1, "wants": []}, "ready.wants = []: expected a map"),
        ({"type": "ready", "protocol": 1, "wants": {"legal": 1}}, "ready.wants.legal = 1: expected true or false"),
    ],
)
def test_a_bad_ready_is_a_protocol_fault_that_names_the_field(message, sentence):
    with pytest.raises(BotError) as raised:
        read_ready(message)
    assert raised.value.kind == "protocol"
    assert sentence in raised.value.detail


@pytest.mark.parametrize(
    ("message", "kind", "sentence"),
    [
        ({"type": "ready", "protocol": 1}, "protocol", "expected an 'action' message, got 'ready'"),
        ({"type": "action", "action": "+"}, "protocol", "action.ply = None: expected 3, the ply of the question"),
        ({"type": "action", "ply": 2, "action": "+"}, "protocol", "action.ply = 2: expected 3, the ply of"),
        ({"type": "action", "ply": 3.0, "action": "+"}, "protocol", "action.ply = 3.0"),
        ({"type": "action", "ply": 3}, "protocol", "no field 'action'"),
        ({"type": "action", "ply": 3, "action": 0, "note": [1]}, "protocol", "expected a string or a map"),
        ({"type": "action", "ply": 3, "action": 0, "note": "x" * 4096}, "limit", "bytes; note_bytes allows 4096"),
    ],
)
def test_a_bad_action_is_a_fault_that_names_the_field(message, kind, sentence):
    with pytest.raises(BotError) as raised:
        read_action(message, 3)
    assert raised.value.kind == kind
    assert sentence in raised.value.detail
