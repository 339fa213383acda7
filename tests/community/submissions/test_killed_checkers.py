"""Checkers are killed at random moments while authors submit: nothing is lost, nothing is decided or listed twice."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from arena.store.people.secret import new_secret
from arena.store.people.submissions import MAX_WAITING
from arena.store.people.values import FINAL, SubmissionState
from benchmarks.traces import traces, traces_since
from tests import needs
from tests.community.submissions.test_checker import BROKEN, GOOD, Arena

pytestmark = pytest.mark.soak

KILLS = 20
SUBMISSIONS = 12


def decided(arena):
    return [one for one in arena.people.submissions.latest() if one.state in FINAL]


def test_twenty_killed_checkers(tmp_path):
    needs.contained_uploads()
    rng = random.Random(1)
    directory = tmp_path / "home"
    before = traces()
    arena = Arena(directory)
    arena.now.seconds = time.time()
    command = [sys.executable, "-m", "arena.community.submissions.checker_program", str(os.getpid()), str(directory)]
    submitted = killed = 0
    while killed < KILLS or len(decided(arena)) < SUBMISSIONS:
        checker = subprocess.Popen(command)
        if submitted < SUBMISSIONS and len(arena.people.submissions.unfinished()) < MAX_WAITING:
            good = submitted % 3 > 0
            data = (GOOD if good else BROKEN) + f"# {new_secret()}\n".encode()
            arena.submit_bot(data, f"bot{submitted}x.py", author=("ada", "eve")[submitted % 2])
            submitted += 1
        if killed < KILLS:
            time.sleep(rng.uniform(0.3, 4.0))  # at any moment of its work
            checker.send_signal(signal.SIGKILL)
            killed += 1
        else:
            while len(decided(arena)) < submitted:
                time.sleep(0.05)
            checker.terminate()
        checker.wait()
    everything = [arena.people.submissions.find(one.number) for one in arena.people.submissions.latest()]
    assert len(everything) == SUBMISSIONS
    accepted = [one for one in everything if one.state is SubmissionState.ACCEPTED]
    assert sorted(one.bot for one in accepted) == sorted(arena.bots())
    for one in everything:
        number = int(one.file_name[3:-4])
        expected = SubmissionState.ACCEPTED if number % 3 > 0 else SubmissionState.REJECTED
        assert one.state in (expected, SubmissionState.FAILED)
    arena.store.home.close()
    arena.people.close()
    assert not list((directory / "uploads").glob("checking-*"))
    assert not traces_since(before)
