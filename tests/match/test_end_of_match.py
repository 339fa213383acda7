import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import arena
from arena.base.enums import IsolationLevel
from arena.base.errors import BotError
from arena.base.records import Bot, SeatReport, TimeControl
from arena.match.bot_pool import BotPool
from arena.match.players import idle_detection, process_player
from arena.match.players.bot_output import GAP, HiddenPaths
from arena.match.players.idle_detection import Activity, activity_of
from arena.match.players.player import ScriptedPlayer
from arena.match.referee import Referee
from arena.sandbox.isolation.levels import choose_isolation
from tests.leftovers import no_process_left
from tests.matches import small_match
from tests.written_bots import write_bot

PATIENT = TimeControl(per_action_seconds=20.0, startup_seconds=20.0)

BOT = """
import os, sys, threading, time
from _wire import answer, receive, send

def say(text):
    print(text, file=sys.stderr, flush=True)

{before}
match = 0
while True:
    message = receive()
    if message["type"] == "hello":
        send({{"type": "ready", "protocol": 1}})
    elif message["type"] == "match":
        match = message["match"]
    elif message["type"] == "act":
        send(answer(message))
    elif message["type"] == "end":
        {at_end}
    elif message["type"] == "quit":
        sys.exit(0)
"""


@pytest.fixture
def pool():
    with no_process_left(), BotPool(choose_isolation("limits")) as pool:
        yield pool


@pytest.fixture
def patient(monkeypatch):
    monkeypatch.setattr(process_player, "END_SECONDS", 10.0)


def bot(directory, at_end, before=""):
    file = directory / "bot.py"
    write_bot(file, BOT.format(before=before, at_end=at_end))
    own = (str(directory),)
    return Bot(name="talker", version="1", command=(sys.executable, str(file)), directory=str(directory), own_files=own)


def play(pool, one, matches=3, time_control=PATIENT):
    specs = [small_match(one, one, match=number, time_control=time_control) for number in range(1, matches + 1)]
    return [pool.play(spec) for spec in specs]


def texts(records):
    return [[seat.stderr.for_operator() for seat in record.seats] for record in records]


def reports_each_once(matches):
    return [[f"end of {number}\n"] * 2 for number in range(1, matches + 1)]


HANDLERS = {
    "at once": "say(f'end of {match}')",
    "after some work": "sum(range(2_000_000)); say(f'end of {match}')",
    "after a sleep": "time.sleep(0.1); say(f'end of {match}')",
}


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("handler", HANDLERS)
def test_what_is_written_at_end_is_in_the_record_of_that_match_the_last_one_too(pool, handler, tmp_path):
    assert texts(play(pool, bot(tmp_path, HANDLERS[handler]))) == reports_each_once(3)


def test_the_file_that_shows_what_a_kept_bot_waits_for_is_opened_once(pool, tmp_path, monkeypatch):
    opened = []
    open_file = os.open
    monkeypatch.setattr(os, "open", lambda path, *flags: opened.append(str(path)) or open_file(path, *flags))
    play(pool, bot(tmp_path, HANDLERS["at once"]))
    assert sum(path.endswith("/syscall") for path in opened) == 2  # of each bot one, in three matches


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("off_turn", ["run", "freeze"])
def test_a_bot_that_is_stopped_off_turn_is_let_go_on_for_its_end(pool, off_turn, tmp_path):
    control = replace(PATIENT, off_turn=off_turn)
    assert texts(play(pool, bot(tmp_path, HANDLERS["at once"]), time_control=control)) == reports_each_once(3)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("level", IsolationLevel, indirect=True)
def test_so_it_is_at_every_level(level, tmp_path, monkeypatch):
    monkeypatch.setattr(idle_detection, "THREAD_GRACE_SECONDS", 0.5)
    with BotPool(choose_isolation(level)) as pool:  # at bubblewrap, bwrap itself waits for events all the time
        assert texts(play(pool, bot(tmp_path, HANDLERS["after a sleep"]), 2)) == reports_each_once(2)


