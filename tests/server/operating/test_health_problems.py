import resource
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from unittest.mock import Mock

import pytest

from arena.base.errors import DatabaseError, StoreError, UsageError
from arena.base.programs.service_program import HealthProblem, ProblemNote
from arena.server.operating import health_check
from arena.server.operating.health_check import main, port_of
from arena.server.operating.service_programs import (
    PROBE,
    SERVICES,
    locked_for_visitors,
    locked_services,
    problems,
    programs,
    unwritable_reason,
)
from arena.store.home import ArenaHome, open_people
from arena.store.people.directors import DesiredState, DirectorState
from arena.store.people.people_store import PeopleStore
from arena.store.people.submission_rows import CLAIM_SECONDS
from arena.store.people.submissions import FAILED_SECONDS
from arena.store.people.values import Role, SubmissionState
from tests.community.contests.samples import OPEN, contest_of
from tests.store.people.conftest import FakeClock


@pytest.fixture
def people(tmp_path):
    with ArenaHome(tmp_path), open_people(tmp_path) as opened:
        yield opened


def found(tmp_path, people):
    return list(problems(tmp_path, people))


@pytest.mark.parametrize("earlier", ["work", "checker"])
def test_that_nothing_works_here_any_more_is_named(tmp_path, people, earlier):
    """Also where the units of an earlier arena, one for each service, are not replaced yet."""
    with locked_services(tmp_path, ["web"]):
        assert found(tmp_path, people) == []
    with locked_services(tmp_path, ["web", earlier]):
        assert earlier == "checker" or found(tmp_path, people) == []
    sentence = "the process that checks and plays does not run (arena serve --only work)"
    assert found(tmp_path, people) == [HealthProblem("work", sentence, sentence)]


def test_a_ladder_that_can_not_be_played_is_named_once(tmp_path, people):
    say = people.directors.report_state
    say("spring", "ladder", DirectorState.UNABLE, "the bot 'a@1' differs")
    assert [one.sentence for one in found(tmp_path, people)] == ["spring: the bot 'a@1' differs"]
    ProblemNote(tmp_path, "ladder", "s.toml").report("s.toml can't be played now: the bot 'a@1' differs")
    assert [one.sentence for one in found(tmp_path, people)] == ["s.toml can't be played now: the bot 'a@1' differs"]
    say("autumn", "ladder", DirectorState.SHORT)
    assert found(tmp_path, people)[1:] == [HealthProblem("ladder", "autumn: short", "autumn: short")]


def test_everybody_knows_which_service_is_in_difficulty_and_operators_where(tmp_path, people, monkeypatch):
    where = "/srv/arena postgresql://arena@db.internal:5432/people"
    for service in ("checker", "play", "contests", "results", "of a later version"):
        ProblemNote(tmp_path, service).report(f"it can't work now: {where}")
    people.directors.report_state("spring", "ladder", DirectorState.UNABLE, f"{where}: closed")
    people.directors.report_state("autumn", "ladder", DirectorState.SHORT, "submit 1 more bot")
    told = {one.service: one.public for one in found(tmp_path, people) if one.service != "ladder"}
    ladders = [one.public for one in found(tmp_path, people) if one.service == "ladder"]
    monkeypatch.setattr(people.directors, "reports", Mock(side_effect=DatabaseError("it is away")))
    *notes, web = found(tmp_path, people)  # which a database that can't be read does not hide
    told["web"] = web.public
    assert [where in one.sentence for one in notes] == [True] * 5
    assert (web.service, web.sentence) == ("web", "the database of people can't be read: it is away")
    reason = "the log of the server says why"
    assert ladders == ["autumn: submit 1 more bot", f"spring: it can't be played now; {reason}"]
    assert told == {
        "checker": f"the service that checks what authors submit can't do all of its work; {reason}",
        "contests": f"the service that plays contests can't do all of its work; {reason}",
        "of a later version": f"a service of the site can't do all of its work; {reason}",
        "play": f"the service that lets people play against bots can't do all of its work; {reason}",
        "results": f"the service that signs the results of contests can't do all of its work; {reason}",
        "web": f"the database of people can't be read; {reason}",
    }


def test_of_a_contest_its_name_is_said_and_not_why_and_only_before_it_is_over(tmp_path, people):
    """Of one with embargoed results nobody but operators hears it: it may be about these."""
    for name, results in (("spring", {}), ("summer", OPEN)):
        stored = people.contests.add("dora", contest_of(name=f'"{name}"', **results))
        people.contests.set_stage(stored, stored.stage, "canary")
    sentences = [f"contest {name} does not go on; its page tells its directors why" for name in ("spring", "summer")]
    assert sorted(one.sentence for one in found(tmp_path, people)) == sentences
    assert sorted(one.public for one in found(tmp_path, people)) == ["", sentences[1]]
    people.contests.cancel("dora", "spring", "Because.")
    assert [one.sentence.split()[1] for one in found(tmp_path, people)] == ["summer"]


