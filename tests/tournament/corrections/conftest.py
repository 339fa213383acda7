import pytest

from arena.store.home import ArenaHome


@pytest.fixture
def home(tmp_path):
    with ArenaHome(tmp_path / "home") as home:
        yield home


@pytest.fixture
def no_check(monkeypatch):
    """Let bots enter that are no programs."""
    monkeypatch.setattr("arena.tournament.corrections.entrants.check_entrant", lambda bot, definition: None)
