import contextlib
import time

import pytest

from arena.base.errors import BotError, LateError
from arena.base.records import DEFAULT_LIMITS, TimeControl
from arena.match.bot_pool import BotPool
from arena.match.players.connection import BotConnection
from arena.match.players.manifest import load_bot
from arena.match.players.off_turn import RunningBots
from arena.protocol.frames import encode_frame
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.sandbox_policy import Isolation
from benchmarks import zoo_bots as zoo
from tests.matches import small_match

HELLO = encode_frame({"type": "hello"})


class Launcher:
    def __init__(self, stack):
        self.running = RunningBots()
        self._stack = stack

    def launch(self, name, isolation=None):
        isolation = isolation or choose_isolation("auto")
        connection = BotConnection(load_bot(zoo.bad_bot(name)), isolation, DEFAULT_LIMITS, self.running)
        bot = self._stack.enter_context(connection)
        bot.ask(HELLO, 20.0)
        bot.off_turn.cpu_at_start = bot.process.monitor.cpu_seconds()
        return bot


@pytest.fixture(params=["as it is", "without control groups"])
def isolation(request):
    found = choose_isolation("auto")
    return found if request.param == "as it is" else Isolation(level=found.level)


@pytest.fixture
def launcher():
    with contextlib.ExitStack() as stack:
        yield Launcher(stack)


@pytest.mark.parametrize("name", ["children_think_off_turn", "chains_think_off_turn", "children_nobody_waits_for"])
def test_a_bot_that_works_while_another_is_to_act_is_frozen(launcher, name, isolation):
    busy = launcher.launch(name, isolation)
    other = launcher.launch("never_answers")
    with pytest.raises((BotError, LateError)):
        other.ask(encode_frame({"type": "act", "ply": 0, "legal": [[1, 1]]}), 0.5)
    assert busy.off_turn.has_worked
    used = busy.process.monitor.possible_cpu_seconds()
    time.sleep(0.2)
    busy.process.monitor.sample_cpu()
    busy.process.monitor.sample_cpu()  # by now everything that was on its way has been seen
    used = busy.process.monitor.possible_cpu_seconds()
    time.sleep(0.2)
    busy.process.monitor.sample_cpu()
    assert busy.process.monitor.possible_cpu_seconds() - used < 0.02


def test_a_bot_that_is_idle_off_turn_is_left_alone(launcher):
    idle = launcher.launch("never_answers")
    other = launcher.launch("never_answers")
    with pytest.raises(BotError, match="timeout"):
        other.ask(encode_frame({"type": "act", "ply": 0, "legal": [[1, 1]]}), 0.3)
    assert not idle.off_turn.has_worked


def test_work_that_children_did_on_turn_excuses_nobody(launcher, isolation):
    """Whoever lets its time run out could else have every match against such a bot played again."""
    honest = launcher.launch("works_by_children_on_turn", isolation)
    other = launcher.launch("never_answers")
    for ply in range(2):
        honest.ask(encode_frame({"type": "act", "ply": ply, "legal": [[1, 1]]}), 20.0)
        honest.off_turn.cpu_at_start = honest.process.monitor.cpu_seconds()
        with pytest.raises(BotError, match="timeout"):
            other.ask(encode_frame({"type": "act", "ply": 0, "legal": [[1, 1]]}), 0.3)
    assert not honest.off_turn.has_worked


def test_a_match_is_played_again_with_nobody_else_running():
    names = ("good_with_note", "uses_children", "slow_but_good")
    kept, good, slow = (load_bot(zoo.bad_bot(name)) for name in names)
    control = TimeControl(per_action_seconds=20.0)
    with BotPool(choose_isolation("auto")) as pool:
        pool.play(small_match(kept, good, time_control=control))
        again = small_match(slow, good, match=2, time_control=control).after_void(None)
        pool.play(again)
        assert [bot.name for bot, _ in pool.players] == ["slow_but_good", "uses_children"]


def test_a_bot_that_may_work_off_turn_is_left_alone(launcher):
    busy = launcher.launch("children_think_off_turn")
    busy.off_turn.is_required = False
    launcher.running.enforce(None)
    assert not busy.off_turn.has_worked
    assert launcher.running.taken_seconds(None) == 0.0


@pytest.mark.slow(sample=True)
def test_a_bot_that_is_late_because_another_worked_is_not_charged(launcher, monkeypatch):
    """The other is not stopped in time here: nobody looks before the deadline."""
    monkeypatch.setattr(RunningBots, "enforce", lambda *_: None)
    launcher.launch("children_think_off_turn")
    other = launcher.launch("never_answers")
    with pytest.raises(LateError, match="others used the processor") as raised:
        other.ask(encode_frame({"type": "act", "ply": 0, "legal": [[1, 1]]}), 0.3)
    assert raised.value.is_disturbed


def test_after_such_a_void_match_everybody_is_stopped_from_the_beginning_on():
    bots = (load_bot(zoo.bad_bot("slow_but_good")), load_bot(zoo.bad_bot("children_think_off_turn")))
    spec = small_match(*bots, time_control=TimeControl(per_action_seconds=20.0))
    with BotPool(choose_isolation("auto")) as pool:
        record = pool.play(spec.after_void(None))
    assert record.faults == ()
    assert record.seats[1].off_turn_cpu_seconds < 0.1


def test_a_bot_that_is_kept_for_its_next_match_does_not_work_meanwhile():
    """A child of the first bot works on while two others play a match of more than a second."""
    names = ("children_think_off_turn", "good_with_note", "slow_but_good")
    busy, good, slow = (load_bot(zoo.bad_bot(name)) for name in names)
    control = TimeControl(per_action_seconds=20.0)
    with BotPool(choose_isolation("auto")) as pool:
        pool.play(small_match(busy, good, time_control=control))
        kept = pool.players[busy, 0].connection
        before = kept.process.monitor.possible_cpu_seconds()
        pool.play(small_match(slow, good, match=2, time_control=control))
        kept.process.monitor.sample_cpu()
        assert kept.off_turn.has_worked
        assert kept.process.monitor.possible_cpu_seconds() - before < 0.2
