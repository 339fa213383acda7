import contextlib
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.base.errors import DatabaseError, UsageError
from arena.base.programs.service_program import (
    AWAY_SECONDS,
    IDLE_SECONDS,
    MAX_CHARACTERS,
    MAX_NOTES,
    STEADY_SECONDS,
    HealthProblem,
    Idleness,
    ProblemNote,
    TerminatedError,
    ignore_ctrl_c,
    keep_trying,
    noted_problems,
    starting_process,
)

LOG = logging.getLogger("arena.test")


class Note:
    """What a program has noted, in order; nothing for well."""

    def __init__(self):
        self.sentences = []

    def report(self, sentence):
        self.sentences.append(sentence)

    def clear(self):
        self.sentences.append("")


class Program:
    """Raises one thing after the other, each after some seconds of work."""

    def __init__(self, *ends, note=None):
        self.ends, self.note = list(ends), note or Note()
        self.seconds = 0.0
        self.sleeps = []

    def work(self):
        seconds, error = self.ends.pop(0)
        self.seconds += seconds
        if error is not None:
            raise error

    def sleep(self, seconds):
        self.sleeps.append(seconds)

    def run(self, caplog):
        clocks = {"sleep": self.sleep, "now": lambda: self.seconds}
        keep_trying(self.work, LOG, "nothing is done now", self.note, is_over=lambda: not self.ends, **clocks)
        return [record.getMessage() for record in caplog.records]


AWAY, OTHER = DatabaseError("it is away"), UsageError("no such file")
IS_AWAY, IS_OTHER = "nothing is done now: it is away", "nothing is done now: no such file"
PROGRAMS = {
    "each reason is logged once": ([(0, AWAY), (1, AWAY), (1, OTHER), (1, AWAY)], [IS_AWAY, IS_OTHER, IS_AWAY]),
    "and again after it has worked": ([(0, AWAY), (STEADY_SECONDS + 1, AWAY)], [IS_AWAY] * 2),
}
"""What a program meets before it has nothing to do, and the lines of its log."""


@pytest.mark.parametrize("what", PROGRAMS)
def test_a_program_logs_why_nothing_is_done_and_tries_again(caplog, what):
    ends, lines = PROGRAMS[what]
    program = Program(*ends, (0, None))
    assert program.run(caplog) == lines
    assert program.sleeps == [AWAY_SECONDS] * len(ends)


def test_a_program_that_has_nothing_to_do_ends_and_why_nothing_is_done_is_noted_until_work_is_done(caplog):
    program = Program((0, AWAY), (0, None), (0, ZeroDivisionError))
    program.run(caplog)
    assert (len(program.ends), program.note.sentences) == (1, [IS_AWAY])
    program = Program((0, AWAY), (0, None))
    program.run(caplog)
    assert program.note.sentences == [IS_AWAY, ""]


def test_a_program_is_idle_after_nothing_has_been_to_do_for_a_while():
    now = [0.0]
    idleness = Idleness(lambda: now[0])
    found = []
    for seconds, is_busy in ((0, False), (IDLE_SECONDS - 1, False), (2, True), (IDLE_SECONDS - 1, False), (1, False)):
        now[0] += seconds
        found.append(idleness.is_over(is_busy))
    assert found == [False, False, False, False, True]


@pytest.mark.parametrize(
    ("end", "noted"),
    [
        (ZeroDivisionError("secret"), "by a defect of the arena that the log has: ZeroDivisionError"),
        (TerminatedError(), None),
    ],
)
def test_a_defect_ends_the_program_and_is_noted_and_sigterm_leaves_no_note(caplog, end, noted):
    program = Program((0, end))
    with pytest.raises(type(end)):
        program.run(caplog)
    assert program.note.sentences == [f"nothing is done now, {noted}" if noted else ""]


ENDS_NOW = """
import atexit, sys, tempfile
from arena.base.programs.service_program import end_now

class Module:
    def __del__(self):
        print("taken apart")

module = Module()
kept = tempfile.TemporaryDirectory(dir=sys.argv[1])
atexit.register(print, "at exit")
print("worked")
end_now(7)
"""


