"""Contests in the database: what can be changed when, and which submissions count."""

from dataclasses import replace
from datetime import datetime
from threading import Event, Thread

import pytest

from arena.base.errors import Mistake, UnknownNameError, UsageError
from arena.store.people.contest import ContestPhase, ContestStage, differences, phase_of
from arena.store.people.people_store import PeopleStore
from arena.store.people.secret import new_secret
from arena.store.people.values import Clock, Role, SubmissionState
from tests.community.contests.samples import OPEN, SEALED, contest_of
from tests.databases import on_both
from tests.store.people.test_people_store import at_once

OPENS, FREEZE, DEADLINE = (
    datetime.fromisoformat(at).timestamp()
    for at in ("2027-01-15T07:00:00Z", "2027-01-20T18:59:59Z", "2027-01-20T22:59:59Z")
)


@pytest.fixture
def spring(store, now):
    now.seconds = OPENS - 3600
    return store.contests.add("dora", contest_of())


def submit_bot(store, person, content="a"):
    return store.submissions.add(person, new_secret(), content * 64, 100, "bot.py", "").number


def accept(store, bot):
    assert store.submissions.claim().finish(SubmissionState.ACCEPTED, "", "", bot)


def log_of(store):
    return [(line.by, line.action, line.subject, line.reason) for line in store.log.lines(hidden=())]


@on_both
def test_a_contest_is_kept_as_it_was_written(store, spring):
    assert spring.contest == contest_of()
    assert store.contests.find("spring") == store.contests.get("spring") == spring
    assert store.contests.all() == [spring]
    found = (spring.stage, spring.freeze_at, spring.closed_at)
    assert found == (ContestStage.ENTRIES, "2027-01-20T18:59:59+00:00", None)
    assert log_of(store) == [("dora", "announced the contest", "spring", "")]
    assert store.contests.find("sprung") is None
    with pytest.raises(UnknownNameError, match="did you mean 'spring'"):
        store.contests.get("sprung")


def test_two_contests_have_no_tournament_in_common(store, spring):
    for name in ('"spring"', '"spring-qualification"'):
        with pytest.raises(UsageError, match=f"the contest 'spring' has a tournament {name[1:-1]!r} already"):
            store.contests.add("dora", contest_of(name=name, qualification=None))
    assert [one.name for one in store.contests.all()] == ["spring"]
    assert len(log_of(store)) == 1


@pytest.mark.slow(only=("postgresql",), sample=True)
@on_both
def test_a_name_is_taken_once_however_many_ask_at_once(store, place, now):
    now.seconds = OPENS
    results = at_once(place, now, 20, lambda own, _: own.contests.add("dora", contest_of()))
    assert sum(not isinstance(one, UsageError) for one in results) == 1
    assert len(store.contests.all()) == 1


def test_no_contest_is_announced_whose_deadline_has_passed_or_whose_guests_are_unknown(store, now, ada):
    now.seconds = DEADLINE
    with pytest.raises(UsageError, match="passed already"):
        store.contests.add("dora", contest_of())
    now.seconds = OPENS
    with pytest.raises(UsageError, match="invited = 'bob': nobody has an account"):
        store.contests.add("dora", contest_of(entrants='"invited"', invited='["ADA", "bob"]'))


def test_everything_that_only_the_arena_knows_is_said_at_once(store, spring, now, ada):
    now.seconds = DEADLINE
    guests = {"entrants": '"invited"', "invited": '["ADA", "bob", "eve"]'}
    with pytest.raises(UsageError) as refused:
        store.contests.add("dora", contest_of(**guests), [Mistake("name", "there is a tournament 'spring' already")])
    assert str(refused.value).split("; ") == [
        "contest 'spring': name: there is a tournament 'spring' already",
        "deadline_at = 2027-01-20 23:59:59: it has passed already (Europe/Berlin)",
        "name: the contest 'spring' has a tournament 'spring-qualification' already",
        "name: the contest 'spring' has a tournament 'spring' already",
        "invited = 'bob': nobody has an account of this name",
        "invited = 'eve': nobody has an account of this name",
    ]
    now.seconds = OPENS
    with pytest.raises(UsageError) as refused:
        changed = contest_of(name='"summer"', deadline_at="2027-01-19T00:00:00", **guests)
        taken = Mistake("name", "there is a tournament 'summer' already")
        store.contests.change("dora", "spring", changed, "why", [taken])
    assert str(refused.value).split("; ") == [
        "contest 'summer': name: there is a tournament 'summer' already",
        "entrants: this can't be changed any more",
        "name: this can't be changed any more",
        "after the opening, only title, description, reveal_at, a later deadline_at and more who are invited can be"
        " changed",
        "deadline_at = 2027-01-19 00:00:00: after the opening, the deadline can only become later than it is,"
        " 2027-01-20 23:59:59 (Europe/Berlin)",
        "invited = 'bob': nobody has an account of this name",
        "invited = 'eve': nobody has an account of this name",
    ]


