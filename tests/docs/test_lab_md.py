"""docs/lab.md: its example runs, and what it says of tables is computed again."""

import re
import tomllib
from pathlib import Path

import pytest

from arena.games import make_game
from arena.lab.solve import Solver
from arena.lab.solving.limits import Limits
from arena.lab.solving.solution import By
from arena.tournament.tournament_file import TournamentFile

PAGE = (Path(__file__).parents[2] / "docs" / "lab.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_examples_run(capsys):
    oracle, shares, kernels = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names = {}
    exec(kernels, names)
    assert names["totals"].played == 1000
    exec(oracle, names)
    assert capsys.readouterr().out.startswith("Worth(margin=0, outcome=<Outcome.DRAW: 'draw'>, ")
    assert (2, 1) in names["best"]
    exec(shares, names)
    assert capsys.readouterr().out == "(1.0, 0.0, 0.5) (0.5, 0.0, 0.0) ((2, 12),)\n"


def test_plaid_is_as_the_page_says():
    games = [make_game("plaid", width=6, height=6, lines=lines) for lines in (5, 6)]
    assert [Solver(game, "plaid", Limits()).solve(By.TABLE).worth.outcome for game in games] == ["win", "draw"]


PAGES = Path(__file__).parents[2] / "docs" / "reference"


def test_the_tournament_file_on_the_page_is_accepted():
    (block,) = re.findall(r"```toml\n(.*?)```", (PAGES / "tournament_file.md").read_text(), re.DOTALL)
    TournamentFile.model_validate(tomllib.loads(block))


def test_every_package_on_the_pages_lists_its_names():
    packages = [name for page in PAGES.glob("*.md") for name in re.findall(r"<!-- names: (\S+) -->", page.read_text())]
    assert sorted(packages) == ["arena", "arena.botkit", "arena.games", "arena.games.conformance", "arena.ratings"]
