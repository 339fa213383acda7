import json
import os
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from arena.base.bot_text import OPERATOR
from arena.base.records import TimeControl
from arena.games import make_game
from arena.match.bot_pool import BotPool
from arena.match.players.manifest import load_bot
from arena.sandbox.isolation import reaper
from arena.sandbox.isolation.levels import choose_isolation
from arena.tournament import director
from arena.tournament.definition import load_definition
from arena.tournament.executors.executor import Job, Played, Void, WorkQueue
from arena.tournament.executors.table import EXECUTORS, InProcessExecutor, open_executor
from benchmarks.zoo_bots import bad_bot
from tests.conftest import BOTS
from tests.leftovers import no_process_left, wait_for_the_end_of
from tests.matches import small_match

LEVEL = "limits"
OPTIONS = make_game("differences", size=4).options
PATIENT = TimeControl(per_action_seconds=20.0)
"""On a busy machine nobody forfeits by time."""
MAX_READ_AHEAD = 512
"""Matches that two workers may hold together."""

UNCLOSED_SOCKETS_OF_DASK = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]
"""The package leaves sockets and event loops to the garbage collector when workers are killed."""

URLS = [
    pytest.param(kind.example, id=name, marks=UNCLOSED_SOCKETS_OF_DASK if name == "dask" else ())
    for name, kind in EXECUTORS.items()
]


def skip_without_its_packages(url):
    if url.startswith("dask"):
        pytest.importorskip("distributed", reason="needs distributed")


@pytest.fixture(params=URLS)
def url(request):
    skip_without_its_packages(request.param)
    return request.param


@pytest.fixture(scope="module")
def bots():
    return [load_bot(BOTS / "minimal"), load_bot(BOTS / "random_legal"), load_bot(bad_bot("slow_but_good"))]


@pytest.fixture(scope="module")
def job(bots):
    return Job(bots=tuple(bots), isolation=LEVEL, workers=2)


@pytest.fixture(scope="module", params=URLS)
def executor(request, job):
    """An executor that is entered once: each test gives it another queue, as each round of a tournament does."""
    skip_without_its_packages(request.param)
    with open_executor(request.param, job) as opened:
        yield opened


def is_dask(executor):
    return type(executor).__name__ == "DaskExecutor"  # whose module needs a package


def spec_of(bots, number, game="differences"):
    seated = (bots[number % 2], bots[1 - number % 2])
    return small_match(*seated, match=number, game=game, rng_seed=number, options=OPTIONS, time_control=PATIENT)


def played(executor, queue):
    records = {}
    for results in executor.run(queue):
        for result in results:
            assert isinstance(result, Played), result
            assert result.match not in records
            records[result.match] = json.loads(result.row.record)
            queue.done(result.match)
    return records


def without_clocks(record):
    """Leave out times, and whether other arenas of this machine, such as those of other tests, had the cores too."""
    clocks = ("wall_seconds", "cpu_seconds", "seats", "started_at", "shares_cores")
    return {name: value for name, value in record.items() if name not in clocks}


@pytest.fixture(scope="module")
def alone(bots):
    specs = [spec_of(bots, number) for number in range(1, 13)]
    with BotPool(choose_isolation(LEVEL)) as pool:
        return specs, {spec.match: json.loads(json.dumps(pool.play(spec).to_json(OPERATOR))) for spec in specs}


@pytest.mark.slow
def test_each_match_comes_back_once_as_it_would_be_played_alone(executor, alone):
    specs, expected = alone
    found = played(executor, WorkQueue(specs))
    assert {number: without_clocks(record) for number, record in found.items()} == {
        number: without_clocks(record) for number, record in expected.items()
    }


def test_nothing_is_played_of_an_empty_queue(executor):
    assert played(executor, WorkQueue([])) == {}


def test_a_void_match_comes_back_with_the_reason_and_is_played_when_it_is_requeued(executor, bots):
    queue = WorkQueue([spec_of(bots, 1), spec_of(bots, 2, game="no_such_game"), spec_of(bots, 3)])
    voids, recorded = [], []
    for results in executor.run(queue):
        for result in results:
            if isinstance(result, Void):
                voids.append(result)
                queue.requeue(spec_of(bots, 2))
            else:
                recorded.append(result.match)
                queue.done(result.match)
    assert [void.spec for void in voids] == [spec_of(bots, 2, game="no_such_game")]
    assert "no_such_game" in voids[0].reason
    assert sorted(recorded) == [1, 2, 3]


def test_an_empty_list_comes_while_a_match_takes_long(executor, bots):
    """Only an executor that plays in this process can't send one."""
    queue = WorkQueue([spec_of([bots[2], bots[0]], 1)])
    lists = []
    for results in executor.run(queue):
        lists.append(results)
        for result in results:
            queue.done(result.match)
    assert ([] in lists) == (not isinstance(executor, InProcessExecutor))


def test_a_watched_match_is_seen_while_it_is_played(executor, bots):
    """Only on other machines it is not. In this process it is seen in the middle of ``run``."""
    seen, records = [], {}
    executor.watch(frozenset({2, 77}))
    executor.meanwhile = lambda: seen.extend(executor.live_matches())
    queue = WorkQueue([spec_of([bots[2], bots[0]], number) for number in (1, 2, 3)])
    for results in executor.run(queue):
        seen += executor.live_matches()
        for result in results:
            records[result.match] = json.loads(result.row.record)
            queue.done(result.match)
    executor.watch(frozenset())
    executor.meanwhile = None
    assert {live.match for live in seen} == (set() if is_dask(executor) else {2})
    for live in seen:
        stored = json.loads(json.dumps(live.to_json()))
        assert stored["actions"] == records[2]["actions"][: len(live.actions)]
        assert stored["wall_seconds"] == records[2]["wall_seconds"][: len(live.actions)]
        assert stored["started_at"] == records[2]["started_at"]
    plies = [len(live.actions) for live in seen]
    assert plies == sorted(plies)


