"""Real bot processes, good and bad: the right fault, in bounded time, and nothing left behind.

Each bad bot of tests/bad_bots is named after its fault; ``test_zoo.py`` plays them all in tournaments.
"""

import json
import os
import sys
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.enums import ClockKind, FaultKind
from arena.base.errors import BotError
from arena.base.programs.service_program import TerminatedError
from arena.base.records import Bot, Limits, MatchRecord, TimeControl
from arena.games import GAMES
from arena.match.bot_pool import BotPool
from arena.match.players.bot_output import MAX_BYTES, Entry, Transcript
from arena.match.players.connection import BotConnection
from arena.match.players.manifest import load_bot
from arena.match.players.player import Answer, ScriptedPlayer
from arena.match.players.process_player import ProcessPlayer
from arena.match.referee import Referee
from arena.match.replay import check_record
from arena.match.single_match import ask_bot
from arena.protocol.frames import FrameError, decode_body, encode_frame
from arena.protocol.messages import read_action
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.metering.resource_monitor import ResourceMonitor
from arena.store.results.rows import row_of
from benchmarks import zoo_bots as zoo
from tests.conftest import BOTS
from tests.leftovers import no_process_left
from tests.matches import paper_bots, small_match
from tests.protocol.test_messages import VALUES

GOOD = BOTS / "minimal"

PATIENT = TimeControl(per_action_seconds=20.0, startup_seconds=20.0)
IMPATIENT = TimeControl(per_action_seconds=0.3, startup_seconds=20.0, margin_seconds=0.1)
"""Only where the bad bot is the first to act: an honest one may need longer on a busy machine."""


def bad_bot(name):
    return load_bot(zoo.bad_bot(name))


def good_bot():
    return Bot(name="minimal", version="1", command=(sys.executable, "bot.py"), directory=str(GOOD))


def spec(*bots, match=1, time_control=PATIENT):
    return small_match(*bots, match=match, time_control=time_control)


@pytest.fixture
def pool():
    with no_process_left(), BotPool(choose_isolation("limits")) as pool:
        yield pool


FAULTS = [
    ("never_ready", "start", "before it was ready: no answer within"),
    ("never_answers", "timeout", "no answer within 0.4"),
    ("ignores_sigterm_and_spins", "timeout", "no answer within 0.4"),
    ("stops_itself", "timeout", "no answer within 0.4"),
    ("one_byte_at_a_time", "timeout", "no answer within 0.4"),
    ("exits_at_once", "start", "before it was ready: the bot exited: exit status 3"),
    ("exits_when_asked", "exit", "the bot exited: exit status 7"),
    ("exits_in_mid_message", "exit", "in the middle of a message"),
    ("exits_after_answering", "exit", "the bot exited: exit status 0"),
    ("dies_by_signal", "exit", "signal SIGSEGV"),
    ("dies_by_realtime_signal", "exit", "the bot exited: signal 40"),
    ("binary_note", "protocol", "binary values and extension types are not used"),
    ("closes_stdout", "exit", "closed its stdout"),
    ("prints_text", "protocol", "starting 'Hell': did the bot print to stdout?"),
    ("announces_too_much", "limit", "a message of 4294967295 bytes was announced; message_bytes allows 65536"),
    ("answers_twice", "protocol", "bytes follow the answer"),
    ("wrong_ply", "protocol", "expected 0, the ply of the question"),
    ("illegal_action", "illegal", "[99, 99]: off the board"),
    ("floods_stdout", "protocol", "bytes"),
    ("never_reads", "timeout", "within 0.4"),
]


@pytest.mark.slow(only=("ignores_sigterm_and_spins",), sample=True)
@pytest.mark.parametrize(("name", "kind", "sentence"), FAULTS, ids=[name for name, _, _ in FAULTS])
def test_each_fault_is_told_apart_and_forfeits(pool, name, kind, sentence):
    control = IMPATIENT if kind == "timeout" else PATIENT
    if name == "never_ready":
        control = TimeControl(per_action_seconds=1.0, startup_seconds=3.0)  # the other one has to be ready
    record = pool.play(spec(bad_bot(name), good_bot(), time_control=control))
    (fault,) = record.faults
    assert (fault.seat, fault.kind) == (0, kind)
    assert sentence in fault.detail
    assert record.ranks == (2, 1)
    assert record.seats[0].exit != "running"


