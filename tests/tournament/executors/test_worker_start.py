import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.base.bot_text import OPERATOR
from arena.base.errors import UsageError
from arena.base.records import MatchRecord, TimeControl
from arena.match.bot_pool import BotPool
from arena.match.players.manifest import load_bot
from arena.sandbox.isolation.launcher import open_launcher
from arena.sandbox.isolation.levels import choose_isolation
from arena.tournament.definition import load_definition
from arena.tournament.executors import worker_start as cores
from arena.tournament.executors.executor import Job, WorkQueue
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.executors.table import InProcessExecutor
from arena.tournament.executors.worker_start import MAX_KILLED_STARTS, CoreLocks, StartedWorkers
from arena.tournament.schedule import schedule, spec_of
from benchmarks import zoo_bots as zoo
from tests.leftovers import own_errors
from tests.matches import small_match

RUN = """
import sys
{at_once}
from arena.base.errors import UsageError
from arena.store.home import ArenaHome
from arena.tournament.definition import load_definition
from arena.tournament.director import run_tournament
{guard}
    with ArenaHome(sys.argv[2]) as home:
        try:
            definition = load_definition(sys.argv[1])
            print(run_tournament(definition, home.store, workers=2{executor}).recorded)
        except UsageError as error:
            print("UsageError:", error)
"""