def ran(text, *arguments):
    done = subprocess.run([sys.executable, "-c", text, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_it_does_what_is_to_be_done_at_its_end_and_is_not_taken_apart(tmp_path):
    assert ran(ENDS_NOW, tmp_path) == (7, "worked\nat exit\n", "")
    assert list(tmp_path.iterdir()) == []


def test_it_ends_quietly_though_nobody_reads_what_it_says():
    text = "from arena.base.programs.service_program import end_now\ninput()\nprint('worked')\nend_now(3)"
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    with subprocess.Popen([sys.executable, "-c", text], env=environment, **pipes) as program:
        program.stdout.close()
        program.stdin.write(b"\n")
        program.stdin.close()
        assert (program.wait(60), program.stderr.read()) == (3, b"")


TERMINATED_AGAIN = """
import atexit, os, signal
from arena.base.programs.service_program import run_service
atexit.register(os.kill, os.getpid(), signal.SIGTERM)
run_service(os.getppid(), 0, lambda: os.kill(os.getpid(), signal.SIGTERM))
"""


@pytest.mark.parametrize(("work", "code"), [("None", 3), ("os.kill(os.getpid(), signal.SIGTERM)", 0)])
def test_the_exit_code_says_whether_there_was_nothing_to_do(work, code):
    text = "import os, signal\nfrom arena.base.programs.service_program import end_now, run_service\n"
    text += f"end_now(run_service(os.getppid(), 0, lambda: {work}))"
    assert ran(text)[0] == code


TERMINATED_IN_A_CALLBACK = """
import os, signal, threading, weakref
from arena.base.programs.service_program import run_service

class Thing:
    pass

def work():
    thing = Thing()
    reference = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGTERM))
    del thing
    threading.Event().wait()

run_service(os.getppid(), 0, work)
"""


TERMINATED_WHILE_DROPPED = f"""
import os, signal, threading
begin = threading.Thread.start
threading.Thread.start = lambda thread: (begin(thread), os.kill(os.getpid(), signal.SIGTERM))
{TERMINATED_IN_A_CALLBACK}"""


@pytest.mark.parametrize(
    "program",
    [TERMINATED_AGAIN, TERMINATED_IN_A_CALLBACK, TERMINATED_WHILE_DROPPED],
    ids=["while it ends", "in a callback", "while that is dropped"],
)
def test_sigterm_ends_it_without_a_traceback_wherever_it_comes(program):
    assert ran(program) == (0, "", "")


TERMINATED_AT_AN_INSTANT = """
import os, signal, sys
from arena.tournament.directors.supervised_run import Shutdown
from arena.base.programs.service_program import run_service

def work():
    if sys.argv[1] == "shutdown":
        leaving = Shutdown()
        leaving.is_asked = True
        leaving.on_sigterm()
    before_its_end()

def before_its_end():
    pass

def trace(frame, event, argument):
    # Count the instants from that at which SIGTERM is caught, and end the program at one of them.
    global instants
    frame.f_trace_opcodes = True
    if callable(signal.getsignal(signal.SIGTERM)):
        instants -= 1
        if instants == 0:
            sys.settrace(None)
            signal.raise_signal(signal.SIGTERM)
    return trace

def is_quiet(instant):
    # Return whether the program ends quietly that SIGTERM comes to at an instant; None if it is over before.
    global instants
    instants = instant
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.settrace(trace)
    try:
        run_service(os.getppid(), 0, work)
    except KeyboardInterrupt:
        return False
    finally:
        sys.settrace(None)
    return True if instants <= 0 else None

tried = 0
while (answer := is_quiet(tried + 1)) is not None:
    tried += 1
    if not answer:
        print("not at instant", tried)
print("tried some" if tried > 20 else "tried too few")
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "shutdown"])
def test_sigterm_ends_it_quietly_at_every_instant(kind):
    """Also before its work has begun, and after that has ended, where a supervisor would see the code of Ctrl-C."""
    assert ran(TERMINATED_AT_AN_INSTANT, kind) == (0, "tried some\n", "")


def report_ctrl_c(pipe):
    pipe.send(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
    ignore_ctrl_c()
    pipe.send(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
    pipe.recv()
    pipe.send(signal.getsignal(signal.SIGINT))


def test_a_process_that_starts_is_not_interrupted():
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=report_ctrl_c, args=(theirs,), daemon=True)
    with ours, starting_process():
        process.start()
        os.kill(process.pid, signal.SIGINT)
        theirs.close()
        assert (ours.recv(), ours.recv()) == ([signal.SIGINT], [])
        os.kill(process.pid, signal.SIGINT)
        ours.send("again")
        assert ours.recv() is signal.SIG_IGN
    process.join()
    assert process.exitcode == 0


@pytest.mark.parametrize("error", [None, OSError])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_comes_when_the_process_has_been_started(number, error):
    done = []
    earlier = {one: signal.signal(one, lambda one, frame: done.append(one)) for one in (signal.SIGINT, signal.SIGTERM)}
    handlers = [signal.getsignal(one) for one in earlier]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    try:
        with contextlib.suppress(OSError), starting_process():
            signal.raise_signal(number)
            done.append("started")
            if error is not None:
                raise error
        assert done == ["started", number]
        assert [signal.getsignal(one) for one in earlier] == handlers
        assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == mask
    finally:
        for one, handler in earlier.items():
            signal.signal(one, handler)


# What a service notes of its problems, and how it is read.


def noted(home):
    return list(noted_problems(home))


def test_a_note_is_there_until_it_is_cleared(tmp_path):
    note = ProblemNote(tmp_path, "checker")
    assert noted(tmp_path) == []
    note.report("the database is away")
    note.report("the database is away")
    assert noted(tmp_path) == [HealthProblem("checker", "the database is away")]
    note.report("the disk is full")
    assert noted(tmp_path) == [HealthProblem("checker", "the disk is full")]
    note.clear()
    note.clear()
    assert noted(tmp_path) == []
    note.report("the disk is full")
    assert len(noted(tmp_path)) == 1
    ProblemNote(tmp_path, "checker").clear()  # the program after one that was killed
    assert noted(tmp_path) == []


def test_each_ladder_has_its_own(tmp_path):
    places = ("arena:open_ladder", "/etc/arena/spring.toml", "../../up", "a" * 1000, "\n", "Ада")
    for place in places:
        ProblemNote(tmp_path, "ladder", place).report(f"{place} can't be played")
    ProblemNote(tmp_path, "ladder", "/etc/arena/spring.toml").clear()
    assert {one.sentence[:20] for one in noted(tmp_path)} == {
        f"{place} can't be played"[:20] for place in places if "spring" not in place
    }
    assert {one.service for one in noted(tmp_path)} == {"ladder"}
    assert {path.parent.name for path in tmp_path.rglob("*.trouble")} == {"parts"}


def test_what_is_read_is_bounded(tmp_path):
    ProblemNote(tmp_path, "play").report("x" * 10_000)
    assert [len(one.sentence) for one in noted(tmp_path)] == [MAX_CHARACTERS]
    for number in range(2 * MAX_NOTES):
        ProblemNote(tmp_path, "ladder", f"{number}").report("\ud800")
    assert len(noted(tmp_path)) == MAX_NOTES


def test_a_home_that_is_away_is_not_made_again(tmp_path):
    """It could not be moved back to its place."""
    ProblemNote(tmp_path / "home", "play").report("the store is away")
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("what", ["file", "directory"])
def test_where_nothing_can_be_written_the_program_goes_on(tmp_path, what):
    if what == "file":
        (tmp_path / "parts").write_text("in the way")
    else:
        (tmp_path / "parts" / "checker.trouble").mkdir(parents=True)
    note = ProblemNote(tmp_path, "checker")
    for seconds in range(10):
        note.report(f"the database is away for {seconds} s")
    note.clear()
    assert noted(tmp_path) == []
    assert len(list(tmp_path.rglob("*"))) <= 3


KILLED = """
import multiprocessing, os, signal, sys
from arena.base.programs.service_program import quiet_tracker
quiet_tracker()
queue = multiprocessing.get_context("spawn").Queue()
print("ready", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_nothing_is_printed_about_semaphores_of_a_program_that_was_killed():
    """The tracker, which has the same stderr, ends after it has removed them."""
    assert ran(KILLED) == (-signal.SIGKILL, "ready\n", "")


@pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/proc/self/autogroup").exists(),  # others may set it only now and then
    reason="needs root, and sessions that share out time",
)
def test_the_niceness_of_a_service_holds_against_other_sessions_too():
    """Where Linux shares out its time by sessions, that of a process alone says nothing to another session."""
    text = "import os\nfrom pathlib import Path\nfrom arena.base.programs.service_program import run_service\n"
    text += "run_service(os.getppid(), 7, lambda: print(os.nice(0), Path('/proc/self/autogroup').read_text(), end=''))"
    own = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, start_new_session=True)
    process, _, session = own.stdout.partition(" ")
    assert (process, session.partition(" ")[2]) == (str(min(os.nice(0) + 7, 19)), "nice 7\n"), own
    wrapped = [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {text!r}])"]
    others = subprocess.run(wrapped, capture_output=True, text=True, start_new_session=True).stdout
    assert others.endswith("nice 0\n"), "a program in the session of others left them as they were"


def test_a_note_is_written_through_no_link(tmp_path):
    (tmp_path / "thesis").write_text("years")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/checker.new").symlink_to(tmp_path / "thesis")
    ProblemNote(tmp_path, "checker").report("the disk is full")
    assert (tmp_path / "thesis").read_text() == "years"
    assert noted(tmp_path) == [HealthProblem("checker", "the disk is full")]
