import csv
import io
import re
from pathlib import Path

import pytest

from arena.tournament.definition import load_definition
from arena.tournament.formats.format import FORMATS
from arena.tournament.opening_information import with_openings
from arena.tournament.schedule import schedule
from arena.tournament.tournament_file import TournamentFile

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tournaments.md").read_text(encoding="utf-8")
FILES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
MOVING = (ROOT / "docs" / "moving.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE + MOVING, re.DOTALL) for line in block.splitlines()]


@pytest.mark.slow
def test_every_file_on_the_page_has_a_schedule(tmp_path):
    for number, text in enumerate(FILES):
        path = tmp_path / f"page{number}.toml"
        path.write_text(text)
        assert next(iter(schedule(with_openings(load_definition(path))))).match == 1


IN_ONE_PROCESS = f"""
import contextlib, io, shlex, subprocess
from arena.cli.group import run

def call(command):
    if "|" in command:
        return subprocess.run(command, shell=True, check=True, capture_output=True).stdout
    with contextlib.redirect_stdout(io.StringIO()) as output:
        code = run(shlex.split(command)[1:])
    assert code == 0, (command, code)
    return output.getvalue()

if __name__ == "__main__":
    for command in {COMMANDS!r}:
        assert call(command), command
"""


@pytest.mark.slow
def test_every_command_and_program_on_the_page_runs_in_order(reader, tmp_path):
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    for name, text in (("commands.py", IN_ONE_PROCESS), ("season.py", program)):
        (tmp_path / name).write_text(text)
        done = reader.paste(f"python3 {name}", tmp_path)
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


@pytest.mark.slow
def test_a_teacher_gets_from_submissions_to_grades(reader, tmp_path):
    assert reader.follow((ROOT / "docs" / "class_contest.md").read_text(encoding="utf-8"), tmp_path) > 20
    grades = csv.DictReader(io.StringIO((tmp_path / "grades.csv").read_text(encoding="utf-8")))
    points = {row["student"].split()[0]: float(row["points"]) for row in grades}
    assert points == {"Ada": 10, "Ben": 5, "Cleo": 0, "Dan": 10, "Eva": 5, "Fay": 5, "Gus": 0, "Hal": 0}
    for page in ("contest.html", "table.html"):
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert "ada" in text and "cleo" not in text
