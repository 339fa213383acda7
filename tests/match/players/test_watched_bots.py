import contextlib
import os
import time
from types import SimpleNamespace

import pytest

from arena.base.enums import FaultKind, IsolationLevel
from arena.base.records import MEBIBYTE, Limits, TimeControl
from arena.match.bot_pool import BotPool
from arena.match.players import off_turn
from arena.match.players.manifest import load_bot
from arena.match.players.off_turn import MAX_WATCH_SECONDS, RunningBots
from arena.match.players.player import HUMAN, HumanPlayer
from arena.sandbox.isolation import procfs
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.sandbox_policy import Isolation
from arena.tournament.executors.executor import Job, Played, WorkQueue
from arena.tournament.executors.table import open_executor
from benchmarks import zoo_bots as zoo
from benchmarks.traces import bot_processes
from tests.leftovers import no_process_left
from tests.matches import small_match

LIMITS = Limits(memory_bytes=256 * MEBIBYTE, processes=64)
PATIENT = {"per_action_seconds": 20.0, "startup_seconds": 20.0}
LOOK_SECONDS = 0.01
SURE_SECONDS = 0.3
"""Whatever has been still for so long was seen by two looks, and stays still."""


def bad_bot(name, is_warm=False):
    return load_bot(zoo.bad_bot(name, is_warm))


def is_anything_awake():
    """Return whether a thread of a bot is neither stopped nor dead (proc_pid_stat(5))."""
    for process in bot_processes():
        for thread in (process / "task").iterdir():
            with contextlib.suppress(OSError):
                if (thread / "stat").read_text().rpartition(")")[2].split()[0] not in ("T", "Z", "X"):
                    return True
    return False


def bytes_of_bots():
    held = 0
    for process in bot_processes():
        with contextlib.suppress(OSError):
            rows = (process / "status").read_text().splitlines()
            held += sum(int(row.split()[1]) * 1024 for row in rows if row.startswith("RssAnon:"))
    return held


def wait_until_all_is_still():
    began = still_since = time.monotonic()
    while time.monotonic() - still_since < SURE_SECONDS:
        assert still_since - began < 60.0, [str(process) for process in bot_processes()]
        with contextlib.suppress(OSError):
            if not is_anything_awake():
                time.sleep(LOOK_SECONDS)
                continue
        still_since = time.monotonic()


def play_against_person(bot, isolation, **control):
    def act(seat, request):
        wait_until_all_is_still()
        assert bytes_of_bots() < LIMITS.memory_bytes
        return request.legal[-1]

    match = small_match(bot, HUMAN, time_control=TimeControl(**PATIENT, **control))
    with no_process_left(), BotPool(isolation, LIMITS) as pool:
        return pool.play(match, people={1: HumanPlayer(act)}).faults


CASES = [(level, False) for level in IsolationLevel] + [(IsolationLevel.LANDLOCK, True)]


@pytest.mark.slow
@pytest.mark.parametrize("groups", ["as it is", "without control groups"])
@pytest.mark.parametrize(("level", "is_warm"), CASES, indirect=["level"])
def test_what_a_bot_goes_on_with_while_a_person_thinks_is_stopped(level, is_warm, groups):
    isolation = choose_isolation(level)
    if groups != "as it is":
        isolation = Isolation(level=isolation.level, user_namespace=isolation.user_namespace)
    for name in ("grows_after_its_answer", "continues_itself", "children_go_on"):
        faults = play_against_person(bad_bot(name, is_warm), isolation)
        assert {(fault.seat, fault.kind) for fault in faults} <= {(0, FaultKind.LIMIT)}, (name, faults)


@pytest.mark.slow
def test_a_bot_that_may_work_while_a_person_thinks_keeps_to_its_limits():
    isolation = Isolation(level=choose_isolation("auto").level)
    (fault,) = play_against_person(bad_bot("grows_after_its_answer"), isolation, off_turn="run")
    assert fault.kind == FaultKind.LIMIT
    assert "memory_bytes allows" in fault.detail or "processes allows" in fault.detail


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local", "in-process"])
def test_what_kept_bots_go_on_with_between_matches_is_stopped(executor):
    bots = tuple(map(bad_bot, ("grows_after_its_answer", "leaves_a_daemon", "children_go_on", "continues_itself")))
    spec = [small_match(*bots[k : k + 2], match=k, time_control=TimeControl(**PATIENT)) for k in (0, 2)]
    with no_process_left(), open_executor(executor, Job(bots=bots, limits=LIMITS, workers=1)) as opened:
        for _ in range(2):
            queue = WorkQueue(spec)
            for results in opened.run(queue):
                for result in results:
                    assert isinstance(result, Played), result
                    queue.done(result.match)
            wait_until_all_is_still()
            assert bytes_of_bots() < LIMITS.memory_bytes


def test_a_bot_is_frozen_between_two_matches_whatever_it_may_do_in_them():
    bots = bad_bot("good_with_note"), bad_bot("uses_children")
    with BotPool(choose_isolation("auto")) as pool:
        for match in range(2):
            for off_turn_rule in ("auto", "freeze", "run"):
                control = TimeControl(**PATIENT, off_turn=off_turn_rule)
                assert pool.play(small_match(*bots, match=match, time_control=control)).faults == ()
                pool.freeze_kept()
                wait_until_all_is_still()


class Watched:
    def __init__(self, *looks):
        self._looks = iter(looks)

    def watch(self):
        return next(self._looks)


def test_bots_that_are_shown_to_be_stopped_are_looked_at_ever_more_rarely(monkeypatch):
    pauses = []
    looks = [False, False, True, True, False, *[True] * 12]

    class Over:
        def wait(self, seconds):
            pauses.append(round(seconds, 3))
            return len(pauses) > len(looks)

        def set(self):
            pass

    monkeypatch.setattr(off_turn, "threading", SimpleNamespace(Event=Over, Thread=off_turn.threading.Thread))
    bots = RunningBots()
    bots.add(Watched(*looks))
    bots.add(Watched(*[True] * len(looks)))
    with bots.watched():
        pass
    doubled = [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2]
    assert pauses == [0.1, 0.1, 0.1, 0.2, 0.4, 0.1, *doubled, *[MAX_WATCH_SECONDS] * 3]


@pytest.mark.parametrize("name", ["continues_itself", "good_with_note"])
def test_a_process_with_a_timer_that_may_continue_it_is_not_taken_for_stopped(name):
    with BotPool(choose_isolation("auto")) as pool:
        pool.play(small_match(bad_bot("good_with_note"), bad_bot(name), time_control=TimeControl(**PATIENT)))
        pool.freeze_kept()
        process = list(pool.players.values())[-1].connection.process
        assert not procfs.is_stopped(os.getpid())
        if name == "good_with_note":
            wait_until_all_is_still()
        assert process.is_stopped() == (name == "good_with_note")


def test_a_bot_that_is_kept_is_frozen_while_others_play():
    kept, *others = (bad_bot(name) for name in ("uses_children", "good_with_note", "slow_but_good"))
    with BotPool(choose_isolation("auto")) as pool:
        control = TimeControl(**PATIENT)
        pool.play(small_match(kept, others[0], time_control=control))
        states = [player.connection.process.is_frozen for player in pool.players.values()]
        pool.play(small_match(*others, match=2, time_control=control))
        states += [player.connection.process.is_frozen for player in pool.players.values()]
    assert states == [False, False, True, False, False]
