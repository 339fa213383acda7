"""docs/tournaments.md and docs/moving.md are executed: every file is played, every command is run."""

import csv
import io
import re
from pathlib import Path

import pytest

from arena.tournament.definition import load_definition
from arena.tournament.director import run_tournament
from arena.tournament.formats.format import FORMATS
from arena.tournament.tournament_file import TournamentFile

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tournaments.md").read_text(encoding="utf-8")
FILES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
MOVING = (ROOT / "docs" / "moving.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE + MOVING, re.DOTALL) for line in block.splitlines()]


@pytest.mark.slow
def test_every_file_on_the_page_is_played(here, tmp_path):
    for number, text in enumerate(FILES):
        path = tmp_path / f"page{number}.toml"
        path.write_text(text)
        assert run_tournament(load_definition(path), here.store, executor="in-process").is_complete


@pytest.mark.slow
def test_every_command_and_program_on_the_page_runs_in_order(reader, tmp_path):
    for command in COMMANDS:
        done = reader.paste(command, tmp_path)
        assert (done.returncode, bool(done.stdout)) == (0, True), (command, done.stdout)
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "season.py").write_text(program)
    done = reader.paste("python3 season.py", tmp_path)
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


# docs/class_contest.md, from a folder of submissions to grades


CONTEST_PAGE = (Path(__file__).parents[2] / "docs" / "class_contest.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_teacher_gets_from_submissions_to_grades(reader, tmp_path):
    assert reader.follow(CONTEST_PAGE, tmp_path) > 20
    grades = csv.DictReader(io.StringIO((tmp_path / "grades.csv").read_text(encoding="utf-8")))
    points = {row["student"].split()[0]: float(row["points"]) for row in grades}
    assert points == {"Ada": 10, "Ben": 5, "Cleo": 0, "Dan": 10, "Eva": 5, "Fay": 5, "Gus": 0, "Hal": 0}
    for page in ("contest.html", "table.html"):
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert "ada" in text and "cleo" not in text
