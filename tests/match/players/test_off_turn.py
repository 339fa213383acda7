import contextlib
import os
import signal
import time

import pytest

from arena.base.enums import FaultKind, IsolationLevel
from arena.base.errors import BotError, LateError
from arena.base.records import DEFAULT_LIMITS, MEBIBYTE, Limits, TimeControl
from arena.match.bot_pool import BotPool
from arena.match.players.connection import BotConnection
from arena.match.players.manifest import load_bot
from arena.match.players.off_turn import RunningBots
from arena.match.players.player import HUMAN, HumanPlayer
from arena.protocol.frames import encode_frame
from arena.sandbox.isolation import procfs
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.sandbox_policy import Isolation
from arena.tournament.executors.executor import Job, Played, WorkQueue
from arena.tournament.executors.table import open_executor
from benchmarks import zoo_bots as zoo
from benchmarks.traces import bot_processes
from tests.leftovers import no_process_left
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
    time.sleep(0.2)
    busy.process.monitor.sample_cpu()
    busy.process.monitor.sample_cpu()  # by now everything that was on its way has been seen
    used = busy.process.monitor.possible_cpu_seconds()
    time.sleep(0.2)
    busy.process.monitor.sample_cpu()
    assert busy.process.monitor.possible_cpu_seconds() - used < 0.02


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
        pool.play(small_match(slow, good, match=2, time_control=control).after_void(None))
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
    names = ("children_think_off_turn", "good_with_note", "slow_but_good")
    busy, good, slow = (load_bot(zoo.bad_bot(name)) for name in names)
    control = TimeControl(per_action_seconds=20.0)
    with BotPool(choose_isolation("auto")) as pool:
        pool.play(small_match(busy, slow, time_control=control))
        kept = pool.players[busy, 0].connection
        before = kept.process.monitor.possible_cpu_seconds()
        pool.play(small_match(slow, good, match=2, time_control=control))
        kept.process.monitor.sample_cpu()
        assert kept.off_turn.has_worked
        assert kept.process.monitor.possible_cpu_seconds() - before < 0.2


LIMITS = Limits(memory_bytes=256 * MEBIBYTE, processes=64)
PATIENT = {"per_action_seconds": 20.0, "startup_seconds": 20.0}
LOOK_SECONDS = 0.01
SURE_SECONDS = 0.3
"""Whatever has been still for so long was seen by two looks, and stays still."""

DEAD = ("Z", "X")
STILL = ("T", *DEAD)
"""States of processes; a bot that may work is also stopped while its memory is measured, on a busy machine for long."""


def bad_bot(name, is_warm=False):
    return load_bot(zoo.bad_bot(name, is_warm))


def are_all_bots(states):
    for process in bot_processes():
        for thread in (process / "task").iterdir():
            with contextlib.suppress(OSError):
                if (thread / "stat").read_text().rpartition(")")[2].split()[0] not in states:
                    return False
    return True


def bytes_of_bots():
    held = 0
    for process in bot_processes():
        with contextlib.suppress(OSError):  # pages that a child shares count once
            rows = (process / "smaps_rollup").read_text().splitlines()
            held += sum(int(row.split()[1]) * 1024 for row in rows if row.startswith("Pss_Anon:"))
    return held


def wait_until_all_are(states=STILL):
    began = still_since = time.monotonic()
    while time.monotonic() - still_since < SURE_SECONDS:
        assert still_since - began < 60.0, [str(process) for process in bot_processes()]
        with contextlib.suppress(OSError):
            if are_all_bots(states):
                time.sleep(LOOK_SECONDS)
                continue
        still_since = time.monotonic()


def play_against_person(bot, isolation, states=STILL, **control):
    def act(seat, request):
        wait_until_all_are(states)
        assert bytes_of_bots() < LIMITS.memory_bytes
        return request.legal[-1]

    match = small_match(bot, HUMAN, time_control=TimeControl(**PATIENT, **control))
    with no_process_left(), BotPool(isolation, LIMITS) as pool:
        return pool.play(match, people={1: HumanPlayer(act)}).faults


CASES = [(level, False, False) for level in IsolationLevel]
CASES += [(IsolationLevel.LANDLOCK, False, True), (IsolationLevel.LANDLOCK, True, True)]


@pytest.mark.slow
@pytest.mark.parametrize(("level", "is_warm", "with_groups"), CASES, indirect=["level"])
def test_what_a_bot_goes_on_with_while_a_person_thinks_is_stopped(level, is_warm, with_groups):
    isolation = choose_isolation(level)
    if not with_groups:
        isolation = Isolation(level=isolation.level, user_namespace=isolation.user_namespace)
    for name in ("grows_after_its_answer", "continues_itself", "children_go_on"):
        faults = play_against_person(bad_bot(name, is_warm), isolation)
        assert {(fault.seat, fault.kind) for fault in faults} <= {(0, FaultKind.LIMIT)}, (name, faults)


@pytest.mark.slow
def test_a_bot_that_may_work_while_a_person_thinks_keeps_to_its_limits():
    isolation = Isolation(level=choose_isolation("auto").level)
    (fault,) = play_against_person(bad_bot("grows_after_its_answer"), isolation, DEAD, off_turn="run")
    assert fault.kind == FaultKind.LIMIT
    assert "memory_bytes allows" in fault.detail or "processes allows" in fault.detail


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local", "in-process"])
def test_what_kept_bots_go_on_with_between_matches_is_stopped(executor):
    bots = tuple(map(bad_bot, ("grows_after_its_answer", "leaves_a_daemon", "children_go_on", "continues_itself")))
    rules = (0, "auto"), (2, "run")  # between matches it makes no difference what a bot may do in them
    controls = {k: TimeControl(**PATIENT, off_turn=rule) for k, rule in rules}
    spec = [small_match(*bots[k : k + 2], match=k, time_control=controls[k]) for k in controls]
    with no_process_left(), open_executor(executor, Job(bots=bots, limits=LIMITS, workers=1)) as opened:
        for _ in range(2):
            queue = WorkQueue(spec)
            for results in opened.run(queue):
                for result in results:
                    assert isinstance(result, Played), result
                    queue.done(result.match)
            wait_until_all_are()
            assert bytes_of_bots() < LIMITS.memory_bytes


def test_a_stopped_bot_that_was_continued_is_stopped_again_although_it_does_nothing(launcher, isolation):
    """A child that is stopped a moment after its parent can continue the parent, which then waits for its turn."""
    bot = launcher.launch("never_answers", isolation)
    bot.off_turn.watch()
    os.kill(bot.process.pid, signal.SIGCONT)
    assert not bot.off_turn.watch()
    wait_until_all_are()
    assert bot.off_turn.watch()
    assert bot.off_turn.fault is None


@pytest.mark.parametrize("name", ["continues_itself", "good_with_note"])
def test_a_process_with_a_timer_that_may_continue_it_is_not_taken_for_stopped(name):
    with BotPool(choose_isolation("auto")) as pool:
        pool.play(small_match(bad_bot("good_with_note"), bad_bot(name), time_control=TimeControl(**PATIENT)))
        pool.freeze_kept()
        process = list(pool.players.values())[-1].connection.process
        assert not procfs.is_stopped(os.getpid())
        if name == "good_with_note":
            wait_until_all_are()
        assert process.is_stopped() == (name == "good_with_note")
