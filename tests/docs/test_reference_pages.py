"""The pages in docs/reference are made from the code; what is written there by hand is tried out here."""

import re
import tomllib
from pathlib import Path

import arena
import arena.botkit
import arena.games
import arena.games.conformance
import arena.ratings
from arena.tournament.tournament_file import TournamentFile

PAGES = Path(__file__).parents[2] / "docs" / "reference"


def test_the_tournament_file_on_the_page_is_accepted():
    (block,) = re.findall(r"```toml\n(.*?)```", (PAGES / "tournament_file.md").read_text(), re.DOTALL)
    TournamentFile.model_validate(tomllib.loads(block))


def test_every_package_on_the_pages_lists_its_names():
    packages = [name for page in PAGES.glob("*.md") for name in re.findall(r"<!-- names: (\S+) -->", page.read_text())]
    assert sorted(packages) == ["arena", "arena.botkit", "arena.games", "arena.games.conformance", "arena.ratings"]
    for package in (arena, arena.botkit, arena.games, arena.games.conformance, arena.ratings):
        assert all(hasattr(package, name) for name in package.__all__)
