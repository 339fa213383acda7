from functools import partial

import pytest

from arena.community.ladders import open_ladder
from arena.tournament.director import run_tournament
from arena.tournament.directors import supervised_run
from tests.community.contests.world import World
from tests.store.people.conftest import FakeClock

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


def recorded(home):
    found = home.store.find_tournament("open")
    return found.recorded if found is not None else 0


@pytest.fixture(autouse=True)
def no_worker(monkeypatch):
    monkeypatch.setattr(open_ladder, "run_tournament", partial(run_tournament, executor="in-process"))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "open.toml"
    path.write_text(LADDER)
    return path


@pytest.fixture
def world(tmp_path, monkeypatch):
    for module in (open_ladder, supervised_run):
        monkeypatch.setattr(module, "ASK_SECONDS", 0.0)
    made = World(tmp_path, FakeClock())
    yield made
    made.close()
