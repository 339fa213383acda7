import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from unittest.mock import Mock

import pytest

from arena.base.bot_text import OPERATOR
from arena.base.errors import BotDefinitionError, UsageError
from arena.base.records import Bot, MatchRecord, MatchSpec, TimeControl
from arena.cli.group import run
from arena.match.bot_pool import BotPool
from arena.match.players.manifest import BUILD_DIRECTORY, load_bot
from arena.sandbox.isolation.launcher import open_launcher
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.removal import remove_tree
from arena.tournament.definition import load_definition
from arena.tournament.executors import worker_start as cores
from arena.tournament.executors.dask_worker import pack_bot, unpack_bot
from arena.tournament.executors.executor import Job, WorkQueue
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.executors.table import InProcessExecutor, open_executor
from arena.tournament.executors.worker_start import MAX_KILLED_STARTS, CoreLocks, StartedWorkers
from arena.tournament.schedule import schedule, spec_of
from benchmarks import zoo_bots as zoo
from tests.cli.calls import calling, refusal
from tests.conftest import BOTS
from tests.leftovers import own_errors
from tests.matches import small_match

RUN = """
import sys
from unittest.mock import Mock
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
    with LocalExecutor(Job(workers=1, isolation="limits")) as executor:
        no_room = Mock(side_effect=BlockingIOError(11, "Resource temporarily unavailable"))
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
    assert subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout == "2\n"
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


JOB = Job(isolation="none", workers=1)
FORMS = ("local", "in-process", "dask://HOST:PORT", "dask://local?processes=N")


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("dask://10.0.0.1:8786", "tcp://10.0.0.1:8786"),
        ("dask+tls://host.example:8786", "tls://host.example:8786"),
        ("dask+tcp://[::1]:8786", "tcp://[::1]:8786"),
        ("dask://local", None),
        ("dask://local?processes=3", None),
    ],
)
def test_a_dask_url_names_a_scheduler_or_this_machine(url, address):
    pytest.importorskip("distributed", reason="needs distributed")
    executor = open_executor(url, JOB)
    assert executor._address == address
    if "=" in url:
        assert executor._processes == 3


REFUSED = """Local local:2 local?workers=2 in-process://x slurm://host dask dask:// dask:host:8786 dask://host:0 dask://host:-1
dask://host:99999 dask://[::1 dask://:8786 dask://local?processes=0 dask://local?processes=two dask://local?workers=2
dask://host:8786?processes=2"""


@pytest.mark.parametrize("url", ["", "dask://host:8786\n", *REFUSED.split()])
def test_another_url_is_refused_with_what_is_accepted(url):
    with pytest.raises(UsageError) as refused:
        open_executor(url, JOB)
    start, _, expected = str(refused.value).partition(" expected ")
    assert start == f"executor {url!r}:"
    assert set(FORMS) <= set(expected.replace(" or ", ", ").split(", "))


@pytest.mark.parametrize(
    ("options", "errors"),
    [
        (["--executor", "slurm://host"], "executor 'slurm://host': expected local, in-process, "),
        (["--cluster", "tcp://x:1", "--local-cluster", "2"], "--cluster tcp://x:1 and --local-cluster 2: expected"),
        (["--executor", "local", "--cluster", "tcp://x:1"], "--executor local and --cluster tcp://x:1: expected"),
    ],
)
def test_the_command_line_takes_one_executor_that_there_is(write_definition, tmp_path, capsys, options, errors):
    assert refusal(calling(tmp_path / "h", capsys), "run", write_definition(), *options).startswith(errors)


def test_the_command_line_plays_with_the_executor_named(write_definition, tmp_path):
    options = ["run", str(write_definition(isolation='"none"')), "-q", "--executor", "in-process"]
    assert run(["--home", str(tmp_path / "h"), *options]) == 0
    assert "worker" not in (tmp_path / "h" / "logs" / "t.log").read_text()


def match(number):
    return MatchSpec(match=number, tournament="t", game="differences", options={}, bots=(), rng_seed=0)


def test_a_queue_is_finished_when_every_match_is_settled():
    queue = WorkQueue([match(1), match(2)])
    assert not queue.is_finished()
    assert (queue.take(), queue.take(), queue.take()) == (match(1), match(2), None)
    queue.done(2)
    queue.requeue(match(1))
    assert not queue.is_finished()
    assert queue.take() == match(1)
    queue.done(1)
    assert queue.is_finished()


def test_an_endless_schedule_is_read_one_match_at_a_time_and_a_requeued_match_comes_before_its_rest():
    schedule = map(match, count(1))
    queue = WorkQueue(schedule)
    assert [queue.take().match for _ in range(3)] == [1, 2, 3]
    assert next(schedule) == match(4)
    queue.requeue(match(2))
    assert [queue.take().match for _ in range(3)] == [2, 5, 6]
    assert not queue.is_finished()


@pytest.mark.parametrize("settle", [lambda queue: queue.done(1), lambda queue: queue.requeue(match(1))])
def test_a_match_is_settled_only_while_it_is_taken(settle):
    queue = WorkQueue([match(1)])
    with pytest.raises(KeyError):
        settle(queue)
    queue.take()
    queue.done(1)
    with pytest.raises(KeyError):
        settle(queue)


def test_a_bot_travels_with_its_files_and_runs_there(tmp_path):
    bot = load_bot(BOTS / "mcts", ["--rollouts", "7"])
    there = unpack_bot(pack_bot(bot), tmp_path)
    assert there.directory != bot.directory
    assert there.command[0] == sys.executable
    assert there.command[-2:] == ("--rollouts", "7")
    assert load_bot(tmp_path / there.directory).digest == bot.digest
    single = unpack_bot(pack_bot(load_bot(BOTS / "greedy" / "bot.py")), tmp_path)
    assert single.command[1] == single.own_files[0] == f"{single.directory}/bot.py"
    before = time.time()
    assert unpack_bot(pack_bot(bot), tmp_path) == there
    assert time.time() - before < 60


def test_a_bot_too_large_for_an_archive_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr("arena.tournament.executors.dask_worker.MAX_BYTES", 10)
    with pytest.raises(UsageError, match=r"bot 'greedy@1': 0 MiB of files; a cluster takes 0"):
        pack_bot(load_bot(BOTS / "greedy"))


def test_what_a_build_can_not_have_made_is_refused_however_deep_it_lies(tmp_path):
    deep = tmp_path / BUILD_DIRECTORY / Path(*["d"] * 1200)  # deeper than Python recurses
    subprocess.run(["mkdir", "-p", str(deep)], check=True)
    (deep / "program").write_text("x")
    bot = Bot(name="deep", version="1", command=("./program",), directory=str(tmp_path), build=("make",))
    try:
        with pytest.raises(BotDefinitionError, match="directories more than 64 deep"):
            pack_bot(bot)
    finally:
        remove_tree(str(tmp_path / BUILD_DIRECTORY), 60.0)  # pytest would recurse
