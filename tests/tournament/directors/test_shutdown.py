"""How a program waits that supervises a tournament: it wakes when it is to end, and not before its time."""

import os
import signal
import threading

import pytest

from arena.tournament.directors import supervised_run as module
from arena.tournament.directors.supervised_run import Shutdown

LONG_SECONDS = 1_000_000.0


@pytest.fixture
def shutdown():
    before = signal.getsignal(signal.SIGTERM)
    shutdown = Shutdown()
    shutdown.on_sigterm(LONG_SECONDS)
    yield shutdown
    signal.signal(signal.SIGTERM, before)
    for descriptor in shutdown._pipe:
        os.close(descriptor)


class Polls:
    def __init__(self, real, monkeypatch):
        self.real, self.milliseconds = real, []
        monkeypatch.setattr(module.select, "poll", self)

    def __call__(self):
        self.one = self.real()
        return self

    def register(self, *given):
        self.one.register(*given)

    def poll(self, milliseconds):
        self.milliseconds.append(milliseconds)
        threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGTERM)).start()
        return self.one.poll(milliseconds)


def test_a_long_wait_is_one_and_ends_with_the_signal(shutdown, monkeypatch):
    polls = Polls(module.select.poll, monkeypatch)
    shutdown.sleep(LONG_SECONDS)
    assert shutdown.is_asked
    assert polls.milliseconds == [1000 * LONG_SECONDS]


def test_who_is_to_end_does_not_wait(shutdown):
    os.kill(os.getpid(), signal.SIGTERM)
    shutdown.sleep(LONG_SECONDS)
    asked = Shutdown()
    asked.is_asked = True
    asked.sleep(LONG_SECONDS)
    shutdown.sleep(-1.0)
