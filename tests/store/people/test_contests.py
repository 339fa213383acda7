from dataclasses import replace
from threading import Event, Thread

import pytest

from arena.base.errors import Mistake, UnknownNameError, UsageError
from arena.store.people.contest import ContestPhase, ContestStage, differences, phase_of
from arena.store.people.people_store import PeopleStore
from arena.store.people.secret import new_secret
from arena.store.people.values import Clock, Role, SubmissionState
from tests.community.contests.samples import DEADLINE, FREEZE, OPEN, OPENS, SEALED, contest_of
from tests.databases import on_both
from tests.store.people.test_people_store import at_once


@pytest.fixture
def spring(store, now):
    now.seconds = OPENS - 3600
    return store.contests.add("dora", contest_of())


def submit_bot(store, person, content="a"):
    return store.submissions.add(person, new_secret(), content * 64, 100, "bot.py", "")


def accept(store, bot):
    assert store.submissions.claim().finish(SubmissionState.ACCEPTED, "", "", bot)


def log_of(store):
    return [(line.by, line.action, line.subject, line.reason) for line in store.log.lines(hidden=())]


def change(store, reason="why", **changed):
    return store.contests.change("dora", "spring", contest_of(**changed), reason)


def guests(*names):
    return {"entrants": '"invited"', "invited": str(list(names)).replace("'", '"')}


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


@pytest.mark.slow(only=("postgresql",), sample=True)
@on_both
def test_a_name_is_taken_once_however_many_ask_at_once(store, place, now):
    now.seconds = OPENS
    results = at_once(place, now, 20, lambda own, _: own.contests.add("dora", contest_of()))
    assert sum(not isinstance(one, UsageError) for one in results) == 1
    assert len(store.contests.all()) == 1


def test_everything_that_only_the_arena_knows_is_said_at_once(store, spring, now, ada):
    now.seconds = DEADLINE
    invited = guests("ADA", "bob", "eve")
    with pytest.raises(UsageError) as refused:
        store.contests.add("dora", contest_of(**invited), [Mistake("name", "there is a tournament 'spring' already")])
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
        changed = contest_of(name='"summer"', deadline_at="2027-01-19T00:00:00", **invited)
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
    with pytest.raises(UsageError, match=r"'guest19': nobody .*; invited: 10 more have no account$"):
        store.contests.add("dora", contest_of(**guests(*(f"guest{number}" for number in range(30)))))


def test_a_change_of_nothing_is_not_logged(store, spring):
    before = log_of(store)
    assert change(store) == spring
    assert log_of(store) == before
    change(store, title='"Cup"')
    assert store.log.lines(hidden=())[0].details == "title: Spring contest → Cup"
    assert log_of(store)[0] == ("dora", "changed the contest", "spring", "why")


SOONER = {"opens_at": "2027-01-10T07:00:00"}
LATER = {"deadline_at": "2027-01-21T23:59:59"}
REVEAL = {"reveal_at": "2027-01-25T12:00:00"}
PLAID = {"game": '"plaid"', "options": "{}"}


@pytest.mark.parametrize(
    ("at", "changed", "sentence"),
    [
        (OPENS - 3600, {"name": '"summer"'}, "name: this can't be changed any more; the name of a contest stays"),
        (OPENS - 3600, SOONER | {"deadline_at": "2027-01-15T07:00:00"}, "it has passed already"),
        (OPENS - 3600, SOONER | {"deadline_at": "2027-01-12T07:00:00"}, "it has passed already"),
        (OPENS, PLAID, r"game: this can't .* more; options: this can't"),
        (OPENS, {"deadline_at": "2027-01-20T23:59:58"}, "can only become later than it is, 2027-01-20 23:59:59"),
        (DEADLINE + 1, {"deadline_at": "2027-01-25T23:59:59"}, "deadline_at: this can't be changed any more"),
    ],
)
def test_what_can_not_be_changed_then(store, spring, now, at, changed, sentence):
    now.seconds = at
    with pytest.raises(UsageError, match=sentence):
        change(store, **changed)
    assert store.contests.get("spring") == spring


@pytest.mark.parametrize(
    ("at", "changed", "found"),
    [
        (OPENS - 3600, PLAID | SEALED, {"game": "plaid", "results": "sealed", "freeze_at": None}),
        (OPENS - 3600, SOONER | {"deadline_at": "2027-01-15T07:00:01"}, {"deadline_at": "2027-01-15T06:00:01+00:00"}),
        (OPENS, LATER, {"deadline_at": "2027-01-21T22:59:59+00:00", "freeze_at": "2027-01-21T18:59:59+00:00"}),
        (FREEZE, LATER, {"freeze_at": "2027-01-20T18:59:59+00:00"}),
        (DEADLINE + 1, REVEAL | {"title": '"Cup"'}, {"title": "Cup", "reveal_at": "2027-01-25T11:00:00+00:00"}),
    ],
)
def test_what_can_be_changed_then(store, spring, now, at, changed, found):
    """What is frozen stays so with a later deadline."""
    now.seconds = at
    made = change(store, **changed)
    assert {key: made.freeze_at if key == "freeze_at" else getattr(made.contest, key) for key in found} == found


def test_more_are_invited_after_the_opening_and_who_has_left_stands_in_the_way_of_nothing(store, now, ada, eve):
    now.seconds = OPENS - 1
    store.contests.add("dora", contest_of(**guests("ada")))
    now.seconds = OPENS
    change(store, **guests("ada", "eve"))
    with pytest.raises(UsageError, match="you can only add people"):
        change(store, **guests("eve"))
    store.accounts.erase(eve)
    for at in (OPENS - 1, OPENS):
        now.seconds = at
        assert change(store, **guests("ada", "eve"), title=f'"{at}"').contest.title == str(at)
    with pytest.raises(UsageError, match="invited = 'bob': nobody has an account"):
        change(store, **guests("ada", "eve", "bob"))


