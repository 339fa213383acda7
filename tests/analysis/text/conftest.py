import pytest

from arena.store.home import ArenaHome
from tests.analysis.text.tournaments import FOUR, play


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with ArenaHome(tmp_path_factory.mktemp("home")) as home:
        yield home


@pytest.fixture(scope="module")
def league(home):
    return play(home, "league", FOUR, failing=["delta"], encounters=3)
