"""docs/tournaments.md is executed: every file on it is played, every command on it is run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from arena.tournament.formats import FORMATS
from arena.tournament.tournament_file import TournamentFile

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tournaments.md").read_text(encoding="utf-8")
FILES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


def arena(*arguments, cwd):
    command = [sys.executable, "-m", "arena", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120, check=False)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A directory as the reader has it, with the quickstart tournament played."""
    directory = tmp_path_factory.mktemp("page")
    for name in ("bots", "tournaments"):
        (directory / name).symlink_to(ROOT / name)
    done = arena("run", "tournaments/quickstart.toml", "-q", cwd=directory)
    assert done.returncode == 0, done.stderr
    return directory


@pytest.mark.parametrize("number", range(len(FILES)))
def test_every_file_on_the_page_is_played(directory, number):
    (directory / f"page{number}.toml").write_text(FILES[number])
    done = arena("run", f"page{number}.toml", "-q", cwd=directory)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_on_the_page_is_run(directory, command):
    done = arena(*shlex.split(command)[1:], cwd=directory)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_every_format_and_setting_is_on_the_page():
    table = PAGE[PAGE.index("| format |") : PAGE.index("The unit of everything")]
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| (.*) \|$", table, re.MULTILINE))
    assert rows.keys() == FORMATS.keys()
    for name, settings in rows.items():
        kind = TournamentFile.model_fields[name.replace("-", "_")].annotation.__args__[0]
        assert set(re.findall(r"`(\w+)`", settings)) == set(kind.model_fields)
    assert {re.search('format = "(.*)"', text)[1] for text in FILES} == set(FORMATS)
