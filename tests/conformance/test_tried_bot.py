"""The bot that ``arena check`` tries out, on a machine that stands still now and then."""

import pytest

from arena.conformance.tried_bot import TriedBot
from arena.errors import LateError
from arena.isolation.levels import choose_isolation
from arena.match.late_tries import MAX_TRIES
from arena.players import process_player
from arena.players.manifest import load_bot
from arena.players.process_player import ProcessPlayer
from arena.records import DEFAULT_LIMITS, TimeControl
from tests.conftest import BOTS


@pytest.fixture
def tried():
    control = TimeControl(per_action_seconds=20.0, startup_seconds=30.0)
    tried = TriedBot(load_bot(BOTS / "minimal"), choose_isolation("auto"), DEFAULT_LIMITS, control)
    yield tried
    tried.player.close()


def be_late(monkeypatch, method, times):
    """Have a method of the player be late so many times, after which it does what it always did."""
    usual, calls = getattr(ProcessPlayer, method), []

    def late(player, *arguments):
        calls.append(arguments)
        if len(calls) <= times:
            raise LateError("the machine stood still")
        return usual(player, *arguments)

    monkeypatch.setattr(ProcessPlayer, method, late)
    return calls


def test_it_is_launched_again_when_nobody_can_tell_whether_it_was_ready_in_time(tried, monkeypatch):
    calls = be_late(monkeypatch, "begin", MAX_TRIES - 1)
    tried.begin("differences")
    assert len(calls) == MAX_TRIES
    assert tried.player.ready.name == "minimal"


def test_it_is_not_to_blame_when_nobody_can_ever_tell(tried, monkeypatch):
    be_late(monkeypatch, "begin", MAX_TRIES)
    with pytest.raises(LateError):
        tried.begin("differences")


def test_a_bot_that_was_not_given_the_time_to_leave_is_asked_again(tried, monkeypatch):
    monkeypatch.setattr(process_player, "QUIT_GRACE_SECONDS", 20.0)
    tried.begin("differences")
    tried.player.close()
    assert tried.player.exited_by_itself
    tried.player.exited_by_itself = False  # as if it had been killed
    assert tried.leaves("differences")


def test_a_bot_that_never_leaves_is_asked_a_few_times(tried, monkeypatch):
    closed = []
    monkeypatch.setattr(ProcessPlayer, "begin", lambda *_: None)
    monkeypatch.setattr(ProcessPlayer, "close", lambda _: closed.append(1))
    tried.player.exited_by_itself = False
    assert not tried.leaves("differences")
    assert len(closed) == MAX_TRIES - 1


def test_its_match_is_played_again_with_the_same_opponent(tried, monkeypatch):
    undisturbed = tried.play("differences", {"size": 4}, seat=1, seed=3)
    calls = be_late(monkeypatch, "ask", 1)
    record = tried.play("differences", {"size": 4}, seat=1, seed=3)
    assert record.actions == undisturbed.actions
    assert len(calls) == 1 + sum(seat == 1 for seat, _ in record.actions)
    assert tried.matches == 2