def test_it_says_which_matches_are_played(executor, bots):
    """Where that is known: not on other machines."""
    seen = []
    executor.meanwhile = lambda: seen.extend(executor.playing())
    executor.watch(frozenset({1, 2}))  # or a quick match may be over before it is looked at again
    queue = WorkQueue([spec_of([bots[2], bots[0]], number) for number in (1, 2)])
    began = time.time()
    for results in executor.run(queue):
        seen += executor.playing()
        for result in results:
            queue.done(result.match)
    executor.meanwhile = None
    assert {playing.match for playing in seen} == (set() if is_dask(executor) else {1, 2})
    assert all(began <= playing.since <= time.time() for playing in seen)
    assert executor.playing() == []


@pytest.mark.slow
def test_an_endless_queue_is_read_as_far_as_can_be_played_soon(url, job, bots):
    read, done = count(1), 0
    queue = WorkQueue(spec_of(bots, number) for number in read)
    with open_executor(url, job) as executor:
        for results in executor.run(queue):
            for result in results:
                queue.done(result.match)
            done += len(results)
            if done >= 40:
                break
    assert next(read) - 1 <= done + MAX_READ_AHEAD


@pytest.mark.slow(only=("dask", "local"))
def test_an_exception_in_the_middle_of_a_run_leaves_no_process(url, job, bots):
    queue = WorkQueue(spec_of(bots, number) for number in count(1))
    with no_process_left(), pytest.raises(KeyboardInterrupt), open_executor(url, job) as executor:
        for results in executor.run(queue):
            if results:
                raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("url", [url for url in URLS if url.id != "in-process"], indirect=True)
def test_ctrl_c_stops_cleanly_and_says_how_to_resume(url, write_definition, tmp_path):
    path = write_definition(bots=("minimal", "random_legal", "greedy"), encounters=4000)  # many seconds' worth
    command = [sys.executable, "-m", "arena", "run", str(path), "--executor", url, "--home", str(tmp_path / "h")]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where tests run in the background
    ) as run:
        assert "matches" in run.stderr.readline()
        while not (started := reaper.descendants(run.pid)):
            assert run.poll() is None
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "matches recorded. To resume: arena run" in errors
    assert "Traceback" not in errors
    assert started
    wait_for_the_end_of(started)


INTERRUPTED_AT_AN_INSTANT = """
import os, signal, sys
from multiprocessing import util

instant, number = sys.argv.pop(1), int(sys.argv.pop(1))
start = util.spawnv_passfds

def start_interrupted(path, arguments, passed):
    # Interrupt the start of a worker, which learns what it is to do from a pipe that is written behind this.
    global number
    if any("multiprocessing.resource_tracker" in os.fsdecode(argument) for argument in arguments):
        return start(path, arguments, passed)
    number -= 1
    if number == 0 and instant == "before":
        signal.raise_signal(signal.SIGINT)
    process = start(path, arguments, passed)
    if number == 0 and instant == "terminal":
        os.kill(process, signal.SIGINT)
    if number == 0 and instant != "before":
        signal.raise_signal(signal.SIGINT)
    return process

util.spawnv_passfds = start_interrupted
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
from arena.cli.group import run
sys.exit(run())
"""


@pytest.mark.slow(sample=("before-1",))
@pytest.mark.parametrize(("instant", "number"), [("before", 1), ("after", 2), ("terminal", 1)])
def test_ctrl_c_while_a_worker_starts_stops_cleanly(write_definition, tmp_path, instant, number):
    """Before there is the worker's process, and before it has been told what to do; a terminal interrupts both."""
    path = write_definition(bots=("minimal", "random_legal", "greedy"), encounters=40)
    arguments = ["run", str(path), "--executor", "local", "--workers", "2", "--home", str(tmp_path / "h")]
    command = [sys.executable, "-c", INTERRUPTED_AT_AN_INSTANT, instant, str(number), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 130
    assert "matches recorded. To resume: arena run" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_mistake_of_a_game_is_met_once_and_the_rest_is_recorded(url, home, tmp_path, monkeypatch):
    """A match that a wrong game ends would end in the same way again; the matches of another game are played."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "wrong_counting.py").write_text((Path(__file__).parents[2] / "mistaken_games.py").read_text())
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    definition = tmp_path / "t.toml"
    definition.write_text(
        f'games = [{{ game = "differences", options = {{ size = 4 }} }}, {{ game = "wrong_counting:ApplyRaises" }}]\n'
        f'opening_plies = 0\nisolation = "{LEVEL}"\nworkers = 2\n'
        f'[[entrants]]\nbot = "{BOTS}/minimal"\n[[entrants]]\nbot = "{BOTS}/minimal"\nname = "again"\n'
    )
    progress = director.run_tournament(load_definition(definition), home.store, executor=url)
    tournament = home.store.tournament("t")
    assert (progress.recorded, progress.is_complete, progress.given_up) == (2, False, {})
    assert sorted(progress.game_errors) == [3, 4]
    (mistake,) = {str(error) for error in progress.game_errors.values()}
    assert mistake.startswith("the game 'wrong_counting:ApplyRaises' is at fault: apply raised KeyError: 1 (wrong_")
    assert sorted(home.store.void_tries(tournament)) == [(3, mistake), (4, mistake)]
    assert home.store.reasons_without_result(tournament) == {3: mistake, 4: mistake}
    assert [record.match for record in home.store.records(tournament)] == [1, 2]
