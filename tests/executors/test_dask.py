"""A tournament on a cluster: the same records and table as at home, whatever happens to workers and scheduler."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.analysis.standings_cache import standings_of
from arena.errors import BotDefinitionError, ClusterError, UsageError
from arena.executors.bot_archive import pack, unpack
from arena.home import ArenaHome
from arena.isolation.removal import remove_tree
from arena.players.manifest import BUILD_DIRECTORY, load_bot
from arena.records import Bot
from arena.tournament.definition import load_definition
from arena.tournament.director import run_tournament
from tests.conftest import BOTS

pytest.importorskip("distributed")

from arena.executors.dask import ClusterExecutor
from arena.executors.dask_worker import Node, NodeSettings

# the package leaves sockets and event loops to the garbage collector when workers are killed
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]
NAMES = ("minimal", "random_legal", "greedy")


def settings_of(definition):
    parcels = tuple(pack(bot) for bot in definition.entrants)
    return NodeSettings(parcels, definition.isolation, definition.limits, definition.fresh_bots)


def without_clocks(home, name="t"):
    lines = [record.to_json() for record in home.store.records(home.store.tournament(name))]
    for line in lines:
        for key in ("wall_seconds", "cpu_seconds", "seats", "started_at", "isolation"):
            del line[key]
    return lines


def table_of(home):
    return [(line.bot, line.rating, line.points, line.matches) for line in standings_of(home.store, "t").lines]


def played_at_home(definition, tmp_path):
    with ArenaHome(tmp_path / "calm") as home:
        run_tournament(definition, home.store, workers=2)
        return without_clocks(home), table_of(home)


def test_killed_and_frozen_workers_cost_no_match_and_change_nothing(write_definition, tmp_path):
    """Four worker processes; two are killed and one is frozen in mid-tournament."""
    definition = load_definition(write_definition(bots=NAMES, encounters=120))
    executor = ClusterExecutor(settings_of(definition), None, local_workers=4, frozen_seconds=3)
    events = [(100, signal.SIGKILL), (250, signal.SIGSTOP), (400, signal.SIGKILL)]
    pids = []

    def strike(progress):
        if not pids:
            pids.extend(executor._client.run(os.getpid).values())
        if events and progress.recorded >= events[0][0]:
            os.kill(pids[len(events)], events.pop(0)[1])

    with ArenaHome(tmp_path / "stormy") as home:
        progress = run_tournament(definition, home.store, executor=executor, listener=strike)
        assert not events
        assert progress.is_complete
        assert progress.given_up == {}
        stormy = without_clocks(home), table_of(home)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pids[2], signal.SIGKILL)
    assert [line["match"] for line in stormy[0]] == list(range(1, 721))
    assert stormy == played_at_home(definition, tmp_path)


@contextlib.contextmanager
def cluster():
    """A scheduler and a worker as their users start them; yields its address and the scheduler's process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", str(port), "--no-dashboard"], **quiet
    )
    worker = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"], **quiet
    )
    try:
        yield address, scheduler
    finally:
        for process in (worker, scheduler):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)
            process.kill()
            process.wait()


def test_a_lost_scheduler_is_told_and_the_tournament_goes_on_elsewhere(write_definition, tmp_path, monkeypatch):
    monkeypatch.setattr("arena.executors.dask.GONE_SECONDS", 2.0)
    definition = load_definition(write_definition(bots=NAMES, encounters=200))
    with cluster() as (address, scheduler), ArenaHome(tmp_path / "h") as home:

        def strike(progress):
            if progress.recorded >= 60 and scheduler.poll() is None:
                scheduler.kill()
                scheduler.wait()

        executor = ClusterExecutor(settings_of(definition), address)
        with pytest.raises(ClusterError, match="its scheduler is gone; what was recorded stays"):
            run_tournament(definition, home.store, executor=executor, listener=strike)
        assert 60 <= home.store.tournament("t").recorded < 1200
        assert run_tournament(definition, home.store, workers=2).is_complete
        assert (without_clocks(home), table_of(home)) == played_at_home(definition, tmp_path)


def test_an_unreachable_cluster_is_told_in_a_sentence(write_definition, tmp_path, monkeypatch):
    monkeypatch.setattr("arena.executors.dask.CONNECT_SECONDS", 1)
    settings = settings_of(load_definition(write_definition()))
    for address, says in (
        ("tcp://127.0.0.1:9", "can't be reached"),
        ("nonsense://x", "expected the address of a Dask"),
    ):
        with pytest.raises(ClusterError, match=says), ClusterExecutor(settings, address):
            pass
    command = [sys.executable, "-m", "arena", "run", str(write_definition()), "--home", str(tmp_path / "h")]
    both = subprocess.run(
        [*command, "--cluster", "tcp://x:1", "--local-cluster", "2"], capture_output=True, text=True, check=False
    )
    assert (both.returncode, "expected one of them" in both.stderr) == (2, True)


def test_a_bot_travels_with_its_files_and_runs_there(tmp_path):
    bot = load_bot(BOTS / "mcts", ["--rollouts", "7"])
    there = unpack(pack(bot), tmp_path)
    assert there.directory != bot.directory
    assert there.command[0] == sys.executable
    assert there.command[-2:] == ("--rollouts", "7")
    assert load_bot(tmp_path / there.directory).digest == bot.digest
    single = unpack(pack(load_bot(BOTS / "greedy" / "bot.py")), tmp_path)
    assert single.command[1] == single.own_files[0] == f"{single.directory}/bot.py"
    before = time.time()
    assert unpack(pack(bot), tmp_path) == there
    assert time.time() - before < 60


def test_a_bot_too_large_for_a_parcel_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("arena.executors.bot_archive.MOST_BYTES", 10)
    with pytest.raises(UsageError, match=r"bot 'greedy@1': 0 MiB of files; a cluster takes 0"):
        pack(load_bot(BOTS / "greedy"))


def test_a_worker_of_another_version_is_refused():
    with pytest.raises(UsageError, match=r"the cluster has arena .*, and 9.9 is needed"):
        Node(NodeSettings((), "none", None, False, version="9.9"))


def test_what_a_build_can_not_have_made_is_refused_however_deep_it_lies(tmp_path):
    deep = tmp_path / BUILD_DIRECTORY / Path(*["d"] * 1200)  # deeper than Python recurses
    subprocess.run(["mkdir", "-p", str(deep)], check=True)
    (deep / "program").write_text("x")
    bot = Bot(name="deep", version="1", command=("./program",), directory=str(tmp_path), build=("make",))
    try:
        with pytest.raises(BotDefinitionError, match="directories more than 64 deep"):
            pack(bot)
    finally:
        remove_tree(str(tmp_path / BUILD_DIRECTORY), 60.0)  # pytest would recurse


def test_a_link_in_what_a_build_has_made_is_not_followed_to_other_machines(tmp_path):
    (tmp_path / BUILD_DIRECTORY).mkdir()
    (tmp_path / BUILD_DIRECTORY / "link").symlink_to("/etc/passwd")
    with pytest.raises(BotDefinitionError, match="build/link: a link that leads out of the bot's directory"):
        pack(Bot(name="linked", version="1", command=("./program",), directory=str(tmp_path), build=("make",)))