def test_of_many_guests_without_an_account_the_first_are_named(store, now):
    now.seconds = OPENS
    invited = ", ".join(f'"guest{number}"' for number in range(30))
    with pytest.raises(UsageError, match=r"'guest19': nobody .*; invited: 10 more have no account$"):
        store.contests.add("dora", contest_of(entrants='"invited"', invited=f"[{invited}]"))


# changes


def test_a_change_of_nothing_is_not_logged(store, spring):
    before = log_of(store)
    assert store.contests.change("dora", "spring", contest_of(), "nothing") == spring
    assert log_of(store) == before
    store.contests.change("dora", "spring", contest_of(title='"Cup"'), "a title")
    assert store.log.lines(hidden=())[0].details == "title: Spring contest → Cup"


def test_before_the_opening_all_but_the_name_can_be_changed(store, spring):
    changed = store.contests.change("dora", "spring", contest_of(game='"plaid"', options="{}", **SEALED), "a mistake")
    assert (changed.contest.game, changed.contest.results, changed.freeze_at) == ("plaid", "sealed", None)
    assert log_of(store)[0] == ("dora", "changed the contest", "spring", "a mistake")
    with pytest.raises(UsageError, match="name: this can't be changed any more; the name of a contest stays"):
        store.contests.change("dora", "spring", contest_of(name='"summer"'), "a mistake")


def test_after_the_opening_the_rules_stay_and_the_deadline_can_only_become_later(store, spring, now):
    now.seconds = OPENS
    with pytest.raises(UsageError, match=r"game: this can't .* more; options: this can't"):
        store.contests.change("dora", "spring", contest_of(game='"plaid"', options="{}"), "a mistake")
    with pytest.raises(UsageError, match="can only become later than it is, 2027-01-20 23:59:59"):
        store.contests.change("dora", "spring", contest_of(deadline_at="2027-01-20T23:59:58"), "hurry")
    later = store.contests.change(
        "dora", "spring", contest_of(deadline_at="2027-01-21T23:59:59"), "the server was down"
    )
    assert later.contest.deadline_at == "2027-01-21T22:59:59+00:00"
    assert later.freeze_at == "2027-01-21T18:59:59+00:00"


def test_what_is_frozen_stays_so_with_a_later_deadline(store, spring, now):
    now.seconds = FREEZE
    later = store.contests.change(
        "dora", "spring", contest_of(deadline_at="2027-01-21T23:59:59"), "the server was down"
    )
    assert later.freeze_at == spring.freeze_at == "2027-01-20T18:59:59+00:00"


def test_after_the_deadline_words_can_be_changed_and_when_it_is_revealed(store, spring, now):
    now.seconds = DEADLINE + 1
    with pytest.raises(UsageError, match="deadline_at: this can't be changed any more"):
        store.contests.change("dora", "spring", contest_of(deadline_at="2027-01-25T23:59:59"), "too late")
    at = "2027-01-25T12:00:00"
    changed = store.contests.change("dora", "spring", contest_of(title='"Spring"', reveal_at=at), "a date")
    assert (changed.contest.title, changed.contest.reveal_at) == ("Spring", "2027-01-25T11:00:00+00:00")


def test_nobody_is_taken_out_after_the_opening(store, now, ada, eve):
    now.seconds = OPENS - 1
    store.contests.add("dora", contest_of(entrants='"invited"', invited='["ada"]'))
    now.seconds = OPENS
    store.contests.change("dora", "spring", contest_of(entrants='"invited"', invited='["ada", "eve"]'), "one more")
    with pytest.raises(UsageError, match="nobody can be taken out"):
        store.contests.change("dora", "spring", contest_of(entrants='"invited"', invited='["eve"]'), "one less")


