import os
import signal
import threading

import pytest

from arena.base.enums import CorrectionKind
from arena.base.errors import StoreError
from arena.store.home import ArenaHome, open_people
from arena.store.people.directors import DesiredState, DirectorState, RequestState
from arena.tournament.corrections.corrected_tournament import void_matches
from arena.tournament.definition import load_definition
from arena.tournament.director import run_tournament
from arena.tournament.directors import supervised_run as module
from arena.tournament.directors.supervised_run import Shutdown, SupervisedRun, carry_out_requests
from arena.tournament.run import Order
from tests.store.people.conftest import FakeClock
from tests.tournament.test_director import Scripted


@pytest.fixture
def home(tmp_path, write_definition):
    with ArenaHome(tmp_path / "home") as opened:
        definition = load_definition(write_definition(bots=("minimal", "random_legal", "greedy")))
        run_tournament(definition, opened.store, executor=Scripted())
        yield opened


@pytest.fixture
def people(home):
    with open_people(home.directory) as opened:
        opened.directors.report_state("t", "contest", DirectorState.IDLE)
        yield opened


def ask(people, kind, reason="Because.", **arguments):
    return people.requests.add("t", kind, arguments, subject="", reason=reason, by="dora")


def made(home):
    return [(one.kind, one.reason) for one in home.store.tournament("t").corrections]


def decided(people):
    return [(one.kind, one.state) for one in reversed(people.requests.of("t"))]


def test_each_kind_is_a_correction_with_its_reason(home, people):
    ask(people, "void", reason="The power went.", numbers=[1, 2])
    ask(people, "withdraw", reason="Its author left.", bot="greedy")
    ask(people, "undo", reason="Its author came back.", correction=2)
    ask(people, "disqualify", reason="It cheats.", bot="random_legal@1", rule="annul")
    assert carry_out_requests(home, people, "t") == 4
    assert made(home) == [
        (CorrectionKind.VOID, "The power went."),
        (CorrectionKind.WITHDRAW, "Its author left."),
        (CorrectionKind.UNDO, "Its author came back."),
        (CorrectionKind.DISQUALIFY, "It cheats."),
    ]
    assert {state for _, state in decided(people)} == {RequestState.DONE}
    assert carry_out_requests(home, people, "t") == 0


@pytest.mark.slow
def test_an_entrant_gets_the_files_of_a_bot_of_the_arena(home, people, tmp_path):
    from tests.community.ladders.test_supervised_ladder import submit_bot

    submit_bot(home, tmp_path, "better", "2")
    ask(people, "replace", bot="greedy", new="better@2")
    carry_out_requests(home, people, "t")
    assert decided(people) == [("replace", RequestState.DONE)], people.requests.of("t")[0].outcome
    assert "greedy@2" in [bot.label for bot in home.store.tournament("t").definition.entrants]


def test_what_cannot_be_done_is_refused_with_the_reason_and_the_next_is_done(home, people):
    ask(people, "disqualify", bot="nobody", rule="annul")
    ask(people, "void", numbers=[999])
    ask(people, "void")
    ask(people, "disqualify", bot="greedy", rule="burn")
    ask(people, "explode")
    ask(people, "withdraw", bot=7)
    ask(people, "void", numbers=[1])
    assert carry_out_requests(home, people, "t") == 7
    assert [state for _, state in decided(people)] == [RequestState.REFUSED] * 6 + [RequestState.DONE]
    outcomes = [one.outcome for one in reversed(people.requests.of("t"))]
    assert "entrant 'nobody'" in outcomes[0]
    assert "no record of match 999" in outcomes[1]
    assert "expected withdraw" in outcomes[4]
    assert len(made(home)) == 1


def test_what_is_asked_of_a_tournament_that_another_director_runs_waits(home, people):
    ask(people, "void", numbers=[1])
    with home.store.lock("t"), pytest.raises(StoreError, match="another director"):
        carry_out_requests(home, people, "t")
    assert decided(people) == [("void", RequestState.WAITING)]
    assert made(home) == []


@pytest.mark.parametrize("is_made", [False, True])
def test_a_program_that_was_killed_in_the_middle_does_it_once(home, people, is_made):
    """Killed before the correction, or after it and before it was said: the two are in different databases."""
    void_matches(home.store, "t", [2], reason="Because.")  # an earlier one that looks the same
    people.requests.begin(ask(people, "void", numbers=[1]).number, 1)
    if is_made:
        void_matches(home.store, "t", [1], reason="Because.")
    carry_out_requests(home, people, "t")
    assert made(home) == [(CorrectionKind.VOID, "Because.")] * 2
    assert decided(people) == [("void", RequestState.DONE)]


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def supervised(home, people, clock):
    return SupervisedRun("t", "contest", home, people, Shutdown(), clock)


@pytest.mark.parametrize(("desired", "order"), [(DesiredState.PAUSE, Order.STOP), (DesiredState.DRAIN, Order.DRAIN)])
def test_a_run_follows_the_desired_state_within_a_second(supervised, people, clock, desired, order):
    assert supervised.order() is Order.PLAY
    people.directors.set_desired_state("t", desired, reason="Because.", by="dora")
    clock.seconds += 1
    assert supervised.order() is order
    people.directors.set_desired_state("t", DesiredState.PLAY, reason="Because.", by="dora")
    clock.seconds += 1
    assert supervised.order() is Order.PLAY


def test_a_run_stops_for_a_request_and_continues_when_it_is_done(supervised, people, clock):
    ask(people, "void", numbers=[1])
    assert supervised.order() is Order.STOP
    assert supervised.carry_out_requests() == 1
    clock.seconds += 1
    assert supervised.order() is Order.PLAY


def test_a_program_that_is_to_end_stops_its_run(home, people):
    shutdown = Shutdown()
    supervised = SupervisedRun("t", "contest", home, people, shutdown)
    assert supervised.order() is Order.PLAY
    shutdown.is_asked = True
    assert supervised.order() is Order.STOP


LONG_SECONDS = 1_000_000.0


@pytest.fixture
def shutdown():
    before = signal.getsignal(signal.SIGTERM)
    shutdown = Shutdown()
    shutdown.on_sigterm(LONG_SECONDS)
    yield shutdown
    signal.signal(signal.SIGTERM, before)
    for descriptor in shutdown._pipe:
        os.close(descriptor)


class Polls:
    def __init__(self, real, monkeypatch):
        self.real, self.milliseconds = real, []
        monkeypatch.setattr(module.select, "poll", self)

    def __call__(self):
        self.one = self.real()
        return self

    def register(self, *given):
        self.one.register(*given)

    def poll(self, milliseconds):
        self.milliseconds.append(milliseconds)
        threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGTERM)).start()
        return self.one.poll(milliseconds)


def test_a_long_wait_is_one_and_ends_with_the_signal(shutdown, monkeypatch):
    polls = Polls(module.select.poll, monkeypatch)
    shutdown.sleep(LONG_SECONDS)
    assert shutdown.is_asked
    assert polls.milliseconds == [1000 * LONG_SECONDS]


def test_who_is_to_end_does_not_wait(shutdown):
    os.kill(os.getpid(), signal.SIGTERM)
    shutdown.sleep(LONG_SECONDS)
    asked = Shutdown()
    asked.is_asked = True
    asked.sleep(LONG_SECONDS)
    shutdown.sleep(-1.0)
