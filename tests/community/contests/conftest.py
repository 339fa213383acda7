import pytest

from arena.community.contests import played_contest as stage_control
from arena.tournament.directors import supervised_run
from tests.community.contests.world import World
from tests.store.people.conftest import FakeClock


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path, FakeClock())
    yield made
    made.close()


@pytest.fixture(autouse=True)
def asks_always(monkeypatch):
    monkeypatch.setattr(stage_control, "ASK_SECONDS", 0.0)
    monkeypatch.setattr(supervised_run, "ASK_SECONDS", 0.0)
