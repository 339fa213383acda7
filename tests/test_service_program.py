"""A program continues when what it needs was away, and does not fill its log meanwhile."""

import logging
import subprocess
import sys

import pytest

from arena.errors import DatabaseError, UsageError
from arena.service_program import AWAY_SECONDS, STEADY_SECONDS, keep_trying

LOG = logging.getLogger("arena.test")


class Program:
    """Raises one thing after the other, each after some seconds of work."""

    def __init__(self, *ends):
        self.ends = list(ends)
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


def test_a_defect_ends_the_program(caplog):
    with pytest.raises(ZeroDivisionError):
        Program((0, ZeroDivisionError())).run(caplog)


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
