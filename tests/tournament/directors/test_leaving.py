"""How a program waits that supervises a tournament: it wakes when it is to end, and not before its time."""

import os
import signal
import threading

import pytest

from arena.tournament.directors import supervised_run as module
from arena.tournament.directors.supervised_run import Leaving

LONG_SECONDS = 1_000_000.0


@pytest.fixture
def leaving():
    """One that hears SIGTERM."""
    before = signal.getsignal(signal.SIGTERM)
    leaving = Leaving()
    leaving.on_sigterm(LONG_SECONDS)
    yield leaving
    signal.signal(signal.SIGTERM, before)
    for descriptor in leaving._pipe:
        os.close(descriptor)


class Polls:
    """In place of ``select.poll``: the signal comes while it waits.

    Attributes:
        milliseconds: for how long it was to wait, each time.
    """

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


def test_a_long_wait_is_one_and_ends_with_the_signal(leaving, monkeypatch):
    polls = Polls(module.select.poll, monkeypatch)
    leaving.sleep(LONG_SECONDS)
    assert leaving.is_asked
    assert polls.milliseconds == [1000 * LONG_SECONDS]


def test_who_is_to_end_does_not_wait(leaving):
    os.kill(os.getpid(), signal.SIGTERM)
    leaving.sleep(LONG_SECONDS)
    asked = Leaving()
    asked.is_asked = True
    asked.sleep(LONG_SECONDS)
    leaving.sleep(-1.0)