def run_script(tmp_path, definition, guard="if True:", at_once="", executor=""):
    script = tmp_path / "script.py"
    script.write_text(RUN.format(guard=guard, at_once=at_once, executor=executor))
    command = [sys.executable, str(script), str(definition), str(tmp_path / "home")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.stdout, own_errors(done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local", "dask://local?processes=1"])
def test_a_script_without_the_guard_is_reported(write_definition, tmp_path, executor):
    if executor != "local":
        pytest.importorskip("distributed", reason="needs distributed")
    out, errors = run_script(tmp_path, write_definition(encounters=2), executor=f", executor={executor!r}")
    assert out == (
        f"UsageError: no worker can be started: each imports {tmp_path / 'script.py'} first, which starts the run again"
        '; put what starts the run under: if __name__ == "__main__":\n'
    )
    assert errors == ""


@pytest.mark.slow
def test_a_script_that_can_not_be_imported_again_stops_the_run(write_definition, tmp_path):
    at_once = "if __name__ != '__main__': raise ImportError('of no use here')"
    out, errors = run_script(tmp_path, write_definition(encounters=2), 'if __name__ == "__main__":', at_once)
    assert out.startswith("UsageError: no worker can be started: 3 in a row ended before they were ready, with")
    assert f"(each imports {tmp_path / 'script.py'} first)" in out
    assert errors.count("of no use here") >= 3


def specs_of(path):
    definition = load_definition(path)
    return [spec_of(line, definition) for line in schedule(definition)]


def test_a_machine_without_room_for_a_process_stops_the_run(write_definition, monkeypatch):
    monkeypatch.setattr("arena.tournament.executors.local.START_AGAIN_SECONDS", 0.0)

    def no_room(*_):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with LocalExecutor(Job(workers=1, isolation="limits")) as executor:
        monkeypatch.setattr(executor, "_start_process", no_room)
        with pytest.raises(UsageError, match="no worker can be started: Resource temporarily unavailable"):
            list(executor.run(WorkQueue(specs_of(write_definition()))))


def test_a_machine_that_has_room_again_is_used(write_definition, monkeypatch):
    monkeypatch.setattr("arena.tournament.executors.local.START_AGAIN_SECONDS", 0.0)
    with LocalExecutor(Job(workers=1, isolation="limits")) as executor:
        start, failures = executor._start_process, [BlockingIOError(11, "full"), BlockingIOError(11, "full")]

        def start_later(number):
            if failures:
                raise failures.pop()
            return start(number)

        monkeypatch.setattr(executor, "_start_process", start_later)
        specs = specs_of(write_definition(encounters=1))
        queue, played = WorkQueue(specs), []
        for results in executor.run(queue):
            played += [result.match for result in results]
            for result in results:
                queue.done(result.match)
        assert sorted(played) == [spec.match for spec in specs]


def test_starts_that_fail_or_are_killed_are_counted_in_a_row():
    starts = StartedWorkers()
    for _ in range(5):
        starts.note_end(1)
        starts.note_end(1)
        starts.note_ready()
    starts.note_end(1)
    starts.note_end(1)
    with pytest.raises(UsageError, match=r"3 in a row ended before they were ready, with exit status 1"):
        starts.note_end(1)
    starts.note_ready()
    for _ in range(MAX_KILLED_STARTS - 1):
        starts.note_end(-signal.SIGKILL)
    with pytest.raises(UsageError, match=r"20 in a row were killed .* \(signal 9\); is there too little memory"):
        starts.note_end(-signal.SIGKILL)


@pytest.mark.slow
def test_a_run_inside_a_program_without_a_file_needs_no_guard(write_definition, tmp_path):
    code = RUN.format(guard="if True:", at_once="", executor="")
    command = [sys.executable, "-c", code, str(write_definition(encounters=1)), str(tmp_path / "home")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "2\n"
    assert Path(tmp_path / "home").is_dir()


HERE = [901, 902]
"""Cores that no machine of these tests has, so that other runs on it have not taken them."""


@pytest.fixture
def arenas(monkeypatch):
    monkeypatch.setattr(cores, "available_cores", lambda: HERE)
    with contextlib.ExitStack() as stack:

        def take(workers, each=1):
            locks = stack.enter_context(contextlib.closing(CoreLocks()))
            return locks.take(workers, each), locks.notice

        take.close = stack.close
        yield take


PINNED = [frozenset({core}) for core in HERE]


def test_each_arena_takes_cores_that_no_other_has(arenas):
    assert arenas(1) == (PINNED[:1], "")
    assert arenas(1) == (PINNED[1:], "")
    pinned, notice = arenas(1)
    assert pinned == [None]
    assert notice.startswith("Another arena on this machine plays on cores 901, 902, which this run shares")
    arenas.close()
    assert arenas(2) == (PINNED, "")
    arenas.close()
    assert arenas(1, 2) == ([frozenset(HERE)], "")
    arenas.close()
    assert arenas(3) == ([None] * 3, "")  # they disturb only themselves


def test_too_few_free_cores_are_shared_by_all_workers_and_nobody_else_gets_them(arenas):
    assert arenas(1) == (PINNED[:1], "")
    pinned, notice = arenas(2)
    assert pinned == [None, None]
    assert "on core 901, which" in notice
    assert "cores 901, 902" in arenas(1)[1]


def test_a_worker_is_told_that_it_shares_its_core_and_records_say_so(arenas):
    job = Job(workers=1, isolation="none")
    with LocalExecutor(job) as first, LocalExecutor(job) as second, LocalExecutor(job) as third:
        assert [one.notice for one in (first, second)] == ["", ""]
        assert third.notice
        told = [(one._settings[0].cores, one._settings[0].shares_cores) for one in (first, second, third)]
    assert told == [(PINNED[0], False), (PINNED[1], False), (None, True)]
    bots = [load_bot(zoo.honest_bot(f"honest_{name}")) for name in "ab"]
    match = small_match(*bots, time_control=TimeControl(per_action_seconds=20.0, startup_seconds=20.0))
    for shares_cores in (False, True):
        with BotPool(choose_isolation("auto"), shares_cores=shares_cores) as pool:
            stored = json.loads(json.dumps(pool.play(match).to_json(OPERATOR)))
        assert stored.get("shares_cores") == (True if shares_cores else None)
        assert MatchRecord.from_json(stored).shares_cores == shares_cores


def test_matches_in_this_process_are_kept_to_cores_and_nothing_is_afterwards(monkeypatch):
    before = os.sched_getaffinity(0)
    core = frozenset({max(before)})
    monkeypatch.setattr(CoreLocks, "take", lambda _, workers, each: [core])
    server = open_launcher().pid
    with InProcessExecutor(Job()):
        assert os.sched_getaffinity(0) == os.sched_getaffinity(server) == core  # the server starts the bots
    assert os.sched_getaffinity(0) == os.sched_getaffinity(server) == before
