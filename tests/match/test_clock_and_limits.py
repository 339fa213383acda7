import time
from types import SimpleNamespace

import pytest

from arena.base.errors import BotError, LateError, VoidMatchError
from arena.base.records import DEFAULT_LIMITS, Limits, TimeControl
from arena.base.version import __version__
from arena.match.bot_pool import BotPool
from arena.match.players import connection
from arena.match.players.connection import BotConnection
from arena.match.players.idle_detection import STALL_SECONDS, StallDetector
from arena.match.players.manifest import load_bot
from arena.match.single_match import MAX_TRIES, play_match, play_until_judged
from arena.protocol import messages
from arena.protocol.frames import encode_frame
from arena.sandbox.isolation.levels import choose_isolation
from benchmarks import zoo_bots as zoo
from tests.matches import paper_bots, small_match
from tests.written_bots import write_bot

GOOD = load_bot(zoo.BOTS / "minimal")


def play(bot, time_control, limits=DEFAULT_LIMITS, matches=1, opponent=GOOD):
    with BotPool(choose_isolation("auto"), limits) as pool:
        for match in range(1, matches + 1):
            record = pool.play(small_match(bot, opponent, match=match, time_control=time_control))
    return record


def written(tmp_path, code):
    directory = tmp_path / "bot"
    directory.mkdir()
    (directory / "bot.toml").write_text('name = "written"\ncommand = ["python3", "bot.py"]\n')
    write_bot(directory / "bot.py", code)
    return load_bot(directory)


SLEEPER = """
import time
from _wire import answer, play, send
play(lambda message: (time.sleep(0.4), send(answer(message))))
"""

CHILD_WORKER = """
import os, time
from _wire import answer, play, send

def act(message):
    if os.fork() == 0:
        until = time.process_time() + 30
        while time.process_time() < until:
            pass
        os._exit(0)
    os.wait()
    send(answer(message))

play(act)
"""


def test_on_the_cpu_clock_waiting_costs_nothing(tmp_path):
    record = play(written(tmp_path, SLEEPER), TimeControl(per_action_seconds=0.2, clock="cpu"))
    assert record.faults == ()
    assert all(wall > 0.3 > cpu for wall, cpu in zip(record.wall_seconds[::2], record.cpu_seconds[::2], strict=True))
    assert all(seconds == round(seconds, 9) for seconds in (*record.wall_seconds, *record.cpu_seconds))


def test_the_cpu_clock_takes_from_the_bank_what_was_worked(tmp_path):
    """Four turns of 0.4 s asleep fit into a bank of half a second of CPU time, and not of wall time."""
    bot = written(tmp_path, SLEEPER)
    assert play(bot, TimeControl(per_action_seconds=None, bank_seconds=0.5, clock="cpu")).faults == ()
    assert play(bot, TimeControl(per_action_seconds=None, bank_seconds=0.5)).faults[0].kind == "timeout"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ignores_sigterm_and_spins", "a child's work"])
def test_on_the_cpu_clock_work_is_charged_children_included(tmp_path, name):
    bot = written(tmp_path, CHILD_WORKER) if "child" in name else load_bot(zoo.bad_bot(name))
    (fault,) = play(bot, TimeControl(per_action_seconds=0.3, clock="cpu")).faults
    assert fault.kind == "timeout"
    assert "s of CPU time without an answer; 0.400 s were allowed" in fault.detail


def test_on_the_cpu_clock_a_bot_that_does_nothing_is_ended_all_the_same():
    (fault,) = play(
        load_bot(zoo.bad_bot("never_answers")), TimeControl(per_action_seconds=0.05, margin_seconds=0.0, clock="cpu")
    ).faults
    sentence = fault.detail.for_operator().partition("; it waited")[
        0
    ]  # on a busy machine it also says that the bot had to wait
    assert (fault.kind, sentence) == ("timeout", "no answer within 0.050 s")