def test_a_change_takes_no_tournament_of_another_contest(store, spring, now):
    now.seconds = OPENS - 1
    store.contests.add("dora", contest_of(name='"m"', qualification=None))
    store.contests.add("dora", contest_of(name='"m-qualification"', qualification=None))
    with pytest.raises(UsageError, match="the contest 'm-qualification' has a tournament 'm-qualification' already"):
        store.contests.change("dora", "m", contest_of(name='"m"'), "two stages")
    assert store.contests.get("m").contest.qualification is None


def test_who_was_invited_and_has_no_account_any_more_stands_in_the_way_of_no_change(store, now, ada, eve):
    invited = {"entrants": '"invited"', "invited": '["ada", "eve"]'}
    now.seconds = OPENS - 1
    store.contests.add("dora", contest_of(**invited))
    store.accounts.erase(eve)
    assert store.contests.change("dora", "spring", contest_of(**invited, title='"x"'), "words").contest.title == "x"
    now.seconds = OPENS
    assert store.contests.change("dora", "spring", contest_of(**invited, title='"y"'), "words").contest.title == "y"
    with pytest.raises(UsageError, match="invited = 'bob': nobody has an account"):
        store.contests.change("dora", "spring", contest_of(**invited | {"invited": '["ada", "eve", "bob"]'}), "bob")


def test_before_the_opening_no_deadline_is_set_that_has_passed(store, spring, now):
    now.seconds = OPENS - 3600
    for at in ("2027-01-15T07:00:00", "2027-01-12T07:00:00"):  # now in Berlin, and before
        with pytest.raises(UsageError, match="it has passed already"):
            store.contests.change("dora", "spring", contest_of(opens_at="2027-01-10T07:00:00", deadline_at=at), "oops")
    soon = contest_of(opens_at="2027-01-10T07:00:00", deadline_at="2027-01-15T07:00:01")
    assert store.contests.change("dora", "spring", soon, "now").contest == soon


def test_a_freeze_before_the_opening_moves_with_the_deadline(store, now):
    now.seconds = OPENS - 3600
    early = store.contests.add("dora", replace(contest_of(), frozen_hours=150.0))
    assert early.freeze_at == "2027-01-14T16:59:59+00:00"
    assert early.freeze_at < store.contests.now() < early.contest.opens_at
    changed = store.contests.change("dora", "spring", contest_of(deadline_at="2027-01-25T23:59:59"), "later")
    assert changed.freeze_at == "2027-01-25T18:59:59+00:00"


@pytest.mark.parametrize("reason", ["", " ", "x" * 501, "no\u202ebody", "no\u200bbody", "two\nlines"])
def test_a_reason_that_cannot_be_read_is_refused(store, spring, reason):
    with pytest.raises(UsageError, match="expected 1 to 500 visible characters on one line"):
        store.contests.change("dora", "spring", contest_of(title='"x"'), reason)
    with pytest.raises(UsageError, match="expected 1 to 500 visible characters on one line"):
        store.contests.cancel("dora", "spring", reason)
    if reason:
        with pytest.raises(UsageError, match="expected 1 to 500 visible characters on one line"):
            store.contests.ask_to_reveal("dora", "spring", reason, before_played=True)
    assert store.contests.get("spring") == spring


def test_a_cancelled_contest_is_over(store, spring):
    cancelled = store.contests.cancel("dora", "spring", "nobody came")
    found = (phase_of(cancelled, cancelled.cancelled_at), cancelled.cancel_reason)
    assert found == (ContestPhase.CANCELLED, "nobody came")
    assert log_of(store)[0] == ("dora", "cancelled the contest", "spring", "nobody came")
    with pytest.raises(UsageError, match="cancelled already"):
        store.contests.cancel("dora", "spring", "again")
    with pytest.raises(UsageError, match="it is cancelled"):
        store.contests.change("dora", "spring", contest_of(title='"x"'), "again")
    with pytest.raises(UsageError, match="it is cancelled"):
        store.contests.ask_to_reveal("dora", "spring")


