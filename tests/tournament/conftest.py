import pytest

from arena.store.home import ArenaHome
from arena.store.results.store import Store


@pytest.fixture
def home(tmp_path):
    with ArenaHome(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "arena.sqlite3")
    yield opened
    opened.close()
