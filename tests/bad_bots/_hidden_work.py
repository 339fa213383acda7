"""Work by processes that live for a few milliseconds and that nobody waits for; how much of it was done off turn."""

import contextlib
import ctypes
import mmap
import os
import signal
import struct
import tempfile
import time

from _wire import answer, send

LIFE_SECONDS = 0.004
PR_SET_CHILD_SUBREAPER = 36
SLOTS = 64
with tempfile.TemporaryFile() as file:  # shared by all that is forked: the CPU seconds of each slot
    file.truncate(8 * SLOTS)
    _done = mmap.mmap(file.fileno(), 8 * SLOTS)


def burn(slot, seconds):
    """Work, and note in a slot of one's own that it has been done."""
    began = time.process_time()
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass
    done = struct.unpack_from("d", _done, 8 * slot)[0] + time.process_time() - began
    struct.pack_into("d", _done, 8 * slot, done)


def work_done():
    """Return the CPU seconds of all slots."""
    return sum(struct.unpack(f"{SLOTS}d", _done[:]))


def work_for_ever(slot):
    while True:
        burn(slot, LIFE_SECONDS)


def start_children(number):
    """Start children that work for ever."""
    for slot in range(number):
        if os.fork() == 0:
            work_for_ever(slot)


def start_chains(number):
    """Start chains, in which every process starts its successor and ends.

    They are below a process that ignores the ends of its children and, if it may, adopts orphans.
    """
    if os.fork():
        return
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for slot in range(number):
        if os.fork() == 0:
            while True:
                burn(slot % SLOTS, LIFE_SECONDS)
                if os.fork():
                    os._exit(0)
    while True:
        time.sleep(1000)


def start_short_lived_children(number):
    """Start processes that ignore the ends of their children and have one work after another."""
    for slot in range(number):
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            while True:
                if os.fork() == 0:
                    burn(slot, LIFE_SECONDS)
                    os._exit(0)
                with contextlib.suppress(ChildProcessError):
                    os.wait()  # returns, with an error, when there is no child any more


class OffTurn:
    """Says in the note of each answer whether more than a third of the time since the last one was worked."""

    def __init__(self):
        self._began, self._done = time.perf_counter(), work_done()

    def answer(self, message):
        """Answer, after a look at what has been done since the last answer."""
        seconds, done = time.perf_counter() - self._began, work_done() - self._done
        held = done < 0.1 + seconds / 10
        send(answer(message, note=f"{'held' if held else 'got through'}: {done:.2f} s of work in {seconds:.2f} s"))
        self._began, self._done = time.perf_counter(), work_done()
