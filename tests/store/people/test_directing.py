from concurrent.futures import ThreadPoolExecutor

import pytest

from arena.base.errors import UsageError
from arena.store.people.directors import (
    MAX_WAITING,
    SILENT_SECONDS,
    DesiredState,
    DirectorState,
    RequestState,
    RunFigures,
    Suspension,
)
from arena.store.people.people_store import PeopleStore
from arena.store.people.values import EmbargoedTournament
from tests.databases import on_both
from tests.store.people.test_contests import log_of
from tests.store.people.test_people_store import PARALLEL


@pytest.fixture
def supervised(store):
    """A database in which a program supervises the tournament "open"."""
    store.directors.report_state("open", "ladder", DirectorState.PLAYING)
    return store


def ask(store, kind="disqualify", reason="It cheats.", tournament="open", **arguments):
    return store.requests.add(tournament, kind, arguments, subject="a@1", reason=reason, by="dora")


def test_the_desired_state_stays_and_is_in_the_log_and_one_that_holds_changes_nothing(supervised, place, now):
    def set_state(state):
        supervised.directors.set_desired_state("open", state, reason="An upgrade.", by="dora")

    assert supervised.directors.desired_state("open") is None
    with pytest.raises(UsageError, match="nothing was changed"):
        set_state(DesiredState.PLAY)
    for state in (DesiredState.PAUSE, DesiredState.DRAIN, DesiredState.PLAY):
        set_state(state)
        with PeopleStore(place, now) as again:
            desired = again.directors.desired_state("open")
        assert (desired.state, desired.by, desired.reason) == (state, "dora", "An upgrade.")
        with pytest.raises(UsageError, match="nothing was changed"):
            set_state(state)
    logged = ("resumed", "asked to drain", "paused")
    assert log_of(supervised) == [("dora", action, "open", "An upgrade.") for action in logged]


@pytest.mark.slow(only=("postgresql",), sample=True)
@on_both
def test_of_many_parallel_pauses_one_counts(supervised):
    def pause(number):
        try:
            supervised.directors.set_desired_state("open", DesiredState.PAUSE, reason=f"Pause {number}.", by="dora")
        except UsageError as error:
            assert "is paused already" in str(error)
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(pause, range(PARALLEL))) == 1
    assert len(log_of(supervised)) == 1


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501, "two\nlines", "hidden\u202e"])
def test_a_reason_that_nobody_can_read_is_refused(supervised, reason):
    with pytest.raises(UsageError, match="reason"):
        ask(supervised, reason=reason)
    with pytest.raises(UsageError, match="reason"):
        supervised.directors.set_desired_state("open", DesiredState.PAUSE, reason=reason, by="dora")
    assert log_of(supervised) == []


def test_so_many_requests_wait_and_none_of_a_tournament_that_nobody_supervises(supervised):
    with pytest.raises(UsageError, match="'other': no program of this site supervises it"):
        ask(supervised, tournament="other")
    with pytest.raises(UsageError, match="'other': no program of this site supervises it"):
        supervised.directors.set_desired_state("other", DesiredState.PAUSE, reason="Why.", by="dora")
    for number in range(MAX_WAITING):
        ask(supervised, reason=f"Request {number}.")
    with pytest.raises(UsageError, match="wait already"):
        ask(supervised)
    assert len(supervised.requests.of("open")) == len(log_of(supervised)) == MAX_WAITING


@on_both
def test_requests_are_done_in_the_order_in_which_they_came_and_once(supervised):
    first, second = ask(supervised, bot="a"), ask(supervised, kind="void", matches=[3, 4])
    assert supervised.requests.next("open") == first
    assert (first.arguments, second.arguments) == ({"bot": "a"}, {"matches": [3, 4]})
    supervised.requests.begin(first.number, 7)
    begun = supervised.requests.next("open")
    assert (begun.number, begun.state, begun.corrections_before) == (first.number, RequestState.BEGUN, 7)
    supervised.requests.finish(first.number, "correction 8 was made", is_done=True)
    supervised.requests.finish(first.number, "again", is_done=False)
    assert supervised.requests.next("open").number == second.number
    supervised.requests.finish(second.number, "no such match", is_done=False)
    assert supervised.requests.next("open") is None
    found = [(one.state, one.outcome) for one in supervised.requests.of("open")]
    assert found == [(RequestState.REFUSED, "no such match"), (RequestState.DONE, "correction 8 was made")]


def test_what_could_not_be_done_is_in_the_log_with_its_reason_once(supervised):
    asked = ask(supervised, bot="a@1")
    before = len(supervised.log.lines(hidden=()))
    supervised.requests.finish(asked.number, "'a@1' is not in tournament 'open'", is_done=False)
    supervised.requests.finish(asked.number, "again", is_done=False)
    line, *others = supervised.log.lines(hidden=())
    assert len(others) == before
    assert (line.by, line.action, line.subject) == ("the arena", f"could not {asked.kind}", "a@1 in open")
    assert (line.details, line.reason) == ("'a@1' is not in tournament 'open'", asked.reason)
    assert supervised.log.lines(hidden={EmbargoedTournament("open", asked.made_at)}) == []


def test_a_program_that_says_nothing_for_long_is_silent_and_since_when_it_is_doing_something_stays(supervised, now):
    assert not supervised.directors.is_silent(supervised.directors.report("open"))
    now.seconds += SILENT_SECONDS + 1
    assert supervised.directors.is_silent(supervised.directors.report("open"))
    before = supervised.directors.report("open").since
    now.seconds += 5
    figures = RunFigures(recorded=3, sitting_out=(Suspension(bot="slow@1", reason="slow"),))
    supervised.directors.report_state("open", "ladder", DirectorState.PLAYING, "round 2", figures)
    report = supervised.directors.report("open")
    assert (report.since, report.sentence, report.figures) == (before, "round 2", figures)
    supervised.directors.report_state("open", "ladder", DirectorState.IDLE)
    assert supervised.directors.report("open").since > before
    assert [one.tournament for one in supervised.directors.reports("ladder")] == ["open"]
    assert supervised.directors.reports("contest") == []