def off_turn_share(rule):
    time_control = TimeControl(per_action_seconds=20.0, off_turn=rule)
    opponent = load_bot(zoo.bad_bot("slow_but_good"))
    record = play(load_bot(zoo.bad_bot("thinks_off_turn")), time_control, matches=2, opponent=opponent)
    assert record.faults == ()
    return record.seats[0].off_turn_cpu_seconds / record.seats[1].wall_seconds


@pytest.mark.slow
def test_off_turn_work_is_measured_and_stopped_as_the_director_says():
    """A busy bot could use all of the time, or half of it; on a busy machine it gets less, whatever the rule."""
    frozen, stopped, free = map(off_turn_share, ("freeze", "auto", "run"))
    assert frozen <= 0.15
    assert stopped <= 0.5
    assert free > 2 * max(frozen, stopped)
    assert free > 0.01


class Scheduler:
    def __init__(self, monkeypatch):
        self.waited = 0.0
        monkeypatch.setattr(StallDetector, "_waited_seconds", lambda _: self.waited)


@pytest.mark.parametrize(
    ("late", "waited", "bot_cpu", "ours"),
    [
        (0.01, 0.0, 0.0, False),  # the scheduler's own grain
        (0.6, 0.0, 0.0, True),  # the machine stood still
        (0.6, 0.0, 0.8, True),  # it stood still while the bot was thinking
        (0.6, 0.6, 0.6, False),  # the bot's threads kept us from running
        (0.6, 0.6, 0.0, True),  # somebody else did
        (0.6, 0.57, 0.58, False),
        (0.6, 0.3, 0.3, True),
    ],
)
def test_a_delay_is_a_stall_unless_the_bots_explain_it(monkeypatch, late, waited, bot_cpu, ours):
    scheduler = Scheduler(monkeypatch)
    detector = StallDetector()
    detector.mark(10.0)
    scheduler.waited += waited
    assert detector.has_stalled(late, 10.0 + bot_cpu) is ours
    detector.close()
    assert STALL_SECONDS < 0.1  # below the margin that is forgiven anyway


def test_when_the_arena_itself_stands_still_the_match_is_void(monkeypatch):
    """It looks two seconds after the deadline, without having waited for the processor."""
    now = time.perf_counter
    with BotConnection(load_bot(zoo.bad_bot("never_answers")), choose_isolation("auto"), DEFAULT_LIMITS) as process:
        process.ask(encode_frame(messages.hello(__version__, DEFAULT_LIMITS)), 60.0)
        begun = now()
        late = SimpleNamespace(perf_counter=lambda: now() + 2.0 * (now() > begun + 0.2))
        monkeypatch.setattr(connection, "time", late)
        with pytest.raises(VoidMatchError, match="the machine stood still: the arena looked"):
            process.ask(encode_frame({"type": "act", "ply": 0, "legal": [[1, 1]]}), 0.3)


def test_an_answer_that_is_seen_late_through_our_own_fault_costs_nobody_a_match():
    process = BotConnection(load_bot(zoo.bad_bot("good_with_note")), choose_isolation("auto"), DEFAULT_LIMITS)
    try:
        with pytest.raises(VoidMatchError, match=r"the arena looked 1\.000 s after a deadline"):
            process._raise_late_answer(now=12.0, asked=10.0, deadline=11.0, seconds=1.0)
        began = time.perf_counter()
        _, wall_seconds, _ = process.ask(encode_frame(messages.hello(__version__, DEFAULT_LIMITS)), 60.0)
        assert 0.0 < wall_seconds <= time.perf_counter() - began
        with pytest.raises(BotError, match=r"the answer came after 1\.010 s; 1\.000 s were allowed"):
            process._raise_late_answer(now=11.01, asked=10.0, deadline=11.0, seconds=1.0)
    finally:
        process.end()


BREAKING = {
    "message_bytes": ({"message_bytes": 1000}, "note='x' * 2000", "message of 2", "message_bytes allows 1000"),
    "message_depth": ({"message_depth": 4}, "action=[[[[[1]]]]]", "nested deeper than 4", "message_depth"),
    "message_nodes": ({"message_nodes": 20}, "action=[0] * 30", "more than 20 values", "message_nodes"),
    "note_bytes": ({"note_bytes": 10}, "note='x' * 20", "a note of 21 bytes", "note_bytes allows 10"),
}


