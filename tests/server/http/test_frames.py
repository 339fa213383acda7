import asyncio
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.server.http.builder_messages import MAX_FRAME_BYTES, FrameError, framed, read_frame, receive_frame


def received(data):
    async def receive():
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await receive_frame(reader)

    return asyncio.run(receive())


@given(st.binary(max_size=100))
def test_what_is_sent_arrives_at_both_ends(payload):
    assert received(framed(payload)) == read_frame(io.BytesIO(framed(payload))) == payload
    assert read_frame(io.BytesIO(b"")) is None  # the end, between frames


@pytest.mark.parametrize("data", [b"\0", b"\0\0\0\5abc", (MAX_FRAME_BYTES + 1).to_bytes(4, "big") + b"abc"])
def test_what_is_no_frame_is_refused(data):
    with pytest.raises(FrameError):
        read_frame(io.BytesIO(data))
    with pytest.raises(FrameError):
        received(data)
