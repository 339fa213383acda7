import asyncio
import ctypes
import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from arena.base.programs.service_program import NOTHING_TO_DO, noted_problems
from arena.community.submissions.upload_directory import note_containment
from arena.match.players.manifest import load_bot
from arena.sandbox.isolation.reaper import children
from arena.server.http import supervisor
from arena.server.http.supervisor import Service, View, _is_wanted, _Watched
from arena.server.operating.service_programs import programs
from arena.store.home import PEOPLE_FILE, ArenaHome
from arena.store.people.contest import ContestStage
from arena.store.people.directors import DesiredState, DirectorState
from arena.store.people.people_store import PeopleStore
from arena.store.people.unrated_match import Choices
from arena.store.people.values import Role, SubmissionState
from tests.community.contests.samples import contest_of
from tests.conftest import BOTS
from tests.server.conftest import add_tournament, client_of

DAY = 86_400
NOW = 1_800_000_000.0


class StandIn:
    rests, problem = True, ""


class World:
    def __init__(self, directory):
        self.seconds = NOW
        self.home, self.people = ArenaHome(directory), PeopleStore(directory / PEOPLE_FILE, lambda: self.seconds)
        self.watched = [_Watched(one, StandIn()) for one in programs(directory, [("open", "arena:open_ladder")], 4)]
        self.ada = self.people.accounts.add("ada", Role.DIRECTOR, "test")
        self.people.directors.report_state("open", "ladder", DirectorState.IDLE)

    def wanted(self):
        view = View(self.home, self.people)
        return [one.program.service.name for one in self.watched if one.is_wanted(view)]


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    yield world
    world.people.close()
    world.home.close()


def submit_bot(world, digest="a"):
    world.people.submissions.add(world.ada, digest, digest * 64, 1, "bot.py", "")


def accept_a_bot(world):
    shutil.copytree(BOTS / "minimal", world.home.directory / "one")
    world.home.bots.add(load_bot(world.home.directory / "one"))


def announce(world):
    world.people.contests.add("ada", contest_of(house_bots=None, opens_at="2027-01-16T08:00:00"))
    assert world.wanted() == []
    world.seconds += 2 * DAY


def play(world):
    world.people.unrated_matches.set_menu("{}", 4)
    choices = Choices(game="differences", options="{}", seat=0, bot="arena:greedy", per_action_milliseconds=1000)
    world.people.unrated_matches.begin(choices, None, "192.0.2.1")


def ask_for_an_analysis(world):
    add_tournament(world.home, "t")
    world.wanted()
    world.home.store.analysis_requests.add(world.home.store.tournament("t"), 1)


STARTED_BY = {
    "a submission": (submit_bot, ["checker"]),
    "a bot": (accept_a_bot, ["ladder", "play"]),
    "a desired state": (
        lambda world: world.people.directors.set_desired_state("open", DesiredState.PAUSE, reason="x", by="ada"),
        ["ladder"],
    ),
    "a request": (
        lambda world: world.people.requests.add("open", "void", {}, subject="", reason="Because.", by="ada"),
        ["ladder"],
    ),
    # and every day the play host removes what is old
    "a contest whose time has come": (announce, ["contests", "play"]),
    "a wish for an analysis": (ask_for_an_analysis, ["annotator"]),
    "recorded matches": (lambda world: add_tournament(world.home, "t"), ["play", "annotator"]),
    "a match in the browser": (play, ["play"]),
    "uploads that can't be contained": (lambda world: note_containment(world.home.directory, "no"), ["checker"]),
}


@pytest.mark.parametrize(("change", "parts"), STARTED_BY.values(), ids=STARTED_BY)
def test_each_service_is_started_at_first_and_then_by_what_concerns_it(world, change, parts):
    assert world.wanted() == ["checker", "contests", "results", "ladder", "play", "annotator"]
    assert world.wanted() == []
    change(world)
    assert world.wanted() == parts
    assert world.wanted() == [], "it has been started for that"