@pytest.mark.parametrize("what", BREAKING)
def test_a_broken_limit_is_named_with_its_figure(tmp_path, what):
    limits, changes, *sentence = BREAKING[what]
    bot = written(tmp_path, f"from _wire import play_with\nplay_with({changes})\n")
    (fault,) = play(bot, TimeControl(per_action_seconds=20.0), Limits(**limits)).faults
    assert fault.kind == "limit"
    assert all(text in fault.detail for text in sentence)


def test_text_on_stderr_behind_the_answer_counts_too(tmp_path):
    """It fits into the pipe, so nothing but the next question brings it to light."""
    code = (
        "import os\nfrom _wire import answer, play, send\n"
        "play(lambda message: (send(answer(message)), message['ply'] < 2 and os.write(2, b'x' * 20_000)))\n"
    )
    bot = written(tmp_path, code)
    (fault,) = play(bot, TimeControl(per_action_seconds=20.0), Limits(stderr_bytes=15_000)).faults
    assert (fault.kind, " on stderr in one match" in fault.detail) == ("limit", True)


@pytest.mark.slow
def test_the_cpu_limit_is_for_each_match(tmp_path):
    """0.15 s of CPU time in each of three matches stays below a limit of 0.3 s, and would not if it were added up."""
    code = (
        "import time\nfrom _wire import answer, play, send\n"
        "def act(message):\n"
        "    until = time.process_time() + (0.15 if message['ply'] < 2 else 0)\n"
        "    while time.process_time() < until: pass\n"
        "    send(answer(message))\n"
        "play(act)\n"
    )
    record = play(written(tmp_path, code), TimeControl(per_action_seconds=20.0), Limits(cpu_seconds=0.3), matches=3)
    assert record.faults == ()


@pytest.mark.slow
def test_the_work_of_a_turn_that_fails_counts_as_on_turn():
    record = play(
        load_bot(zoo.bad_bot("ignores_sigterm_and_spins")), TimeControl(per_action_seconds=0.4, margin_seconds=0.0)
    )
    (fault,) = record.faults
    assert fault.kind == "timeout"
    assert record.seats[0].cpu_seconds > 10 * record.seats[0].off_turn_cpu_seconds


SPEC = small_match(*paper_bots())


def late_times(times, seat):
    seen = []

    def play(spec):
        seen.append(spec.void_tries)
        if len(seen) <= times:
            error = LateError("the machine stood still")
            error.seat = seat
            raise error
        return "the record"

    return play, seen


def test_the_next_try_knows_who_was_to_act_in_the_last_ones():
    play, seen = late_times(MAX_TRIES - 1, seat=1)
    assert play_until_judged(play, SPEC) == "the record"
    assert seen == [(), (1,), (1, 1)]
    play, seen = late_times(MAX_TRIES, seat=None)
    with pytest.raises(LateError, match="stood still"):  # nobody can say
        play_until_judged(play, SPEC)
    assert len(seen) == MAX_TRIES == 3


def test_another_failure_is_not_tried_again():
    tries = []

    def fail(spec):
        tries.append(spec)
        raise VoidMatchError("the disk is full")

    with pytest.raises(VoidMatchError, match="disk"):
        play_until_judged(fail, SPEC)
    assert len(tries) == 1


def test_a_single_match_is_played_again(monkeypatch):
    def first(game, state, clock):
        return game.legal_actions(state)[0]

    played, calls = BotPool.play, []

    def late_at_first(pool, spec, *arguments):
        calls.append(spec)
        if len(calls) == 1:
            raise LateError("the machine stood still")
        return played(pool, spec, *arguments)

    monkeypatch.setattr(BotPool, "play", late_at_first)
    record = play_match("differences", first, first, options={"size": 3})
    assert (record.termination, len(calls)) == ("normal", 2)
    assert calls[1].void_tries == (None,)
