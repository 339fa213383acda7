"""A home, and a small ladder in a file."""

import pytest

from arena.store.home import ArenaHome

LADDER = """
name = "open"
game = "differences"
options = { size = 4 }
format = "ladder"
workers = 1
[ladder]
matches = 6
[[entrants]]
bot = "arena:random_legal"
[[entrants]]
bot = "arena:minimal"
"""


@pytest.fixture
def home(tmp_path):
    with ArenaHome(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "open.toml"
    path.write_text(LADDER)
    return path