def test_a_service_that_runs_is_not_started_and_looks_again_when_it_has_ended(world):
    world.wanted()
    checker = world.watched[0]
    checker.service.rests = False
    submit_bot(world)
    assert world.wanted() == []
    world.people.submissions.claim().finish(SubmissionState.REJECTED, "")
    checker.service.rests = True
    assert world.wanted() == []
    submit_bot(world, "b")
    assert world.wanted() == ["checker"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda world: world.people.contests.ask_to_reveal("ada", "spring", "We are all here."),
        lambda world: world.people.requests.add("spring", "void", {}, subject="", reason="Because.", by="ada"),
    ],
    ids=["a revelation", "a correction"],
)
def test_what_is_asked_of_a_played_contest_is_done_also_right_after_its_service_has_ended(world, ask):
    world.wanted()
    world.people.contests.add("ada", contest_of(house_bots=None, opens_at="2027-01-16T08:00:00"))
    world.seconds = NOW + 400 * DAY
    assert "contests" in world.wanted()
    contests = world.watched[1].service
    contests.rests = False
    world.people.directors.report_state("spring", "contest", DirectorState.IDLE)
    world.people.contests.set_stage(world.people.contests.get("spring"), ContestStage.PLAYED)
    contests.rests = True  # it has ended, and before anybody looks a director asks
    ask(world)
    assert world.wanted() == ["contests"]
    assert world.wanted() == []


def test_a_check_that_was_given_up_is_done_when_its_time_has_come(world):
    submit_bot(world)
    world.people.submissions.claim()
    world.wanted()
    world.seconds += DAY
    assert world.wanted() == ["checker", "play"]


def test_a_service_of_which_nothing_can_be_read_is_started_and_stops_no_other(world, monkeypatch, caplog):
    world.wanted()
    monkeypatch.setattr(world.people.contests, "all", lambda: 1 / 0)
    submit_bot(world)
    view = View(world.home, world.people)
    wanted = [one.program.service.name for one in world.watched if _is_wanted(one, view)]
    assert wanted == ["checker", "contests", "results"]
    assert "what there is for the service contests to do can't be read: division by zero" in caplog.text


def test_idle_services_are_reported(world):
    world.people.unrated_matches.set_menu("{}", 4)
    world.seconds += 50
    for one in world.watched:
        one.stay(world.people)
    world.seconds += 20
    assert not world.people.directors.is_silent(world.people.directors.report("open"))
    assert world.people.unrated_matches.menu() == "{}"
    for one in world.watched:
        one.service.rests = False
    world.seconds += 50
    for one in world.watched:
        one.stay(world.people)
    assert world.people.directors.is_silent(world.people.directors.report("open"))


def test_a_service_that_ends_again_and_again_is_a_problem(world):
    checker = world.watched[0]
    checker.service.problem = "x has ended (1); it is started again"
    for one in world.watched:
        one.note_problem()
    [noted] = noted_problems(world.home.directory)
    assert (noted.service, noted.sentence) == ("checker", checker.service.problem)
    checker.service.problem = ""
    checker.note_problem()
    assert list(noted_problems(world.home.directory)) == []


STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[2], "w").close()
time.sleep(1000)
"""


def program(tmp_path, monkeypatch, text):
    (tmp_path / "program_of_a_test.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "program_of_a_test"


async def running(service, but=None):
    while service.pid in (None, but):
        await asyncio.sleep(0.01)
    return service.pid


async def test_one_that_ends_is_started_again(tmp_path, monkeypatch):
    monkeypatch.setattr(supervisor, "FIRST_PAUSE_SECONDS", 0.001)
    service = Service(program(tmp_path, monkeypatch, "import time\ntime.sleep(1000)\n"), ())
    service.start()
    service.want()
    first = await running(service)
    os.kill(first, 9)
    second = await running(service, but=first)
    assert os.getpgid(second) == second  # a terminal sends SIGINT to the group of the web process
    await service.close()
    assert second != first
    assert service.pid is None


async def test_one_that_fails_at_once_is_started_less_and_less_often(tmp_path, monkeypatch):
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 8:
            raise asyncio.CancelledError

    monkeypatch.setattr(supervisor.asyncio, "sleep", sleep)
    service = Service(program(tmp_path, monkeypatch, ""), ())
    service.want()
    with pytest.raises(asyncio.CancelledError):
        await service._keep_running()
    assert pauses == [2, 4, 8, 16, 30, 30, 30, 30]


async def test_one_that_has_nothing_to_do_rests_until_it_is_wanted(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(supervisor, "FIRST_PAUSE_SECONDS", 1000.0)
    ready = tmp_path / "ready"
    text = f"import sys\nopen(sys.argv[2], 'x').close()\nsys.exit({NOTHING_TO_DO})\n"
    service = Service(program(tmp_path, monkeypatch, text), (str(ready),))
    service.start()
    for _ in range(2):
        assert service.rests
        service.want()
        while not (ready.exists() and service.rests):
            await asyncio.sleep(0.01)
        ready.unlink()
    await service.close()
    assert caplog.text == ""


ORPHANING = f"""
import os, sys
read_end, write_end = os.pipe()
if os.fork() == 0:
    os.close(write_end)
    os.read(read_end, 1)  # until its parent has ended
    os._exit(0)