@pytest.mark.parametrize("error", [KeyboardInterrupt, TerminatedError])
def test_no_bot_is_given_time_to_leave_when_the_program_is_ended(pool, monkeypatch, error):
    graces = []
    end = BotConnection.end

    def noted_end(connection, last_words, grace_seconds):
        graces.append(grace_seconds)
        return end(connection, last_words, grace_seconds)

    def terminate(*_):
        raise error

    monkeypatch.setattr(BotConnection, "end", noted_end)
    with pytest.raises(error):
        pool.play(spec(good_bot(), good_bot()), before_asking=terminate)
    assert graces == [0, 0]
    with pytest.raises(error), pool:
        pool.play(spec(good_bot(), good_bot()))
        terminate()  # while both are idle
    assert graces == [0, 0, 0, 0]
    monkeypatch.setattr(ProcessPlayer, "ask", terminate)
    with pytest.raises(error):
        ask_bot(good_bot(), "differences", {"size": 4}, [], isolation="limits")
    assert graces == [0, 0, 0, 0, 0]


def test_a_full_pipe_does_not_block_us(pool):
    """A megabyte does not fit into the pipe of a bot that never reads; the deadline covers writing too."""
    bot = bad_bot("never_reads")
    with BotConnection(bot, choose_isolation("limits"), Limits()) as process:
        process.ask(encode_frame({"type": "hello"}), 60.0)
        with pytest.raises(BotError) as raised:
            process.ask(bytes(1_000_000), 0.2)
    assert (raised.value.kind, raised.value.detail) == ("timeout", "did not read what it was sent within 0.200 s")


def test_a_message_that_comes_before_it_is_asked_for_is_a_fault(pool):
    """Seat 1 sends an answer when the match begins, while seat 0 still thinks."""
    (fault,) = pool.play(spec(bad_bot("slow_but_good"), bad_bot("answers_unasked"))).faults
    assert (fault.seat, fault.kind, fault.ply) == (1, "protocol", 1)
    assert "came before it was asked for" in fault.detail


def test_honest_bots_play_on_with_the_same_processes(pool):
    bots = (good_bot(), bad_bot("good_with_note"))
    first = pool.play(spec(*bots))
    pids = {player.connection.process.pid for player in pool.players.values()}
    second = pool.play(spec(*bots, match=2))
    assert {player.connection.process.pid for player in pool.players.values()} == pids
    for record in (first, second):
        assert (record.termination, record.faults) == ("normal", ())
    assert [note for _, note in first.notes.for_operator()] == [{"why": "first", "depth": 1}] * 2
    assert all(seconds > 0 for seconds in first.wall_seconds)
    assert all(seconds is not None and seconds >= 0 for seconds in first.cpu_seconds)


@pytest.mark.parametrize("clock", ClockKind)
def test_a_bot_has_used_no_less_than_nothing_where_two_clocks_differ(pool, clock, monkeypatch):
    falling = count(10.0, -0.0002)
    monkeypatch.setattr(ResourceMonitor, "cpu_seconds", lambda monitor: next(falling))
    record = pool.play(spec(good_bot(), good_bot(), time_control=replace(PATIENT, clock=clock)))
    assert record.faults == ()
    assert set(record.cpu_seconds) == {0.0}
    assert [seat.cpu_seconds for seat in record.seats] == [0.0, 0.0]


def test_a_bot_that_forfeited_is_started_anew_for_the_next_match(pool):
    bots = (bad_bot("exits_when_asked"), good_bot())
    assert pool.play(spec(*bots)).faults[0].kind == "exit"
    assert pool.play(spec(*bots, match=2)).faults[0].kind == "exit"


def test_fresh_bots_are_launched_for_every_match():
    with BotPool(choose_isolation("limits"), fresh_bots=True) as pool:
        assert pool.play(spec(good_bot(), good_bot())).termination == "normal"
        assert pool.players == {}


