import pytest

from tests.tournament.corrections.contest import FOUR, write_bots


@pytest.fixture
def no_check(monkeypatch):
    monkeypatch.setattr("arena.tournament.corrections.entrants.check_entrant", lambda bot, definition: None)


@pytest.fixture
def bots(tmp_path, no_check):
    return write_bots(tmp_path / "bots", FOUR)


@pytest.fixture
def newcomer(tmp_path):
    return write_bots(tmp_path / "new", ["eve"])[0]


@pytest.fixture
def mended(tmp_path):
    return write_bots(tmp_path / "mended", ["bob"], "mended")[0]