open(sys.argv[2], "w").write(str(os.getpid()))
sys.exit({NOTHING_TO_DO})
"""


@pytest.fixture
def adopting():
    set_child_subreaper = functools.partial(ctypes.CDLL(None).prctl, 36)  # linux/prctl.h
    set_child_subreaper(1, 0, 0, 0)
    yield
    set_child_subreaper(0, 0, 0, 0)


async def test_what_it_leaves_is_reaped_once_it_is_started_again(tmp_path, monkeypatch, adopting):
    note = tmp_path / "note"
    service = Service(program(tmp_path, monkeypatch, ORPHANING), (str(note),))
    service.start()
    service.want()
    while not (note.exists() and service.rests):
        await asyncio.sleep(0.01)
    session = int(note.read_text())
    while not all(map(has_ended, members(session))):
        await asyncio.sleep(0.01)
    service.want()
    await running(service)
    assert members(session) == []
    await service.close()


def members(session):
    return [child for child in children(os.getpid()) if os.getsid(child) == session]


def has_ended(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")


@pytest.mark.parametrize("text", ["import time\ntime.sleep(1000)\n", STUBBORN], ids=["quick", "stubborn"])
async def test_nobody_but_the_loop_asks_whether_it_has_ended(tmp_path, monkeypatch, text):
    """Else the loop may be too late: "Unknown child process pid"."""
    monkeypatch.setattr(supervisor, "SHUTDOWN_SECONDS", 0.2)
    asked, poll = [], subprocess.Popen.poll
    service = Service(program(tmp_path, monkeypatch, text), (str(tmp_path / "ready"),))
    service.start()
    service.want()
    pid = await running(service)
    while text is STUBBORN and not (tmp_path / "ready").exists():
        await asyncio.sleep(0.01)
    monkeypatch.setattr(subprocess.Popen, "poll", lambda process: asked.append(process.pid) or poll(process))
    await service.close()
    assert service.pid is None
    assert pid not in asked
    await Service("one that was not started", ()).close()


async def test_the_program_ends_also_if_nobody_keeps_it_running_any_more(tmp_path, monkeypatch, caplog):
    """Whatever made the task fail, ending the server goes on."""
    service = Service(program(tmp_path, monkeypatch, "import time\ntime.sleep(1000)\n"), ())
    service.start()
    service.want()
    pid = await running(service)

    async def fail():
        raise ZeroDivisionError

    service._task.cancel()
    service._task = asyncio.create_task(fail())
    await asyncio.sleep(0)
    await service.close()
    assert service.pid is None
    assert not Path(f"/proc/{pid}").exists()
    assert "was no longer kept running" in caplog.text


class SlowService:
    def __init__(self):
        self.closed = []
        self.may_end = asyncio.Event()

    def start(self):
        pass

    async def close(self):
        self.closed.append("begun")
        await self.may_end.wait()
        self.closed.append("ended")


async def test_they_end_while_the_server_waits_for_its_requests_and_once(directory):
    service = SlowService()
    async with client_of(directory, supervisor=service) as client:
        client.site.end_streams()
        await asyncio.sleep(0)
        assert service.closed == ["begun"]
        service.may_end.set()
    assert service.closed == ["begun", "ended"]