def test_a_checker_that_fails_is_named_while_it_does_and_for_an_hour(tmp_path):
    now = FakeClock()
    with PeopleStore(tmp_path / "people.sqlite3", now) as people:
        ada = people.accounts.add("ada", Role.AUTHOR, "test")
        assert found(tmp_path, people) == []
        for digest in ("a", "b", "c"):
            people.submissions.add(ada, digest, digest * 64, 1, "bot.py", "")
        people.submissions.claim().finish(SubmissionState.REJECTED, "")
        people.submissions.claim()
        assert found(tmp_path, people) == []
        now.seconds += CLAIM_SECONDS
        again = people.submissions.claim()
        [one] = found(tmp_path, people)
        assert one.service == "checker"
        assert one.sentence.startswith("submission 2 is checked again")
        again.finish(SubmissionState.FAILED, "")
        assert [one.sentence[:38] for one in found(tmp_path, people)] == ["the arena could not check 1 submission"]
        now.seconds += FAILED_SECONDS  # nothing says that it would work now
        assert [one.sentence[:38] for one in found(tmp_path, people)] == ["the arena could not check 1 submission"]
        people.submissions.claim().finish(SubmissionState.ACCEPTED, "", bot="x@1")
        assert found(tmp_path, people) == []


def test_a_home_that_can_not_be_written_is_named_to_operators(tmp_path, people, monkeypatch):
    assert unwritable_reason("/proc")  # where not even root can
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(PROBE) // 2, unlimited[1]))  # stands in for a small disk
    try:
        (one,) = found(tmp_path, people)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    assert one.service == "home"
    assert one.sentence == f"the arena's home can't be written: {tmp_path}: No space left on device"
    assert one.public == "the arena's home can't be written: nothing new is kept; the log of the server says why"
    assert found(tmp_path, people) == []
    assert not list(tmp_path.glob("tmp*"))


def test_an_operator_reads_how_to_restart_or_to_end_a_ladder_whose_program_does_not_run(tmp_path):
    now = FakeClock()
    with PeopleStore(tmp_path / "people.sqlite3", now) as people:
        people.directors.report_state("old ladder", "ladder", DirectorState.IDLE)
        now.seconds += 3600
        [problem] = found(tmp_path, people)
        assert problem.public == "old ladder: its program does not run; the log of the server says why"
        assert problem.sentence == (
            "old ladder: its program does not run; restart with --ladder FILE, or end it for good:"
            " arena site ladder drain 'old ladder' --reason TEXT"
        )
        people.directors.set_desired_state("old ladder", DesiredState.DRAIN, reason="over", by="op")
        assert found(tmp_path, people) == []


def test_each_service_is_a_program_and_each_ladder_its_own_under_one_name():
    made = programs("/home/of", [("spring", "/s.toml"), ("a/b", "arena:x")], 4)
    assert [(one.service.name, one.arguments, one.ladder) for one in made] == [
        ("checker", ("/home/of",), ""),
        ("contests", ("/home/of",), ""),
        ("results", ("/home/of",), ""),
        ("ladder", ("/home/of", "/s.toml"), "spring"),
        ("ladder", ("/home/of", "arena:x"), "a/b"),
        ("play", ("/home/of", "4"), ""),
        ("annotator", ("/home/of",), ""),
    ]
    assert {one.service for one in made} == set(SERVICES)
    with pytest.raises(UsageError, match="two files have the name 'spring'"):
        programs("/home/of", [("spring", "a"), ("spring", "b")], 0)


def test_a_home_has_one_web_process_and_one_supervisor(tmp_path):
    with locked_services(tmp_path / "one", ["web"]):
        with locked_services(tmp_path / "other", ["web"]), locked_services(tmp_path / "one", ["work"]):
            pass
        with (
            pytest.raises(StoreError, match=r"one: another arena serve runs its web \(process \d+\)"),
            locked_services(tmp_path / "one", ["work", "web"]),
        ):
            pass
        with locked_services(tmp_path / "one", ["work"]):  # what was refused holds nothing
            pass


def test_one_process_works_for_visitors_and_lets_them_play_where_there_are_slots_and_no_accounts(directory):
    def started(play_slots):
        with (
            locked_for_visitors(directory, play_slots, False) as made,
            locked_for_visitors(directory, 4, False) as more,
        ):
            assert more == ()
            return [(one.service.name, one.of_visitors) for one in made]

    assert started(4) == [("play", True), ("annotator", False)]
    assert started(0) == [("annotator", False)]
    with open_people(directory) as people:
        people.accounts.add("ada", Role.OPERATOR, "test")
    assert started(4) == [("annotator", False)]


@pytest.mark.parametrize(
    ("command_line", "port"),
    [
        (["arena", "serve", "--public"], "8000"),
        (["arena", "serve", "--port", "9000", "--public"], "9000"),
        (["arena", "serve", "--port=9001"], "9001"),
        (["init", "--", "arena", "serve", "--port", "1", "--port", "2"], "2"),
        (["arena", "serve", "--port"], ""),
    ],
)
def test_the_port_is_that_of_the_command_line(command_line, port):
    assert port_of(command_line) == port


@contextmanager
def answering(status):
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status if self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_it_asks_there(tmp_path, monkeypatch, status, code):
    monkeypatch.setattr(health_check, "FIRST_PROCESS", tmp_path / "cmdline")
    with answering(status) as port:
        (tmp_path / "cmdline").write_text(f"python\0arena\0serve\0--port\0{port}\0")
        assert main() == code
    assert main() == 1  # it has ended
    for text in ("--port", "--port=x", "--port=\udcff", "--port=-1", "--port=99999999"):  # none of them is a port
        (tmp_path / "cmdline").write_bytes(f"arena\0{text}\0".encode(errors="surrogateescape"))
        assert main() == 1
