"""docs/lab.md: its example runs, and what it says of tables is computed again."""

import re
import tomllib
from pathlib import Path

import pytest

import arena
import arena.botkit
import arena.games
import arena.games.conformance
import arena.ratings
from arena.games import make_game
from arena.lab.solve import Solver
from arena.lab.solving.limits import Limits
from arena.lab.solving.solution import By
from arena.tournament.tournament_file import TournamentFile

PAGE = (Path(__file__).parents[2] / "docs" / "lab.md").read_text(encoding="utf-8")


def solved(game, **options):
    return Solver(make_game(game, **options), game, Limits()).solve(By.TABLE).worth


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


@pytest.mark.parametrize("size", [2, 3, 4])
def test_plusminus_is_as_the_page_says(size):
    assert solved("plusminus", size=size).margin == 0
    assert solved("plusminus", size=size, grid_first=2).margin == -1


def test_coprimality_is_as_the_page_says():
    winners = [{1: 0, -1: 1}.get(solved("coprimality", size=size).margin) for size in range(3, 13)]
    by_seat = [[size for size, winner in enumerate(winners, 3) if winner == seat] for seat in (0, 1, None)]
    sentence = "seat 0 wins at sizes 5, 6, 8, 10 and 11, seat 1 at 4, 7, 9 and 12; size 3 is a draw."
    zero, one, draw = (list(map(int, re.findall(r"\d+", part))) for part in re.split(r", seat|;", sentence))
    assert by_seat == [zero[1:], one[1:], draw]
    assert sentence in " ".join(PAGE.split())


def test_plaid_is_as_the_page_says():
    outcomes = [solved("plaid", width=6, height=6, lines=lines).outcome for lines in range(1, 11)]
    assert outcomes == ["win"] * 5 + ["draw"] * 5


# docs/reference: what is written there by hand is tried out


PAGES = Path(__file__).parents[2] / "docs" / "reference"


def test_the_tournament_file_on_the_page_is_accepted():
    (block,) = re.findall(r"```toml\n(.*?)```", (PAGES / "tournament_file.md").read_text(), re.DOTALL)
    TournamentFile.model_validate(tomllib.loads(block))


def test_every_package_on_the_pages_lists_its_names():
    packages = [name for page in PAGES.glob("*.md") for name in re.findall(r"<!-- names: (\S+) -->", page.read_text())]
    assert sorted(packages) == ["arena", "arena.botkit", "arena.games", "arena.games.conformance", "arena.ratings"]
    for package in (arena, arena.botkit, arena.games, arena.games.conformance, arena.ratings):
        assert all(hasattr(package, name) for name in package.__all__)
