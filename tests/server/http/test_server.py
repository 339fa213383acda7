import logging
import signal
import sys

import anyio
import pytest
import uvicorn

from arena.server.http import server


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


async def test_it_ends_at_the_signal_without_looking_for_it(monkeypatch):
    monkeypatch.setattr(server, "DATE_SECONDS", 1_000_000.0)
    monkeypatch.setattr(server, "_log", logging.getLogger("arena.test"))
    ticks = []

    async def tick(_):
        ticks.append(one.should_exit)
        return one.should_exit

    one = server._Server(uvicorn.Config(None), lambda: None, lambda: None, None)
    monkeypatch.setattr(one, "on_tick", tick)
    async with anyio.create_task_group() as group:
        group.start_soon(one.main_loop)
        await anyio.wait_all_tasks_blocked()
        one._end(signal.SIGTERM)
    assert ticks == [False, True]
