import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.base.errors import BotDefinitionError, UsageError
from arena.base.records import Bot
from arena.match.players.manifest import BUILD_DIRECTORY, load_bot
from arena.sandbox.isolation.removal import remove_tree
from arena.tournament.executors.dask_worker import pack_bot, unpack_bot
from tests.conftest import BOTS


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
