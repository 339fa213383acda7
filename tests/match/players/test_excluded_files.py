import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from arena.base.errors import BotDefinitionError, DefinitionError
from arena.community.submissions.submission import submit
from arena.match.players import bot_files as excluded_files
from arena.match.players.bot_files import LEFT_OUT, describe_left_out
from arena.match.players.manifest import load_bot
from arena.store.home import ArenaHome
from arena.store.results.values import StoredBot
from arena.tournament.definition import make_definition
from arena.tournament.resumption import create_or_resume

BOT = "from arena.botkit import run\nrun(lambda game, state, clock: game.legal_actions(state)[0])\n"


@pytest.fixture
def bot(tmp_path):
    directory = tmp_path / "bot"
    directory.mkdir()
    (directory / "bot.py").write_text(BOT)
    manifest = 'name = "b"\nversion = "1"\ncommand = ["python3", "bot.py"]\ngames = ["differences"]\n'
    (directory / "bot.toml").write_text(manifest)
    return directory


def put(path, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_bot_of_plain_files_leaves_out_nothing_hidden_ones_included(bot):
    put(bot / ".hidden")
    put(bot / "lib" / ".more" / "file.py")
    assert describe_left_out(bot) == []


def test_what_is_left_out_is_named_once_with_how_often(bot):
    for place in (".git/HEAD", ".venv/bin/python", "__pycache__/a.pyc", "lib/__pycache__/b.pyc", "c.pyc"):
        put(bot / place)
    first, second = describe_left_out(bot)
    assert first == "left out, as no part of the bot: *.pyc, .git/, .venv/, __pycache__/ (2 times)"
    assert second.startswith(".venv: made for one place")
    assert "docs/dependencies.md" in second


def test_what_is_no_file_is_named_by_its_path(bot):
    (bot / "lib").mkdir()
    (bot / "lib" / "data").symlink_to("/usr/share")
    (bot / "gone").symlink_to("nowhere")
    os.mkfifo(bot / "pipe")
    (only,) = describe_left_out(bot)
    assert only.endswith(": gone (a link to no file), lib/data (a link to no file), pipe (not a file)")


def test_a_single_program_and_what_is_not_there_leave_out_nothing(bot):
    assert describe_left_out(bot / "bot.py") == describe_left_out(bot / "none") == []


@pytest.fixture
def deep(bot):
    """The bot's directory with more levels than Python may recurse; removed by a program that doesn't recurse."""
    here = os.open(bot, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    yield bot
    subprocess.run(["rm", "-rf", str(bot / "d")], check=True)


def test_looking_knows_no_depth(deep):
    put(deep / ".venv" / "file")
    assert len(describe_left_out(deep)) == 2


def test_looking_is_bounded(bot, monkeypatch):
    for number in range(40):
        put(bot / f"{number}.pyc")
    monkeypatch.setattr(excluded_files, "MAX_ENTRIES", 10)
    assert sum(excluded_files._left_out(bot).values()) <= 10


def test_many_names_are_cut(bot):
    for number in range(40):
        (bot / f"link{number:02}").symlink_to("nowhere")
    (only,) = describe_left_out(bot)
    assert only.endswith("link11 (a link to no file) and 28 more")


def test_submit_says_it_before_it_tries_the_bot_and_where_it_refuses_it(bot, tmp_path):
    put(bot / ".venv" / "bin" / "python")
    said = []
    with ArenaHome(tmp_path / "home") as home:
        assert submit(home, bot, said.append).refusal is None
    assert said[0].startswith("left out, as no part of the bot: .venv/")
    assert said[-1].startswith("differences: a match of")


NO_PART = [
    *(
        "__pycache__/a.pyc",
        "x.pyc",
        ".mypy_cache/x",
        ".pytest_cache/x",
        ".ruff_cache/x",
        ".git/HEAD",
        ".hg/x",
        ".svn/x",
    ),
    *(".venv/x", "node_modules/x", ".DS_Store", "._bot.py", "__MACOSX/x", "Thumbs.db", "desktop.ini"),
]


@pytest.mark.parametrize("name", NO_PART)
def test_what_systems_put_beside_a_bot_changes_it_in_no_case_of_letters(bot, tmp_path, name):
    digest = load_bot(bot).digest
    for path in (name, f"lib/{name.upper()}", f"lib/more/{name.lower()}"):
        put(bot / path, "[core]")
    assert load_bot(bot).digest == digest
    with ArenaHome(tmp_path / "home") as home:
        copied = home.bots.copy_in(bot)
    assert sorted(path.name for path in Path(copied.directory).rglob("*")) == ["bot.py", "bot.toml"]
    assert describe_left_out(bot)[0].startswith("left out, as no part of the bot: ")
    page = (Path(__file__).parents[3] / "docs/packaging.md").read_text()
    assert {*re.findall(r"`(\S+)`", page.partition("its letters have:\n\n")[2].partition("\n\n")[0])} == {*LEFT_OUT}


def test_a_bot_that_was_stored_with_such_files_keeps_its_identity(bot, tmp_path):
    """In the home, in a tournament that is resumed from where the bot lies, and when it is submitted again."""
    for name in (".DS_Store", ".GIT/HEAD", "Thumbs.db"):
        put(bot / name)
    digest = hashlib.sha256()  # as versions before this rule have computed it: directories last, by name
    for name in (".DS_Store", "Thumbs.db", "bot.py", "bot.toml", ".GIT/HEAD"):
        content = (bot / name).read_bytes()
        digest.update(f"{name}\0{0}\0{len(content)}\0".encode() + content)
    stored = digest.hexdigest()[:16]
    with ArenaHome(tmp_path / "home") as home:
        shutil.copytree(bot, home.directory / "bots" / stored)
        home.store.add_bot(StoredBot("b", "1", stored, ".", "2026-01-01T00:00:00+00:00"))
        assert home.bots.find("b").digest == stored
        again = submit(home, bot)
        found = (again.is_old, again.bot.digest, again.bot.directory)
        assert found == (True, stored, f"{home.directory}/bots/{stored}")
        entrants = [replace(load_bot(bot), digest=stored), load_bot("arena:random_legal")]
        begun = make_definition("t", "differences", entrants)
        create_or_resume(begun, home.store)
        now = replace(begun, entrants=(load_bot(bot), entrants[1]))
        assert create_or_resume(now, home.store).definition.entrants[0].digest == stored
        put(bot / "bot.py", BOT + "#")
        with pytest.raises(BotDefinitionError, match="submitted with other files"):
            submit(home, bot)
        with pytest.raises(DefinitionError, match="differs"):
            create_or_resume(replace(begun, entrants=(load_bot(bot), entrants[1])), home.store)
