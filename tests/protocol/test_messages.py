import struct

import msgpack
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena.base.errors import BotError
from arena.base.records import DEFAULT_LIMITS
from arena.protocol.frames import FrameError, body_length, decode_body, encode_frame, only_body
from arena.protocol.messages import Wants, common_action, read_action, read_ready

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=30,
)


@pytest.mark.slow(sample=True)
@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=8), st.text(max_size=10))
def test_a_message_comes_back_as_it_was_sent(message, kind):
    message["type"] = kind
    frame = encode_frame(message)
    assert body_length(frame) == len(frame) - 4
    assert decode_body(frame[4:]) == message


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b"\0\0\0\3abc", b"abc"),
        (b"\0\0\0\4abcd", b"abcd"),
        (b"\0\0\0\5abcde", None),  # more than the limit of 4
        (b"\0\0\0\3ab", None),
        (b"\0\0\0\3abcd", None),
        (b"\0\0\0\0", None),
        (b"\0\0\0", None),
        (b"", None),
    ],
)
def test_a_whole_frame_is_recognised(data, body):
    assert only_body(data, limit=4) == body


@given(st.binary(max_size=200))
@example(b"")
@example(b"\xc1")
def test_any_bytes_are_a_message_or_a_frame_error(body):
    try:
        message = decode_body(body)
    except FrameError as error:
        assert str(error)
    else:
        assert type(message["type"]) is str


def nested(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return {"type": "x", "v": value}


REFUSED = {
    "a list": msgpack.packb([1, 2]),
    "no type": msgpack.packb({"kind": "x"}),
    "a type that is no string": msgpack.packb({"type": 1}),
    "an integer key": b"\x82" + msgpack.packb("type") + msgpack.packb("x") + b"\x01\x02",
    "a bytes key": b"\x82" + msgpack.packb("type") + msgpack.packb("x") + b"\xc4\x01a\x02",
    "a key twice": b"\x82" + (msgpack.packb("type") + msgpack.packb("x")) * 2,
    "nan": msgpack.packb({"type": "x", "v": float("nan")}),
    "infinity": msgpack.packb({"type": "x", "v": [float("inf")]}),
    "an extension type": msgpack.packb({"type": "x", "v": msgpack.ExtType(5, b"abc")}),
    "a binary value": msgpack.packb({"type": "x", "v": {"w": b"abc"}}),
    "a timestamp": msgpack.packb({"type": "x", "v": msgpack.Timestamp(1, 2)}),
    "bad UTF-8": b"\x81" + msgpack.packb("type") + b"\xa2\xff\xfe",
    "too deep": msgpack.packb(nested(DEFAULT_LIMITS.message_depth)),
    "far too deep": b"\x81" + msgpack.packb("type") + b"\x91" * 60_000,
    "too many values": msgpack.packb({"type": "x", "v": [0] * (DEFAULT_LIMITS.message_nodes + 1)}),
    "bytes left over": msgpack.packb({"type": "x"}) + b"\xc0",
    "half a message": msgpack.packb({"type": "x", "v": "text"})[:-2],
    "a list that announces four thousand million values": b"\x81" + msgpack.packb("type") + b"\xdd\xff\xff\xff\xff",
}


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_bodies_are_refused(name):
    with pytest.raises(FrameError):
        decode_body(REFUSED[name])


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (REFUSED["an integer key"], "a map has a key that is not a string"),
        (REFUSED["a bytes key"], "a map has a key that is not a string"),
        (REFUSED["half a message"], "not valid msgpack (it ends in the middle of a value)"),
        (b"\x81\xa1a\xc1", "not valid msgpack (it has the byte c1, which msgpack does not use)"),
    ],
)
def test_authors_in_any_language_read_what_is_wrong_with_a_body(body, sentence):
    with pytest.raises(FrameError) as raised:
        decode_body(body)
    assert str(raised.value) == sentence


def test_lengths_are_checked_before_anything_is_read():
    assert body_length(struct.pack(">I", DEFAULT_LIMITS.message_bytes)) == DEFAULT_LIMITS.message_bytes
    for announced in (0, DEFAULT_LIMITS.message_bytes + 1, 2**32 - 1):
        with pytest.raises(FrameError):
            body_length(struct.pack(">I", announced))


@pytest.mark.parametrize("text", [b"Hello, world", b"deb\n", b"\n\n\n\n"])
def test_printed_text_is_recognised(text):
    with pytest.raises(FrameError, match="did the bot print to stdout"):
        body_length(text[:4])


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


ACTIONS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text() | st.binary(),
    lambda values: st.lists(values, max_size=10) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=12,
)


@given(ACTIONS, st.integers(0, 300), st.binary(max_size=2), st.integers(0, 3))
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
        ({"type": "ready"}, "the message has no field 'protocol'"),
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
        ({"type": "action", "action": "+"}, "protocol", "the answer has no field 'ply'"),
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
