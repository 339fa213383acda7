"""Threads that render pages keep the loop of the server from answering for a short time only."""

import sys

import pytest

from arena.web import server


@pytest.fixture
def _as_before():
    seconds = sys.getswitchinterval()
    yield
    sys.setswitchinterval(seconds)


@pytest.mark.usefixtures("_as_before")
def test_the_loop_is_let_on_ten_times_as_soon_as_by_python(monkeypatch):
    async def serve(*_):
        return sys.getswitchinterval()

    sys.setswitchinterval(0.005)
    monkeypatch.setattr(server, "_serve", serve)
    assert server.serve(None, None, None) == pytest.approx(0.0005)