def test_a_change_takes_no_tournament_of_another_contest(store, spring, now):
    now.seconds = OPENS - 1
    store.contests.add("dora", contest_of(name='"m"', qualification=None))
    store.contests.add("dora", contest_of(name='"m-qualification"', qualification=None))
    with pytest.raises(UsageError, match="the contest 'm-qualification' has a tournament 'm-qualification' already"):
        store.contests.change("dora", "m", contest_of(name='"m"'), "two stages")
    assert store.contests.get("m").contest.qualification is None


def test_a_freeze_before_the_opening_moves_with_the_deadline(store, now):
    now.seconds = OPENS - 3600
    early = store.contests.add("dora", replace(contest_of(), frozen_hours=150.0))
    assert early.freeze_at == "2027-01-14T16:59:59+00:00"
    assert early.freeze_at < store.contests.now() < early.contest.opens_at
    assert change(store, deadline_at="2027-01-25T23:59:59").freeze_at == "2027-01-25T18:59:59+00:00"


@pytest.mark.parametrize("reason", ["", " ", "x" * 501, "no\u202ebody", "no\u200bbody", "two\nlines"])
def test_a_reason_that_cannot_be_read_is_refused(store, spring, reason):
    for act in (
        lambda: change(store, reason, title='"x"'),
        lambda: store.contests.cancel("dora", "spring", reason),
        lambda: store.contests.ask_to_reveal("dora", "spring", reason or " ", before_played=True),
    ):
        with pytest.raises(UsageError, match="expected 1 to 500 visible characters on one line"):
            act()
    assert store.contests.get("spring") == spring


def test_a_cancelled_contest_is_over(store, spring):
    cancelled = store.contests.cancel("dora", "spring", "nobody came")
    found = (phase_of(cancelled, cancelled.cancelled_at), cancelled.cancel_reason)
    assert found == (ContestPhase.CANCELLED, "nobody came")
    assert log_of(store)[0] == ("dora", "cancelled the contest", "spring", "nobody came")
    for act, sentence in (
        (lambda: store.contests.cancel("dora", "spring", "again"), "cancelled already"),
        (lambda: change(store, title='"x"'), "it is cancelled"),
        (lambda: store.contests.ask_to_reveal("dora", "spring"), "it is cancelled"),
    ):
        with pytest.raises(UsageError, match=sentence):
            act()


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
def test_with_everybody_each_author_with_an_account_in_time_may_enter(store, spring, now, ada, eve):
    for name, role in (("bob", Role.AUTHOR), ("dora", Role.DIRECTOR), ("olga", Role.OPERATOR)):
        store.accounts.add(name, role, "test")
    store.accounts.close("bob", "test", "cheated")
    store.accounts.erase(eve)
    now.seconds = DEADLINE
    store.accounts.add("fay", Role.AUTHOR, "test")
    now.seconds = DEADLINE + 1
    store.accounts.add("late", Role.AUTHOR, "test")
    assert store.contests.may_enter(spring.contest) == ("ada", "fay")
    assert store.contests.may_enter(contest_of(**guests("EVE", "fay"))) == ("EVE", "fay")


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


@on_both
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
        number = submit_bot(other, ada).number
    closing.join()
    assert found == [(True, [number])]


@pytest.mark.parametrize(
    ("before", "after", "sentences"),
    [
        ({}, {}, ()),
        ({}, {"title": '"Cup"'}, ("title: Spring contest → Cup",)),
        ({}, {"description": '"Secret words"'}, ("description: other words",)),
        ({}, {"deadline_at": "2027-01-21T00:00:00"}, ("deadline_at: 2027-01-20 23:59:59 → 2027-01-21 00:00:00",)),
        ({}, {"options": "{ size = 5 }"}, ("options.size: 3 → 5",)),
        ({}, {"final": "{ encounters = 7 }"}, ("final.encounters: 2 → 7",)),
        ({}, OPEN, ("results: frozen → open", "frozen_hours: 4 → none")),
        ({}, {"house_bots": None}, ("house_bots: arena:greedy → none",)),
        ({}, {"ladders": "true"}, ("ladders: false → true",)),
        (SEALED, REVEAL, ("reveal_at: none → 2027-01-25 12:00:00",)),
        (
            SEALED | REVEAL,
            {"reveal_at": "2027-01-26T12:00:00"},
            ("reveal_at: 2027-01-25 12:00:00 → 2027-01-26 12:00:00",),
        ),
        (guests("ada"), guests("ada", "eve"), ("invited: 1 person → 2 persons",)),  # and not who
        (guests("ada"), guests("eve"), ("invited: other people",)),
        *(
            ({}, {key: value}, ...)
            for key, value in {
                "name": '"autumn"', "game": '"plaid"', "opens_at": "2027-01-15T09:00:00", "time_zone": '"UTC"',
                "entrants": '"invited"', "bots_per_author": "2", "frozen_hours": "5", "qualification": None,
            }.items()
        ),
    ],
)  # fmt: skip
def test_whatever_is_different_is_said_with_its_old_value_and_its_new_one(before, after, sentences):
    options = {"options": "{}"} if "game" in after else {}
    found = differences(contest_of(**before), contest_of(**before | after | options))
    assert found == sentences or (sentences is ... and found != ())
