"""What directors ask of the programs that keep tournaments going."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from arena.base.errors import UsageError
from arena.store.people.directing import DirectorState, RequestState, RunFigures, SittingOut, Wish
from arena.store.people.directors import MAX_WAITING, SILENT_SECONDS
from arena.store.people.people_store import PeopleStore
from arena.store.people.values import HiddenTournament
from tests.databases import on_both


@pytest.fixture
def kept(store):
    """A database in which a program keeps the tournament "open" going."""
    store.directors.say("open", "ladder", DirectorState.PLAYING)
    return store


def ask(store, kind="disqualify", reason="It cheats.", tournament="open", **arguments):
    return store.requests.add(tournament, kind, arguments, subject="a@1", reason=reason, by="dora")


def log(store):
    return [(line.by, line.action, line.subject, line.reason) for line in store.log.lines(hidden=())]


def test_what_is_wanted_stays_and_is_in_the_log(kept, place, now):
    assert kept.directors.wish("open") is None
    kept.directors.want("open", Wish.PAUSE, reason="An upgrade.", by="dora")
    assert log(kept) == [("dora", "paused", "open", "An upgrade.")]
    with PeopleStore(place, now) as again:
        wished = again.directors.wish("open")
    assert (wished.wish, wished.by, wished.reason) == (Wish.PAUSE, "dora", "An upgrade.")


def test_a_pause_can_become_a_drain_and_is_ended(kept):
    for wish in (Wish.PAUSE, Wish.DRAIN, Wish.PLAY):
        kept.directors.want("open", wish, reason="Why not.", by="dora")
        assert kept.directors.wish("open").wish is wish
    assert [line[1] for line in log(kept)] == ["resumed", "asked to drain", "paused"]


@pytest.mark.parametrize("wish", Wish)
def test_what_is_wanted_already_changes_nothing(kept, wish):
    if wish is not Wish.PLAY:
        kept.directors.want("open", wish, reason="First.", by="dora")
    before = log(kept)
    with pytest.raises(UsageError, match="nothing was changed"):
        kept.directors.want("open", wish, reason="Second.", by="dora")
    assert log(kept) == before


@pytest.mark.slow(only=("postgresql",), sample=True)
@on_both
def test_of_200_parallel_pauses_one_counts(kept):
    def pause(number):
        try:
            kept.directors.want("open", Wish.PAUSE, reason=f"Pause {number}.", by="dora")
        except UsageError as error:
            assert "is paused already" in str(error)
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(pause, range(200))) == 1
    assert len(log(kept)) == 1


@pytest.mark.slow(only=("postgresql",))
@on_both
def test_of_200_parallel_requests_as_many_wait_as_may(kept):
    def request(number):
        try:
            ask(kept, reason=f"Request {number}.")
        except UsageError as error:
            assert "wait already" in str(error)
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(request, range(200))) == MAX_WAITING
    assert len(kept.requests.of("open")) == len(log(kept)) == MAX_WAITING


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501, "two\nlines", "hidden\u202e"])
def test_a_reason_that_nobody_can_read_is_refused(kept, reason):
    with pytest.raises(UsageError, match="reason"):
        ask(kept, reason=reason)
    with pytest.raises(UsageError, match="reason"):
        kept.directors.want("open", Wish.PAUSE, reason=reason, by="dora")
    assert log(kept) == []


def test_nothing_is_asked_of_a_tournament_that_nobody_keeps_going(kept):
    with pytest.raises(UsageError, match="'other': no program of this site keeps it going"):
        ask(kept, tournament="other")
    with pytest.raises(UsageError, match="'other': no program of this site keeps it going"):
        kept.directors.want("other", Wish.PAUSE, reason="Why.", by="dora")


@on_both
def test_requests_are_done_in_the_order_in_which_they_came_and_once(kept):
    first, second = ask(kept, bot="a"), ask(kept, kind="void", matches=[3, 4])
    assert kept.requests.next("open") == first
    assert (first.arguments, second.arguments) == ({"bot": "a"}, {"matches": [3, 4]})
    kept.requests.begin(first.number, 7)
    begun = kept.requests.next("open")
    assert (begun.number, begun.state, begun.corrections_before) == (first.number, RequestState.BEGUN, 7)
    kept.requests.finish(first.number, "correction 8 was made", is_done=True)
    kept.requests.finish(first.number, "again", is_done=False)
    assert kept.requests.next("open").number == second.number
    kept.requests.finish(second.number, "no such match", is_done=False)
    assert kept.requests.next("open") is None
    found = [(one.state, one.outcome) for one in kept.requests.of("open")]
    assert found == [(RequestState.REFUSED, "no such match"), (RequestState.DONE, "correction 8 was made")]


def test_what_could_not_be_done_is_in_the_log_with_its_reason_once(kept):
    asked = ask(kept, bot="a@1")
    before = len(kept.log.lines(hidden=()))
    kept.requests.finish(asked.number, "'a@1' is not in tournament 'open'", is_done=False)
    kept.requests.finish(asked.number, "again", is_done=False)
    line, *others = kept.log.lines(hidden=())
    assert len(others) == before
    assert (line.by, line.action, line.subject) == ("the arena", f"could not {asked.kind}", "a@1 in open")
    assert (line.details, line.reason) == ("'a@1' is not in tournament 'open'", asked.reason)
    assert kept.log.lines(hidden={HiddenTournament("open", asked.made_at)}) == []


def test_a_program_that_says_nothing_for_long_is_silent(kept, now):
    assert not kept.directors.is_silent(kept.directors.report("open"))
    now.seconds += SILENT_SECONDS + 1
    assert kept.directors.is_silent(kept.directors.report("open"))


def test_since_when_it_is_doing_something_stays_while_it_says_the_same(kept, now):
    before = kept.directors.report("open").since
    now.seconds += 5
    figures = RunFigures(recorded=3, sitting_out=(SittingOut(bot="slow@1", reason="slow"),))
    kept.directors.say("open", "ladder", DirectorState.PLAYING, "round 2", figures)
    report = kept.directors.report("open")
    assert (report.since, report.sentence, report.figures) == (before, "round 2", figures)
    kept.directors.say("open", "ladder", DirectorState.IDLE)
    assert kept.directors.report("open").since > before
    assert [one.tournament for one in kept.directors.reports("ladder")] == ["open"]
    assert kept.directors.reports("contest") == []
