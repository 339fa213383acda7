"""How the server is: what a database has to say is read in a thread, and not for everybody who asks."""

import threading

import anyio
import pytest

from arena.trouble_note import Trouble
from arena.web.csp_reports import CspReports
from arena.web.health import TROUBLES_SECONDS, Health
from arena.web.opened_home import OpenedHome

pytestmark = pytest.mark.anyio


async def test_troubles_are_read_in_a_thread_and_once_a_second(directory, versions, caplog):
    now, threads = [0.0], []

    def troubles():
        threads.append(threading.get_ident())
        return (Trouble("web", "the whole", f"trouble {len(threads)}"), Trouble("checker", "untold"))

    home = OpenedHome(directory)
    health = Health(home, versions, {}, CspReports(), now=lambda: now[0], troubles=troubles)
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(health.page)
    assert (await health.page()).troubles == ("trouble 1",)
    now[0] += TROUBLES_SECONDS
    assert (await health.page()).troubles == ("trouble 2",)
    assert len(threads) == 2
    assert threading.get_ident() not in threads
    assert caplog.messages == ["the whole", "the whole"]  # its own, whenever it is another
    home.close()
