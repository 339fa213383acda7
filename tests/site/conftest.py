import pytest

from arena.store.home import ArenaHome


@pytest.fixture
def home(tmp_path):
    with ArenaHome(tmp_path / "home") as opened:
        yield opened
