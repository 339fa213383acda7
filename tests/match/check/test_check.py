import time

import pytest

from arena.base.errors import LateError
from arena.base.records import DEFAULT_LIMITS, TimeControl
from arena.match.check.tried_bot import TriedBot, bounds_of, invalid_options
from arena.match.players import process_player
from arena.match.players.manifest import load_bot
from arena.match.players.process_player import ProcessPlayer
from arena.match.players.subprocess import Subprocess
from arena.match.single_match import MAX_TRIES
from arena.sandbox.isolation.interpreters import own_program
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.sandbox_policy import Isolation
from tests.conftest import BOTS


def test_a_busy_bot_uses_the_processor():
    with Subprocess(own_program("arena.match.check.busy_bot", "-I", "-S"), Isolation(), DEFAULT_LIMITS) as process:
        deadline = time.monotonic() + 20.0
        while process.monitor.cpu_seconds() < 0.2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert process.monitor.cpu_seconds() >= 0.2


BOUNDS = {
    "plusminus": ([{"grid_first": 2}, {"pie": 3}], [{"size": 100}]),
    "plaid": (
        [{"players": 60}, {"width": 1}, {"width": 1000}, {"height": 1}, {"height": 1000}, {"lines": 1}, {"pie": 3}],
        [],
    ),
    "coprimality": ([{"players": 64}, {"size": 100}, {"max_grids": 1}, {"max_grids": 1000}, {"pie": 3}], []),
    "differences": ([{"scoring": "once"}, {"pie": 3}], [{"size": 100}]),
    "multiplication": ([{"size": 7}, {"second_starts": 1}, {"pie": 3}], [{"size": 99}]),
}
"""From the tables of options: the bounds, or the nearest value that fits the other options.

A sheet of 60 by 60 can be shared equally by 60 players, and by none of 61 to 64. With one mark for each row and column
of 100, the legal actions of a match are 100² + 99² + …: more than 20,000.
"""


@pytest.mark.parametrize("game", BOUNDS)
def test_every_option_is_tried_at_its_bounds(game):
    assert bounds_of(game) == BOUNDS[game]


@pytest.mark.parametrize("game", BOUNDS)
def test_what_is_tried_in_every_seat_is_not_tried_twice(game):
    bounds = bounds_of(game)
    assert not [options for options in invalid_options(game) if options in bounds.tried + bounds.left_out]


# the bot that is tried, on a machine that stands still now and then


@pytest.fixture
def tried():
    control = TimeControl(per_action_seconds=20.0, startup_seconds=30.0)
    tried = TriedBot(load_bot(BOTS / "minimal"), choose_isolation("auto"), DEFAULT_LIMITS, control)
    yield tried
    tried.player.close()


def be_late(monkeypatch, method, times):
    usual, calls = getattr(ProcessPlayer, method), []

    def late(player, *arguments):
        calls.append(arguments)
        if len(calls) <= times:
            raise LateError("the machine stood still")
        return usual(player, *arguments)

    monkeypatch.setattr(ProcessPlayer, method, late)
    return calls


def test_it_is_launched_again_when_nobody_can_tell_whether_it_was_ready_in_time(tried, monkeypatch):
    calls = be_late(monkeypatch, "begin", 2 * MAX_TRIES - 1)
    with pytest.raises(LateError):  # it is not to blame
        tried.begin("differences")
    assert len(calls) == MAX_TRIES
    tried.begin("differences")
    assert len(calls) == 2 * MAX_TRIES
    assert tried.player.ready.name == "minimal"


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
