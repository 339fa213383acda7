"""The codec: whatever a bot sends is either a checked message or one FrameError."""

import struct

import msgpack
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena.protocol.frames import DEFAULT_LIMITS, FrameError, body_length, decode_body, encode_frame, only_body

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


def test_lengths_are_checked_before_anything_is_read():
    assert body_length(struct.pack(">I", DEFAULT_LIMITS.message_bytes)) == DEFAULT_LIMITS.message_bytes
    for announced in (0, DEFAULT_LIMITS.message_bytes + 1, 2**32 - 1):
        with pytest.raises(FrameError):
            body_length(struct.pack(">I", announced))


@pytest.mark.parametrize("text", [b"Hello, world", b"deb\n", b"\n\n\n\n"])
def test_printed_text_is_recognised(text):
    with pytest.raises(FrameError, match="did the bot print to stdout"):
        body_length(text[:4])
