import sys

import pytest

from arena.server.http import server


def test_the_loop_is_let_on_ten_times_as_soon_as_by_python(monkeypatch):
    async def serve(*_):
        pass

    seconds = []
    monkeypatch.setattr(sys, "setswitchinterval", seconds.append)
    monkeypatch.setattr(server, "_serve", serve)
    server.serve(None, None, None)
    assert seconds == [pytest.approx(0.0005)]
