"""A correction whose process is killed, and corrections that several processes make at the same time."""

import signal
import subprocess
import sys

import pytest

from arena.analysis.measures.verification import verify
from arena.store.home import ArenaHome
from arena.tournament.corrections.entrants import disqualify
from tests.tournament.corrections.contest import contest, play, records, tabled, write_bots

pytestmark = pytest.mark.slow

KILLED = """
import os, signal, sys
from arena.tournament.corrections.entrants import disqualify
from arena.store.home import ArenaHome
from arena.store.results import correction_log

directory, url = sys.argv[1:]
correction_log._update = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # the last step of the transaction
with ArenaHome(directory, store=url or None) as home:
    disqualify(home.store, "t", "bob", reason="copied")
"""

VOIDING = """
import sys
from arena.base.errors import StoreError
from arena.store.home import ArenaHome
from arena.tournament.corrections.corrected_tournament import void_matches

directory, url, *matches = sys.argv[1:]
with ArenaHome(directory, store=url or None) as home:
    print("ready", flush=True)
    sys.stdin.readline()
    for match in map(int, matches):
        try:
            print(match, void_matches(home.store, "t", [match], reason="the power failed").number)
        except StoreError as error:
            print(match, error)
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request):
    return "" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.fixture
def played(url, tmp_path):
    with ArenaHome(tmp_path / "home", store=url or None) as home:
        play(home, contest(write_bots(tmp_path / "bots", ("ann", "bob", "cid", "dan"))))
        yield home


def started(program, home, url, *arguments):
    command = [sys.executable, "-c", program, str(home.directory), url, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow(sample=True)
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_correction_that_is_killed_has_not_happened_and_can_be_repeated(played, url):
    before, table = records(played), tabled(played)
    killed = started(KILLED, played, url)
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    stored = played.store.tournament("t")
    assert (stored.corrections, stored.recorded, stored.scheduled) == ((), 12, 12)
    assert (records(played), tabled(played)) == (before, table)
    assert verify(played, stored) == (12, [])
    assert disqualify(played.store, "t", "bob", reason="copied").number == 1
    assert verify(played, played.store.tournament("t")) == (6, [])


def test_corrections_of_two_processes_happen_one_after_the_other_or_are_refused(played, url):
    voiding = [started(VOIDING, played, url, *range(first, 13, 2)) for first in (1, 2)]
    for process in voiding:
        assert process.stdout.readline() == "ready\n"
    for process in voiding:
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [line.split(" ", 1) for process in voiding for line in process.communicate(timeout=60)[0].splitlines()]
    assert len(answers) == 12
    made = {int(match): int(text) for match, text in answers if text.isdigit()}
    refused = {text for _, text in answers if not text.isdigit()}
    assert all(text.startswith("tournament 't' is being run by another director") for text in refused), refused
    stored = played.store.tournament("t")
    assert [c.number for c in stored.corrections] == sorted(made.values()) == list(range(1, len(made) + 1))
    assert {c.number: c.details.matches for c in stored.corrections} == {made[match]: (match,) for match in made}
    assert set(records(played)) == set(range(1, 13)) - set(made)
    assert verify(played, stored).problems == []