def test_a_program_that_can_not_be_executed_is_a_start_fault(pool, tmp_path):
    program = tmp_path / "not_a_program"
    program.write_bytes(b"\x7fELF nonsense")
    program.chmod(0o755)
    for path, reason in ((program, "Exec format error"), (tmp_path / "missing", "No such file")):
        record = pool.play(spec(Bot(name="x", version="1", command=(str(path),), directory=str(tmp_path)), good_bot()))
        (fault,) = record.faults
        assert fault.kind == "start"
        assert reason in fault.detail


def test_bots_see_a_clean_environment_and_limits(pool, tmp_path):
    program = tmp_path / "looks.py"
    program.write_text(
        "import os, resource, sys\n"
        "limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]\n"
        "descriptors = sorted(os.listdir('/proc/self/fd'))\n"
        "print(sorted(os.environ), limit, descriptors, os.getpid() == os.getsid(0), file=sys.stderr)\n"
    )
    os.environ["SECRET_OF_THE_OPERATOR"] = "1"
    try:
        command = (sys.executable, str(program))
        looks = Bot(name="looks", version="1", command=command, directory=str(tmp_path))
        record = pool.play(spec(looks, good_bot()))
    finally:
        del os.environ["SECRET_OF_THE_OPERATOR"]
    seen = record.seats[0].stderr.for_operator()
    assert "SECRET" not in seen
    assert "'ARENA_BOT', 'HOME', 'LANG', 'PATH'" in seen
    assert " 256 ['0', '1', '2', '3'] True" in seen  # 3 is the listing itself


QUESTION, LARGE = b"\0\0\0\1q", b"x" * MAX_BYTES


def transcript_of(turns, keeps_sent=False):
    transcript = Transcript(keeps_sent)
    for _ in range(turns):
        transcript.add((Entry.QUESTION, QUESTION))
        transcript.add((Entry.ANSWER, LARGE))
        transcript.shrink()
    return transcript


def test_the_last_exchange_is_kept_however_large_it_is():
    transcript = transcript_of(3)
    assert transcript.before_last_exchange() == []
    assert transcript.last_exchange() == (QUESTION, MAX_BYTES.to_bytes(4, "big") + LARGE)


def test_what_is_sent_is_kept_without_the_answers():
    """A repro of a match of many plies holds one answer, not all of them."""
    frames = transcript_of(50, keeps_sent=True).frames()
    assert [frame.data for frame in frames if frame.is_sent] == [QUESTION] * 50
    assert len(frames) == 51


def test_small_frames_are_bounded_by_their_number():
    transcript = Transcript()
    for _ in range(100):
        transcript.add((Entry.QUESTION, QUESTION))
        transcript.add((Entry.ANSWER, b"a"))
    transcript.shrink()
    assert len(transcript.frames()) == 32


NEARLY_ACTIONS = st.lists(st.integers(-2, 8) | st.sampled_from(["v", "h", "+", True, 1.0, None]), max_size=3)
ACTIONS = VALUES | NEARLY_ACTIONS | st.sampled_from(["+", "-", "v1", ""])


def first_legal(request):
    return request.legal[0]


@pytest.mark.parametrize("game", GAMES)
@settings(max_examples=60, deadline=None)
@given(action=ACTIONS, note=st.none() | VALUES, at=st.integers(0, 3))
def test_any_answer_ends_as_a_record(game, action, note, at):
    def hostile(request):
        if request.ply // 2 < at:
            return first_legal(request)
        try:
            answer = {"type": "action", "ply": request.ply, "action": action, "note": note}
            message = decode_body(encode_frame(answer)[4:])
        except FrameError as error:
            raise BotError("protocol", str(error)) from error
        sent, kept = read_action(message, request.ply)
        return Answer(sent, 0.0, None, kept)

    seats = [ScriptedPlayer(hostile), ScriptedPlayer(first_legal)]
    record = Referee(small_match(*paper_bots(), game=game, options={}), seats).play()
    assert all(fault.kind in FaultKind and fault.detail.for_operator().isprintable() for fault in record.faults)
    check_record(MatchRecord.from_json(json.loads(row_of(record).record)))