def test_results_that_are_hidden_are_revealed_when_everything_is_played_or_on_request(store, spring, now):
    with pytest.raises(UsageError, match="not everything is played yet"):
        store.contests.ask_to_reveal("dora", "spring")
    early = store.contests.ask_to_reveal("dora", "spring", "a test", before_played=True)
    assert early.reveal_asked_at == store.contests.now()
    now.seconds += 9
    assert store.contests.ask_to_reveal("eve", "spring", "a test", before_played=True) == early
    assert [line[:3] for line in log_of(store)[:-1]] == [("dora", "revealed the results of", "spring")]
    revealed = store.contests.set_revealed(early)
    now.seconds += 9
    assert store.contests.set_revealed(revealed) == revealed
    with pytest.raises(UsageError, match="not hidden"):
        store.contests.ask_to_reveal("dora", "spring")
    store.contests.add("dora", contest_of(name='"open"', qualification=None, **OPEN))
    with pytest.raises(UsageError, match="not hidden"):
        store.contests.ask_to_reveal("dora", "open", before_played=True)


def test_stages_are_kept_and_the_time_of_the_last_match(store, spring, now):
    stuck = store.contests.set_stage(spring, ContestStage.FINAL, "the disk is full")
    assert (stuck.stage, stuck.stage_note, stuck.played_at) == (ContestStage.FINAL, "the disk is full", None)
    played = store.contests.set_stage(stuck, ContestStage.PLAYED)
    assert (played.stage_note, played.played_at) == ("", store.contests.now())
    now.seconds += 100
    assert store.contests.set_stage(played, ContestStage.PLAYED) == played


# entries


def test_bots_submitted_up_to_the_second_of_the_deadline_count(store, spring, now, ada, eve):
    now.seconds = DEADLINE
    submit_bot(store, ada)
    accept(store, "fast@1")
    now.seconds = DEADLINE + 0.9
    submit_bot(store, eve)
    now.seconds = DEADLINE + 1
    submit_bot(store, ada, "b")
    assert store.contests.unfinished_of(spring) == [2]
    accept(store, "slow@1")
    accept(store, "fast@2")
    assert store.contests.unfinished_of(spring) == []
    found = [(one.author, one.bot) for one in store.contests.candidates(spring)]
    assert found == [("eve", "slow@1"), ("ada", "fast@1")]


def test_only_accepted_bots_of_those_who_are_invited_and_have_an_account_count(store, now, ada, eve):
    now.seconds = OPENS
    bob = store.accounts.add("bob", Role.AUTHOR, "test")
    stored = store.contests.add("dora", contest_of(entrants='"invited"', invited='["ADA", "bob"]'))
    for person, bot in ((ada, "one@1"), (eve, "two@1"), (bob, "three@1")):
        submit_bot(store, person)
        accept(store, bot)
    submit_bot(store, ada, "b")
    store.submissions.claim().finish(SubmissionState.REJECTED, "", "broken", "one@2")
    submit_bot(store, ada, "c")
    assert store.contests.unfinished_of(stored) == [5]
    assert store.contests.rejected_of(stored) == {"ada": "broken"}
    store.accounts.close("bob", "test", "cheated")
    assert [one.bot for one in store.contests.candidates(stored)] == ["one@1"]


@on_both
def test_entries_are_replaced_whole(store, spring, now, ada, eve):
    for person, bot in ((ada, "one@1"), (eve, "two@1")):
        submit_bot(store, person)
        accept(store, bot)
    both = store.contests.candidates(spring)
    store.contests.set_entries(spring, both)
    assert [one.author for one in store.contests.entries_of(spring)] == ["ada", "eve"]
    store.contests.set_entries(spring, both[:1])
    assert store.contests.entries_of(spring) == both[:1]
    store.contests.set_entries(spring, [])
    assert store.contests.entries_of(spring) == []


def test_entries_are_not_closed_before_the_next_second(store, spring, now):
    now.seconds = DEADLINE + 0.9
    assert store.contests.close_entries(spring).closed_at is None
    now.seconds = DEADLINE + 1
    closed = store.contests.close_entries(spring)
    assert closed.closed_at == "2027-01-20T23:00:00+00:00"
    now.seconds += 60
    assert store.contests.close_entries(spring) == closed


