import logging
from types import SimpleNamespace

import pytest

from arena.base.errors import DatabaseError, UsageError
from arena.community.contests import results_program
from arena.community.contests.results_program import AGAIN_SECONDS, ResultMaker
from arena.store.home import ArenaHome
from tests.server.conftest import add_tournament

NAMES = ("autumn", "spring", "winter")
NEEDED = "signatures need the package cryptography"


class World:
    def __init__(self, home, monkeypatch):
        self.home, self.failing, self.tried, self.seconds = home, {}, [], 0.0
        stored = [SimpleNamespace(name=name, contest=SimpleNamespace(tournaments=(name,))) for name in NAMES]
        self.people = SimpleNamespace(contests=SimpleNamespace(all=lambda: stored, now=lambda: ""))
        self.maker = ResultMaker(lambda: self.seconds)
        monkeypatch.setattr(results_program, "are_results_public", lambda stored, now: True)
        monkeypatch.setattr(results_program, "make_result", self._make_result)

    def _make_result(self, home, contest, tournaments):
        self.tried.append(contest)
        if contest in self.failing:
            raise self.failing[contest]

    def step(self):
        self.tried = []
        self.maker.make_results(self.home, self.people)
        return self.tried


@pytest.fixture
def world(tmp_path, monkeypatch):
    with ArenaHome(tmp_path / "home") as home:
        for name in NAMES:
            add_tournament(home, name)
            home.store.set_finished(home.store.tournament(name), True)
        yield World(home, monkeypatch)


def test_a_contest_that_fails_stops_no_other_but_a_database_that_is_away_ends_the_round(world):
    for error in (UsageError(NEEDED), OSError("full"), RuntimeError("a defect")):
        world.failing = {"autumn": error}
        world.seconds += AGAIN_SECONDS
        assert world.step() == list(NAMES)
    world.failing = {"autumn": DatabaseError("locked")}
    world.seconds += AGAIN_SECONDS
    with pytest.raises(DatabaseError):
        world.step()


def test_what_can_not_be_made_is_said_once_until_something_changes(world, caplog):
    world.failing = dict.fromkeys(NAMES, UsageError(NEEDED))
    for _ in range(10):
        world.step()
        world.seconds += AGAIN_SECONDS / 2
    assert [(one.levelno, one.args[0]) for one in caplog.records] == [(logging.ERROR, name) for name in NAMES]
    assert NEEDED in caplog.text

    caplog.clear()
    world.failing["spring"] = UsageError("no space left")
    world.seconds += AGAIN_SECONDS
    world.step()
    assert [one.args[0] for one in caplog.records] == ["spring"]


def test_what_failed_is_tried_again_after_a_while_and_at_once_when_more_is_recorded(world, monkeypatch):
    world.failing = {"autumn": UsageError(NEEDED)}
    world.step()
    assert "autumn" not in world.step()
    world.seconds += AGAIN_SECONDS
    assert "autumn" in world.step()
    assert "autumn" not in world.step()
    monkeypatch.setattr(results_program, "current_version", lambda tournaments: "corrected")
    assert "autumn" in world.step()
