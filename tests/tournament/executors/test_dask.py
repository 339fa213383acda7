import contextlib
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from arena.analysis.measures.standings_cache import standings_of
from arena.base.bot_text import OPERATOR
from arena.base.errors import ClusterError, UsageError
from arena.base.records import MatchSpec
from arena.store.home import ArenaHome
from arena.tournament.definition import load_definition
from arena.tournament.director import run_tournament
from arena.tournament.executors.executor import Job, Void

pytest.importorskip("distributed", reason="needs distributed")

from arena.tournament.executors import dask
from arena.tournament.executors.dask import DaskExecutor
from arena.tournament.executors.dask_worker import DaskWorker, DaskWorkerSettings
from tests.tournament.executors.test_conformance import UNCLOSED_SOCKETS_OF_DASK, without_clocks

pytestmark = UNCLOSED_SOCKETS_OF_DASK
NAMES = ("minimal", "random_legal", "greedy")


def job_of(definition):
    return Job(bots=definition.entrants, isolation=definition.isolation, limits=definition.limits)


def records_of(home):
    return [without_clocks(record.to_json(OPERATOR)) | {"isolation": None} for record in home.store.records("t")]


def table_of(home):
    return [(line.bot, line.rating, line.points, line.matches) for line in standings_of(home.store, "t").lines]


def played_locally(definition, tmp_path):
    with ArenaHome(tmp_path / "calm") as home:
        run_tournament(definition, home.store, workers=2)
        return records_of(home), table_of(home)


@pytest.mark.soak
def test_killed_and_frozen_workers_cost_no_match_and_change_nothing(write_definition, home, tmp_path):
    """Four worker processes; two are killed and one is frozen in mid-tournament."""
    definition = load_definition(write_definition(bots=NAMES, encounters=120))
    executor = DaskExecutor(job_of(definition), processes=4, frozen_seconds=3)
    events = [(100, signal.SIGKILL), (250, signal.SIGSTOP), (400, signal.SIGKILL)]
    pids = []

    def strike(progress):
        if not pids:
            pids.extend(executor._client.run(os.getpid).values())
        if events and progress.recorded >= events[0][0]:
            os.kill(pids[len(events)], events.pop(0)[1])

    progress = run_tournament(definition, home.store, executor=executor, listener=strike)
    assert not events
    assert progress.is_complete
    assert progress.given_up == {}
    stormy = records_of(home), table_of(home)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pids[2], signal.SIGKILL)
    assert [line["match"] for line in stormy[0]] == list(range(1, 721))
    assert stormy == played_locally(definition, tmp_path)


@pytest.mark.slow
def test_a_tournament_that_plays_until_it_is_decided_is_the_same_as_on_one_machine(write_definition, home, tmp_path):
    until = "[until]\nmin_encounters = 3\nmax_matches = 40\n"
    definition = load_definition(write_definition(until, bots=NAMES, options="{ size = 4 }"))
    executor = DaskExecutor(job_of(definition), processes=2)
    assert run_tournament(definition, home.store, executor=executor).is_complete
    assert (records_of(home), table_of(home)) == played_locally(definition, tmp_path)


@contextlib.contextmanager
def cluster(port):
    address = f"tcp://127.0.0.1:{port}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    program = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", str(port), "--no-dashboard"]
    scheduler = subprocess.Popen(program, **quiet)
    program = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    worker = subprocess.Popen(program, **quiet)
    try:
        yield address, scheduler
    finally:
        for process in (worker, scheduler):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=60)
            process.kill()
            process.wait()


@pytest.mark.soak
def test_a_lost_scheduler_ends_the_run_and_the_tournament_is_resumed_elsewhere(
    write_definition, tmp_path, port, monkeypatch
):
    monkeypatch.setattr("arena.tournament.executors.dask.RECONNECT_SECONDS", 2.0)
    definition = load_definition(write_definition(bots=NAMES, encounters=200))
    with cluster(port) as (address, scheduler), ArenaHome(tmp_path / "h") as home:

        def strike(progress):
            if progress.recorded >= 60 and scheduler.poll() is None:
                scheduler.kill()
                scheduler.wait()

        url = address.replace("tcp://", "dask://")
        with pytest.raises(ClusterError, match="its scheduler is lost; the same command resumes the run"):
            run_tournament(definition, home.store, executor=url, listener=strike)
        assert 60 <= home.store.tournament("t").recorded < 1200
        assert run_tournament(definition, home.store, workers=2).is_complete
        assert (records_of(home), table_of(home)) == played_locally(definition, tmp_path)


def test_an_unreachable_cluster_is_reported_in_one_sentence(write_definition, tmp_path, monkeypatch):
    monkeypatch.setattr("arena.tournament.executors.dask.CONNECT_SECONDS", 1)
    job = job_of(load_definition(write_definition()))
    for address, message in (
        ("tcp://127.0.0.1:9", "can't be reached"),
        ("nonsense://x", "expected the address of a Dask"),
        ("tls://127.0.0.1:9", "can't be reached .TLS expects"),
    ):
        with pytest.raises(ClusterError, match=message), DaskExecutor(job, address):
            pass


def test_what_is_no_result_of_each_match_in_turn_makes_them_void():
    """A match that is never answered would be waited for without an end."""
    specs = [MatchSpec(match=n, tournament="t", game="differences", options={}, bots=(), rng_seed=n) for n in (1, 2)]
    one, two = (Void(spec, "why") for spec in specs)
    executor = DaskExecutor(Job(isolation="none"), processes=1)
    executor._client = SimpleNamespace(status="running")
    for answer in (None, 5, [], [one], [one, one], [two, one], [one, two, two], [one, None]):
        task = dask._Task(specs)
        results = executor._result(SimpleNamespace(status="finished", result=lambda timeout, a=answer: a), task)
        assert [result.match for result in results] == [1, 2]
        assert all(result.reason.startswith("the cluster: ") for result in results)
    assert executor._result(SimpleNamespace(status="finished", result=lambda timeout: [one, two]), task) == [one, two]


def test_a_worker_of_another_version_is_refused():
    with pytest.raises(UsageError, match=r"the cluster has arena .*, and 9.9 is needed"):
        DaskWorker(DaskWorkerSettings((), "none", None, False, version="9.9"))