@pytest.mark.usefixtures("patient")
def test_a_bot_behind_another_program_is_waited_for_too(pool, tmp_path):
    one = bot(tmp_path, HANDLERS["at once"])
    own = (*one.own_files, sys.prefix, sys.base_prefix)
    behind_a_shell = replace(one, command=("/bin/sh", "-c", '"$@"; exit', "sh", *one.command), own_files=own)
    assert texts(play(pool, behind_a_shell)) == reports_each_once(3)


THINKER = "threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()"


@pytest.mark.slow
def test_a_bot_whose_thread_thinks_for_ever_is_not_waited_for_for_ever(pool, tmp_path):
    control = replace(PATIENT, off_turn="run")
    one = bot(tmp_path, HANDLERS["at once"], before="sys.setswitchinterval(0.0001); " + THINKER)
    assert [record.termination for record in play(pool, one, 2, control)] == ["normal"] * 2


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("at_end", "expected"),
    [("raise RuntimeError(f'in {match}')", "RuntimeError: in 1"), ("say('bye'); os._exit(3)", "bye")],
)
def test_a_bot_that_ends_at_end_keeps_its_result_and_leaves_its_reason(pool, at_end, expected, tmp_path):
    first, second = play(pool, bot(tmp_path, at_end), 2)
    assert (first.termination, first.faults) == ("normal", ())
    for seat in first.seats:
        assert expected in seat.stderr
        assert "exit status" in seat.exit
    (fault,) = second.faults
    assert (fault.seat, fault.kind, fault.ply) == (0, "exit", 0)
    assert "after the end of its last match, whose record has its stderr: exit status" in fault.detail


@pytest.mark.usefixtures("patient")
def test_a_flood_at_end_is_cut_and_the_bot_plays_on(pool, tmp_path):
    """Two megabytes are more than is kept, and fewer than stderr_bytes allows."""
    records = play(pool, bot(tmp_path, "say('first ' + 'x' * 2_000_000 + ' last')"))
    assert [record.termination for record in records] == ["normal"] * 3
    for text in [text for pair in texts(records) for text in pair]:
        assert (text[:6], text[-6:]) == ("first ", " last\n")
        assert "[...]" in text
        assert len(text) < 70 * 1024


@pytest.mark.slow
def test_a_flood_without_end_costs_the_next_match_and_not_this_one(pool, tmp_path):
    first, second = play(pool, bot(tmp_path, "\n        while True: say('x' * 4000)"), 2)
    assert (first.termination, first.faults) == ("normal", ())
    (fault,) = second.faults
    assert (fault.kind, " on stderr in one match" in fault.detail) == ("limit", True)


def test_a_bot_that_never_reads_its_end_has_its_result_all_the_same(pool, tmp_path):
    forgetful = bot(tmp_path, "pass")
    source = Path(forgetful.directory, "bot.py")
    source.write_text(source.read_text().replace("send(answer(message))", "send(answer(message)); stop(message)"))
    stop = "def stop(message):\n    if message['ply'] >= 2: time.sleep(600)\n"
    source.write_text(source.read_text().replace("match = 0\n", stop + "match = 0\n"))
    (record,) = play(pool, forgetful, 1)
    assert (record.termination, record.faults) == ("normal", ())


@pytest.mark.slow(sample=True)
def test_the_kernel_tells_a_bot_that_waits_from_one_that_works():
    """Each line of the table is a program that says when it is where it shall be looked at."""
    table = {
        "sys.stdin.buffer.read(1)": {Activity.WAITS},
        "select.select([0], [], [])": {Activity.WAITS},
        "p = select.poll(); p.register(0); p.poll()": {Activity.WAITS},
        "e = select.epoll(); e.register(0); e.poll()": {Activity.WAITS},
        "time.sleep(60)": {Activity.WORKS},
        "select.select([0], [], [], 60)": {Activity.WORKS},
        "os.read(os.pipe()[0], 1)": {Activity.WORKS},
        "[None for _ in iter(int, 1)]": {Activity.WORKS},
        "(threading.Thread(target=time.sleep, args=(60,), daemon=True).start(), os.read(0, 1))": {Activity.WAITS},
    }
    for program, expected in table.items():
        assert seen_of(program) == expected, program


