import asyncio
import ctypes
import functools
import os
import subprocess
from pathlib import Path

import pytest

from arena.base.programs.service_program import NOTHING_TO_DO
from arena.sandbox.isolation.reaper import children
from arena.server.http import supervisor
from arena.server.http.supervisor import Service
from tests.server.conftest import client_of

STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[2], "w").close()
time.sleep(1000)
"""


def program(tmp_path, monkeypatch, text):
    (tmp_path / "program_of_a_test.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "program_of_a_test"


async def running(service, but=None):
    while service.pid in (None, but):
        await asyncio.sleep(0.01)
    return service.pid


async def test_one_that_ends_is_started_again(tmp_path, monkeypatch):
    monkeypatch.setattr(supervisor, "FIRST_PAUSE_SECONDS", 0.001)
    service = Service(program(tmp_path, monkeypatch, "import time\ntime.sleep(1000)\n"), ())
    service.start()
    service.want()
    first = await running(service)
    os.kill(first, 9)
    second = await running(service, but=first)
    assert os.getpgid(second) == second  # a terminal sends SIGINT to the group of the web process
    await service.close()
    assert second != first
    assert service.pid is None


async def test_one_that_fails_at_once_is_started_less_and_less_often(tmp_path, monkeypatch):
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 8:
            raise asyncio.CancelledError

    monkeypatch.setattr(supervisor.asyncio, "sleep", sleep)
    service = Service(program(tmp_path, monkeypatch, ""), ())
    service.want()
    with pytest.raises(asyncio.CancelledError):
        await service._keep_running()
    assert pauses == [2, 4, 8, 16, 30, 30, 30, 30]


async def test_one_that_has_nothing_to_do_rests_until_it_is_wanted(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(supervisor, "FIRST_PAUSE_SECONDS", 1000.0)
    ready = tmp_path / "ready"
    text = f"import sys\nopen(sys.argv[2], 'x').close()\nsys.exit({NOTHING_TO_DO})\n"
    service = Service(program(tmp_path, monkeypatch, text), (str(ready),))
    service.start()
    for _ in range(2):
        assert service.rests
        service.want()
        while not (ready.exists() and service.rests):
            await asyncio.sleep(0.01)
        ready.unlink()
    await service.close()
    assert caplog.text == ""


ORPHANING = f"""
import os, sys
read_end, write_end = os.pipe()
if os.fork() == 0:
    os.close(write_end)
    os.read(read_end, 1)  # until its parent has ended
    os._exit(0)
open(sys.argv[2], "w").write(str(os.getpid()))
sys.exit({NOTHING_TO_DO})
"""


@pytest.fixture
def adopting():
    """Let this process adopt orphans, as one that has launched bots does."""
    set_child_subreaper = functools.partial(ctypes.CDLL(None).prctl, 36)  # linux/prctl.h
    set_child_subreaper(1, 0, 0, 0)
    yield
    set_child_subreaper(0, 0, 0, 0)


async def test_what_it_leaves_is_reaped_once_it_is_started_again(tmp_path, monkeypatch, adopting):
    note = tmp_path / "note"
    service = Service(program(tmp_path, monkeypatch, ORPHANING), (str(note),))
    service.start()
    service.want()
    while not (note.exists() and service.rests):
        await asyncio.sleep(0.01)
    session = int(note.read_text())
    while not all(map(has_ended, members(session))):
        await asyncio.sleep(0.01)
    service.want()
    await running(service)
    assert members(session) == []
    await service.close()


def members(session):
    return [child for child in children(os.getpid()) if os.getsid(child) == session]


def has_ended(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")


@pytest.mark.parametrize("text", ["import time\ntime.sleep(1000)\n", STUBBORN], ids=["quick", "stubborn"])
async def test_nobody_but_the_loop_asks_whether_it_has_ended(tmp_path, monkeypatch, text):
    """Else the loop may be too late: "Unknown child process pid"."""
    monkeypatch.setattr(supervisor, "SHUTDOWN_SECONDS", 0.2)
    asked, poll = [], subprocess.Popen.poll
    service = Service(program(tmp_path, monkeypatch, text), (str(tmp_path / "ready"),))
    service.start()
    service.want()
    pid = await running(service)
    while text is STUBBORN and not (tmp_path / "ready").exists():
        await asyncio.sleep(0.01)
    monkeypatch.setattr(subprocess.Popen, "poll", lambda process: asked.append(process.pid) or poll(process))
    await service.close()
    assert service.pid is None
    assert pid not in asked
    await Service("one that was not started", ()).close()


async def test_the_program_ends_also_if_nobody_keeps_it_running_any_more(tmp_path, monkeypatch, caplog):
    """Whatever made the task fail, ending the server goes on."""
    service = Service(program(tmp_path, monkeypatch, "import time\ntime.sleep(1000)\n"), ())
    service.start()
    service.want()
    pid = await running(service)

    async def fail():
        raise ZeroDivisionError

    service._task.cancel()
    service._task = asyncio.create_task(fail())
    await asyncio.sleep(0)
    await service.close()
    assert service.pid is None
    assert not Path(f"/proc/{pid}").exists()
    assert "was no longer kept running" in caplog.text


class SlowService:
    def __init__(self):
        self.closed = []
        self.may_end = asyncio.Event()

    def start(self):
        pass

    async def close(self):
        self.closed.append("begun")
        await self.may_end.wait()
        self.closed.append("ended")


async def test_they_end_while_the_server_waits_for_its_requests_and_once(directory):
    service = SlowService()
    async with client_of(directory, supervisor=service) as client:
        client.site.end_streams()
        await asyncio.sleep(0)
        assert service.closed == ["begun"]
        service.may_end.set()
    assert service.closed == ["begun", "ended"]
