"""A program continues when what it needs was away, and does not fill its log meanwhile."""

import logging
import os
import subprocess
import sys

import pytest

from arena.errors import DatabaseError, UsageError
from arena.service_program import AWAY_SECONDS, STEADY_SECONDS, TerminatedError, keep_trying

LOG = logging.getLogger("arena.test")


class Note:
    """What a program has noted, in order; nothing for well."""

    def __init__(self):
        self.sentences = []

    def say(self, sentence):
        self.sentences.append(sentence)

    def clear(self):
        self.sentences.append("")


class Program:
    """Raises one thing after the other, each after some seconds of work."""

    def __init__(self, *ends, note=None):
        self.ends, self.note = list(ends), note or Note()
        self.seconds = 0.0
        self.sleeps = []

    def work(self):
        seconds, error = self.ends.pop(0)
        self.seconds += seconds
        if error is not None:
            raise error

    def sleep(self, seconds):
        self.sleeps.append(seconds)

    def run(self, caplog):
        keep_trying(
            self.work,
            LOG,
            "nothing is done now",
            self.note,
            is_over=lambda: not self.ends,
            sleep=self.sleep,
            now=lambda: self.seconds,
        )
        return [record.getMessage() for record in caplog.records]


def test_each_reason_is_logged_once(caplog):
    away, other = DatabaseError("it is away"), UsageError("no such file")
    program = Program((0, away), (1, away), (1, other), (1, away), (0, None))
    assert program.run(caplog) == [
        "nothing is done now: it is away",
        "nothing is done now: no such file",
        "nothing is done now: it is away",
    ]
    assert program.sleeps == [AWAY_SECONDS] * 4


def test_a_reason_is_logged_again_after_the_program_has_worked(caplog):
    away = DatabaseError("it is away")
    program = Program((0, away), (STEADY_SECONDS + 1, away), (0, None))
    assert len(program.run(caplog)) == 2


def test_a_defect_ends_the_program_and_is_noted(caplog):
    program = Program((0, ZeroDivisionError("secret")))
    with pytest.raises(ZeroDivisionError):
        program.run(caplog)
    assert program.note.sentences == [
        "nothing is done now, by a defect of the arena that the log has: ZeroDivisionError"
    ]


def test_why_nothing_is_done_is_noted_until_the_program_is_to_end(caplog):
    program = Program((0, DatabaseError("it is away")), (0, None))
    program.run(caplog)
    assert program.note.sentences == ["nothing is done now: it is away", ""]
    ended = Program((0, TerminatedError()))
    with pytest.raises(TerminatedError):
        ended.run(caplog)
    assert ended.note.sentences == [""]


ENDS_NOW = """
import atexit, sys, tempfile
from arena.service_program import end_now

class Module:
    def __del__(self):
        print("taken apart")

module = Module()
kept = tempfile.TemporaryDirectory(dir=sys.argv[1])
atexit.register(print, "at exit")
print("worked")
end_now(7)
"""


@pytest.mark.processes
def test_it_does_what_is_to_be_done_at_its_end_and_is_not_taken_apart(tmp_path):
    done = subprocess.run([sys.executable, "-c", ENDS_NOW, tmp_path], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (7, "worked\nat exit\n", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.processes
def test_it_ends_quietly_though_nobody_reads_what_it_says():
    with subprocess.Popen(
        [sys.executable, "-c", "from arena.service_program import end_now\ninput()\nprint('worked')\nend_now(3)"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    ) as program:
        program.stdout.close()
        program.stdin.write(b"\n")
        program.stdin.close()
        assert (program.wait(60), program.stderr.read()) == (3, b"")


TERMINATED_AGAIN = """
import atexit, os, signal
from arena.service_program import ALONE, service_program
atexit.register(os.kill, os.getpid(), signal.SIGTERM)
with service_program(ALONE, 0):
    os.kill(os.getpid(), signal.SIGTERM)
"""


@pytest.mark.processes
def test_a_second_sigterm_while_it_ends_is_no_traceback():
    done = subprocess.run([sys.executable, "-c", TERMINATED_AGAIN], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


TERMINATED_IN_A_CALLBACK = """
import os, signal, threading, weakref
from arena.service_program import ALONE, service_program

class Thing:
    pass

with service_program(ALONE, 0):
    thing = Thing()
    reference = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGTERM))
    del thing
    threading.Event().wait()
"""


@pytest.mark.processes
def test_sigterm_ends_it_wherever_it_comes():
    done = subprocess.run([sys.executable, "-c", TERMINATED_IN_A_CALLBACK], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
