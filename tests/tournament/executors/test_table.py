import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from arena.base.errors import BotDefinitionError, UsageError
from arena.base.records import Bot, MatchSpec
from arena.cli.group import run
from arena.match.players.manifest import BUILD_DIRECTORY, load_bot
from arena.sandbox.isolation.removal import remove_tree
from arena.tournament.executors.dask_worker import pack_bot, unpack_bot
from arena.tournament.executors.executor import Job, WorkQueue
from arena.tournament.executors.table import open_executor
from tests.cli.calls import calling, refusal
from tests.conftest import BOTS

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