def test_a_process_that_is_ending_is_waited_for():
    """Its files are gone, and for others than root its memory can't be looked into."""
    with subprocess.Popen([sys.executable, "-Sc", ""], stdin=subprocess.PIPE) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert activity_of(process.pid, process.stdin.fileno()) is Activity.WORKS
        process.wait()
        assert activity_of(process.pid, process.stdin.fileno()) is Activity.WORKS


def seen_of(program):
    """Start a program, and look at it until it sleeps or has been seen to work for a while."""
    source = f"import os, select, sys, threading, time; os.write(1, b'x'); {program}"
    with subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            process.stdout.read(1)
            for _ in range(100):
                found = activity_of(process.pid, process.stdin.fileno())
                if found is Activity.WAITS:
                    break
                time.sleep(0.002)
        finally:
            process.kill()
    return {found}


HOME = "/srv/grid/.arena"
PLACE = f"{HOME}/bots/b6e4"


def placed_bot(name, directory=PLACE):
    return Bot(name=name, version="1", command=("./x.py",), directory=directory)


@pytest.mark.parametrize(
    ("recorded", "kept"),
    [
        (f'File "{PLACE}/s17/x.py", line 5', 'File "s17/x.py", line 5'),
        (f"I am in {PLACE}", "I am in ."),
        (f"{HOME}/people.sqlite3 and {HOME}/bots/c7/y.py", "<home>/people.sqlite3 and <home>/bots/c7/y.py"),
        (f"{Path(arena.__file__).parent}/botkit/seat.py", "<arena>/botkit/seat.py"),
        (f"{sys.prefix}/lib/x.py", "<python>/lib/x.py"),
        (f"{sys.prefix}3/x.py {HOME}.old/y {PLACE}-2", f"{sys.prefix}3/x.py {HOME}.old/y <home>/bots/b6e4-2"),
        (f"I was in {PLACE}.", "I was in .."),
        ("/usr/lib/python3/x.py", "/usr/lib/python3/x.py"),
        (f"at {PLACE[:12]}{GAP}{PLACE[12:]}/x.py", f"at {GAP}x.py"),
        (f"a{GAP}d/.arena/bots/b6e4/x.py", f"a{GAP}x.py"),
        ("no path", "no path"),
    ],
)
def test_paths_of_this_machine_leave_a_text(recorded, kept):
    assert HiddenPaths([placed_bot("a")]).removed(recorded) == kept


class Shouting(ScriptedPlayer):
    text = ""

    def end(self, *_):
        return SeatReport(stderr=self.text)


def played(text, fails):
    def choose(request):
        if fails:
            raise BotError("exit", f"{PLACE}/x.py ended")
        return request.legal[0]

    players = [Shouting(choose), Shouting(choose)]
    for player in players:
        player.text = text
    return Referee(small_match(placed_bot("a"), placed_bot("b")), players).play()


@pytest.mark.parametrize(
    ("fails", "size", "kept"),
    [(False, 4096, 4096), (False, 4097, 4096 + len(GAP)), (False, 70_000, 4096 + len(GAP)), (True, 70_000, 70_000)],
)
def test_a_match_without_a_fault_keeps_the_first_and_the_last_two_kibibytes(fails, size, kept):
    text = "a" * (size // 2) + "z" * (size - size // 2)
    for seat in played(text, fails).seats:
        recorded = seat.stderr.for_operator()
        assert (len(recorded), recorded[:2048], recorded[-2048:]) == (kept, "a" * 2048, "z" * 2048)


def test_the_detail_of_a_fault_has_no_path_either():
    assert [fault.detail.for_operator() for fault in played("", True).faults] == ["x.py ended"]
