import shutil

import pytest

from arena.base.programs.service_program import noted_problems
from arena.community.submissions.upload_directory import note_containment
from arena.match.players.manifest import load_bot
from arena.server.http.supervisor import View, _is_wanted, _Watched
from arena.server.operating.service_programs import programs
from arena.store.home import PEOPLE_FILE, ArenaHome
from arena.store.people.directors import DesiredState, DirectorState
from arena.store.people.people_store import PeopleStore
from arena.store.people.unrated_match import Choices
from arena.store.people.values import Role, SubmissionState
from tests.community.contests.samples import contest_of
from tests.conftest import BOTS
from tests.server.conftest import add_tournament

DAY = 86_400
NOW = 1_800_000_000.0


class Service:
    rests, problem = True, ""


class World:
    def __init__(self, directory):
        self.seconds = NOW
        self.home, self.people = ArenaHome(directory), PeopleStore(directory / PEOPLE_FILE, lambda: self.seconds)
        self.watched = [_Watched(one, Service()) for one in programs(directory, [("open", "arena:open_ladder")], 4)]
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
