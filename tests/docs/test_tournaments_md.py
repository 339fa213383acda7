"""docs/tournaments.md is executed: every file on it is played, every command on it is run."""

import re
from pathlib import Path

import pytest

from arena.tournament.formats import FORMATS
from arena.tournament.tournament_file import TournamentFile

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tournaments.md").read_text(encoding="utf-8")
FILES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


@pytest.fixture(scope="module")
def directory(reader, tmp_path_factory):
    """A directory of the reader's own, in which the commands of the page are run one after the other."""
    return tmp_path_factory.mktemp("page")


@pytest.mark.parametrize("number", range(len(FILES)))
def test_every_file_on_the_page_is_played(reader, directory, number):
    (directory / f"page{number}.toml").write_text(FILES[number])
    done = reader.paste(f"arena run page{number}.toml -q", directory)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_on_the_page_is_run(reader, directory, command):
    done = reader.paste(command, directory)
    assert done.returncode == 0, done.stdout
    assert done.stdout


def test_the_program_on_the_page_is_run(reader, directory):
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (directory / "season.py").write_text(program)
    done = reader.paste("python3 season.py", directory)
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("300 records\n")


def test_every_format_and_setting_is_on_the_page():
    table = PAGE[PAGE.index("| format |") : PAGE.index("The unit of everything")]
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| (.*) \|$", table, re.MULTILINE))
    assert rows.keys() == FORMATS.keys()
    for name, settings in rows.items():
        kind = TournamentFile.model_fields[name.replace("-", "_")].annotation.__args__[0]
        assert set(re.findall(r"`(\w+)`", settings)) == set(kind.model_fields)
    assert {found for text in FILES for found in re.findall('format = "(.*)"', text)} == set(FORMATS)