def test_entries_are_closed_only_when_everything_before_is_known(store, place, now, spring, ada):
    """Somebody has taken the time of a submission, and is slow: whoever closes the entries waits."""
    time_is_taken, is_closed, found = Event(), Event(), []

    def close():
        time_is_taken.wait(10)
        now.seconds = DEADLINE + 1
        with PeopleStore(place, now) as own:
            closed = own.contests.close_entries(spring)
            found.append((closed.closed_at is not None, own.contests.unfinished_of(spring)))
            is_closed.set()

    class SlowClock(Clock):
        def text(self, seconds_from_now=0.0):
            taken = super().text(seconds_from_now)
            time_is_taken.set()
            is_closed.wait(0.5)  # which the other one can't reach
            return taken

    now.seconds = DEADLINE
    closing = Thread(target=close)
    with PeopleStore(place, now) as other:
        other.submissions._clock = SlowClock(now)
        closing.start()
        number = submit_bot(other, ada)
    closing.join()
    assert found == [(True, [number])]


@pytest.mark.slow
@on_both
def test_of_200_in_the_last_second_exactly_those_up_to_the_deadline_count(store, place, now, spring):
    """A director closes the entries while they come: whatever it then finds is all that counts, for good."""
    people = [store.accounts.add(f"author{number}", Role.AUTHOR, "test") for number in range(200)]
    now.seconds = DEADLINE
    found = []

    def work(own, number):
        if number == 100:
            now.seconds = DEADLINE + 1
        if number % 20 == 19 and not found:
            closed = own.contests.close_entries(spring)
            if closed.closed_at is not None:
                found.append(own.contests.unfinished_of(spring))
        return own.submissions.add(people[number], new_secret(), "a" * 64, 100, "bot.py", "")

    results = at_once(place, now, 200, work)
    in_time = sorted(one.number for one in results if one.created_at <= spring.contest.deadline_at)
    assert found
    assert found[0] == in_time == store.contests.unfinished_of(spring)
    assert 0 < len(in_time) < 200


# What is said of a change of a contest.


def changed(before=None, **after):
    return differences(contest_of(**(before or {})), contest_of(**(before or {}) | after))


@pytest.mark.parametrize(
    ("after", "sentences"),
    [
        ({}, ()),
        ({"title": '"Cup"'}, ("title: Spring contest → Cup",)),
        ({"description": '"Secret words"'}, ("description: other words",)),
        (
            {"deadline_at": "2027-01-21T00:00:00"},
            ("deadline_at: 2027-01-20 23:59:59 → 2027-01-21 00:00:00",),
        ),
        ({"options": "{ size = 5 }"}, ("options.size: 3 → 5",)),
        ({"time_control": "{ per_action_seconds = 0.5 }"}, ("time_control.per_action_seconds: 2.0 → 0.5",)),
        ({"limits": '{ memory_bytes = "256 MiB" }'}, ("limits.memory_bytes: 536870912 → 268435456",)),
        ({"final": "{ encounters = 7 }"}, ("final.encounters: 2 → 7",)),
        (OPEN, ("results: frozen → open", "frozen_hours: 4 → none")),
        ({"house_bots": None}, ("house_bots: arena:greedy → none",)),
        ({"ladders": "true"}, ("ladders: false → true",)),
    ],
)
def test_each_key_has_its_old_value_and_its_new_one(after, sentences):
    assert changed(**after) == sentences


def test_a_time_of_revealing_comes_and_goes():
    at = {"reveal_at": "2027-01-25T12:00:00"}
    assert changed(SEALED, **at) == ("reveal_at: none → 2027-01-25 12:00:00",)
    assert changed(SEALED | at, reveal_at="2027-01-26T12:00:00") == (
        "reveal_at: 2027-01-25 12:00:00 → 2027-01-26 12:00:00",
    )


def test_who_is_invited_is_not_said_but_how_many_are():
    few = {"entrants": '"invited"', "invited": '["ada"]'}
    assert changed(few, invited='["ada", "eve"]') == ("invited: 1 person → 2 persons",)
    assert changed(few, invited='["eve"]') == ("invited: other people",)


@pytest.mark.parametrize(
    ("key", "value"),
    {
        "name": '"autumn"', "title": '"x"', "description": '"x"', "game": '"plaid"', "opens_at": "2027-01-15T09:00:00",
        "time_zone": '"UTC"', "entrants": '"invited"', "bots_per_author": "2", "frozen_hours": "5",
        "qualification": None,
    }.items(),
)  # fmt: skip
def test_whatever_is_different_is_said(key, value):
    options = {"options": "{}"} if key == "game" else {}
    assert changed(**{key: value} | options) != ()
