import contextlib
import random

import pytest

from arena.base.errors import UsageError
from arena.store.people import submissions as submissions_module
from arena.store.people.people_store import PeopleStore
from arena.store.people.submission_rows import CLAIM_SECONDS, MAX_REPORT_CHARACTERS
from arena.store.people.submissions import MAX_WAITING, PER_PERSON
from arena.store.people.values import Role, SubmissionState
from tests.databases import on_both
from tests.store.people.test_contests import submit_bot
from tests.store.people.test_people_store import PARALLEL, at_once

ACCEPTED, REFUSED, FAILED = SubmissionState.ACCEPTED, SubmissionState.REJECTED, SubmissionState.FAILED


@on_both
def test_a_submission_waits_with_all_that_was_said_of_it(store, ada):
    one = store.submissions.add(ada, "upload", "a" * 64, 100, "bot.py", "the first one")
    assert (one.author, one.state, one.bot, one.note) == ("ada", SubmissionState.WAITING, None, "the first one")
    assert store.submissions.find(one.number) == one
    assert store.submissions.find(one.number + 1) is None


def test_the_same_bytes_again_are_the_same_submission_unless_it_failed_or_was_withdrawn(store, ada, eve):
    first = submit_bot(store, ada)
    assert submit_bot(store, ada) == first
    assert submit_bot(store, eve).number != first.number
    store.submissions.claim().finish(FAILED, "", "the disk was full")
    again = submit_bot(store, ada)
    assert again.number != first.number
    store.submissions.withdraw(ada, again.number)
    assert submit_bot(store, ada).number != again.number


def test_what_fills_the_room_of_a_person_is_the_latest_and_what_is_not_decided(store, ada, eve):
    uploads = []
    for content in "abcd":
        uploads.append(submit_bot(store, ada, content).upload)  # 100 bytes each
        if content != "b":
            store.submissions.claim().finish(REFUSED, "")
        else:
            undecided = store.submissions.claim()
    submit_bot(store, eve)
    assert store.submissions.uploads_beyond(ada, 400) == []
    assert store.submissions.uploads_beyond(ada, 399) == [uploads[0]]
    assert store.submissions.uploads_beyond(ada, 100) == [uploads[2], uploads[0]]
    undecided.finish(REFUSED, "")
    assert store.submissions.uploads_beyond(ada, 0) == uploads[::-1]


@on_both
def test_the_copies_of_a_person_are_added_up_to_a_whole_number(store, ada, eve):
    assert store.submissions.copy_bytes(ada.number) == 0
    for person, content, size_bytes in ((ada, "a", 3_000_000_000), (ada, "b", 5_000_000_000), (eve, "c", 1)):
        submit_bot(store, person, content)
        store.submissions.claim().finish(ACCEPTED, "", bot="x@1", copy_bytes=size_bytes)
    total = store.submissions.copy_bytes(ada.number)
    assert (total, type(total)) == (8_000_000_000, int)


def test_who_is_closed_out_hands_in_nothing_any_more(store, ada):
    waiting, checked = submit_bot(store, ada), submit_bot(store, ada, "b")
    claim = store.submissions.claim()
    store.accounts.close("ada", "test", "cheated")
    for one in (waiting, checked):
        assert store.submissions.find(one.number).state is SubmissionState.WITHDRAWN
    assert not claim.finish(ACCEPTED, "")


@pytest.mark.slow(sample=("sqlite",))
@on_both
def test_the_same_bytes_submitted_many_times_at_once_are_one_submission(store, place, now, ada):
    results = at_once(place, now, PARALLEL, lambda own, _: submit_bot(own, ada))
    assert len({one.number for one in results}) == 1


@pytest.mark.slow
@on_both
def test_only_so_many_wait_at_once_however_they_come(store, place, now, ada, eve):
    results = at_once(place, now, PARALLEL, lambda own, number: submit_bot(own, ada, chr(ord("A") + number)))
    assert sum(not isinstance(one, UsageError) for one in results) == MAX_WAITING
    assert submit_bot(store, eve).author == "eve"


def test_only_so_many_in_an_hour(store, ada, now):
    for number in range(PER_PERSON.times):
        submit_bot(store, ada, chr(ord("A") + number))
        store.submissions.claim().finish(REFUSED, "", "it is broken")
    with pytest.raises(UsageError, match="30 bots within an hour"):
        submit_bot(store, ada, "0")
    now.seconds += 3600 / PER_PERSON.times
    submit_bot(store, ada, "0")


@on_both
def test_the_oldest_is_checked_first_and_by_one_checker(store, place, now, ada, eve):
    numbers = [submit_bot(store, person, letter).number for person, letter in ((ada, "a"), (eve, "b"), (ada, "c"))]
    claims = at_once(place, now, 5, lambda own, _: own.submissions.claim())
    assert sorted(claim.submission.number for claim in claims if claim is not None) == numbers
    assert [one.state for one in store.submissions.unfinished()] == [SubmissionState.CHECKING] * 3


def test_a_checker_says_what_it_found_and_decides(store, ada):
    number = submit_bot(store, ada).number
    claim = store.submissions.claim()
    assert (claim.submission.author, claim.submission.tries) == ("ada", 1)
    assert claim.keep("copied", "greedy@1")
    assert store.submissions.find(number).report == "copied"
    assert claim.finish(REFUSED, "copied\nbroken", "it is broken")
    one = store.submissions.find(number)
    assert (one.state, one.bot, one.reason, one.report) == (REFUSED, "greedy@1", "it is broken", "copied\nbroken")
    assert one.finished_at is not None
    assert not claim.finish(ACCEPTED, "")
    assert store.submissions.claim() is None


def test_what_a_killed_checker_left_is_checked_again_and_its_late_answer_does_not_count(store, ada, now):
    number = submit_bot(store, ada).number
    lost = store.submissions.claim()
    now.seconds += CLAIM_SECONDS - 1
    assert lost.keep("", None)
    now.seconds += CLAIM_SECONDS - 1
    assert store.submissions.claim() is None
    now.seconds += 1
    claim = store.submissions.claim()
    assert claim.submission.tries == 2
    assert not lost.keep("late", None)
    assert not lost.finish(ACCEPTED, "late")
    assert claim.finish(REFUSED, "")
    assert store.submissions.find(number).state is REFUSED


@on_both
def test_the_only_checker_takes_at_once_what_another_has_left_and_not_what_was_postponed(store, ada, now):
    number = submit_bot(store, ada).number
    lost = store.submissions.claim()
    assert store.submissions.claim() is None
    claim = store.submissions.claim(is_alone=True)
    assert (claim.submission.number, claim.submission.tries) == (number, 2)
    assert not lost.finish(ACCEPTED, "late")
    assert claim.postpone()
    assert not claim.keep("")
    assert store.submissions.claim(is_alone=True) is None
    now.seconds += CLAIM_SECONDS
    assert store.submissions.claim(is_alone=True).submission.number == number


def test_each_try_is_counted_and_knows_what_the_one_before_has_found(store, ada, now):
    number = submit_bot(store, ada).number
    for tries, bot in ((1, None), (2, "greedy@1"), (3, "greedy@2")):
        claim = store.submissions.claim()
        assert (claim.submission.number, claim.submission.tries, claim.submission.bot) == (number, tries, bot)
        claim.keep("", f"greedy@{tries}")
        now.seconds += CLAIM_SECONDS


def test_a_withdrawn_submission_is_not_decided_any_more(store, ada, eve):
    waiting, checked = submit_bot(store, ada), submit_bot(store, ada, "b")
    with pytest.raises(UsageError, match="not yours"):
        store.submissions.withdraw(eve, waiting.number)
    assert store.submissions.withdraw(ada, waiting.number).state is SubmissionState.WITHDRAWN
    claim = store.submissions.claim()
    assert claim.submission.number == checked.number
    store.submissions.withdraw(ada, checked.number)
    assert not claim.finish(ACCEPTED, "")
    with pytest.raises(UsageError, match="decided already"):
        store.submissions.withdraw(ada, checked.number)


@pytest.mark.slow(only=("postgresql",))
def test_the_name_of_a_bot_belongs_to_who_was_first(store, place, now, ada, eve):
    people = (ada, eve)
    results = at_once(place, now, PARALLEL, lambda own, k: own.submissions.own_bot_name(people[k % 2].number, "Greedy"))
    assert sorted(results) == [False] * (PARALLEL // 2) + [True] * (PARALLEL // 2)
    results = at_once(place, now, 2, lambda own, number: own.submissions.own_bot_name(people[number].number, "gr-eedy"))
    assert sorted(results) == [False, True]


def test_a_name_of_which_nothing_was_accepted_is_free_again(store, ada, eve):
    names = store.submissions
    for state, is_free in ((REFUSED, True), (ACCEPTED, False)):
        number = submit_bot(store, ada, str(state)[0]).number
        claim = names.claim()
        assert names.own_bot_name(ada.number, "Greedy")
        names.release_bot_name(ada.number, "Greedy")
        assert names.owner("Greedy") == ada.number, "it is being checked"
        claim.finish(state, "", bot="Greedy@1")
        assert names.find(number).state is state
        names.release_bot_name(eve.number, "Greedy")
        assert names.owner("Greedy") == ada.number, "it is not that of eve"
        names.release_bot_name(ada.number, "gr-eedy")
        assert (names.owner("Greedy") is None) == is_free


def test_a_report_and_a_note_are_bounded(store, ada):
    number = submit_bot(store, ada).number
    store.submissions.claim().finish(REFUSED, "x" * (3 * MAX_REPORT_CHARACTERS))
    assert len(store.submissions.find(number).report) <= MAX_REPORT_CHARACTERS + 10
    with pytest.raises(UsageError, match="expected at most 2000"):
        store.submissions.add(ada, "upload", "a" * 64, 1, "bot.py", "x" * 2001)


def test_how_long_checks_take_without_the_time_before(store, ada, now):
    submit_bot(store, ada)
    now.seconds += 1000
    claim = store.submissions.claim()
    now.seconds += 12
    claim.finish(ACCEPTED, "", bot="greedy@1")
    assert store.submissions.seconds_to_check() == [12.0]


@on_both
def test_authors_take_turns(store, ada, eve):
    """Three of ada's come first, but eve need not wait for all of them."""
    waiting = [submit_bot(store, ada, letter).number for letter in "abc"] + [submit_bot(store, eve, "d").number]
    assert checked(store) == [waiting[0], waiting[3], waiting[1], waiting[2]]


@pytest.mark.parametrize("seed", range(8))
def test_the_list_says_in_which_order_they_are_checked(place, now, seed):
    chance = random.Random(seed)
    with PeopleStore(place, now) as store:
        authors = [store.accounts.add(f"author{k}", Role.AUTHOR, "test") for k in range(5)]
        for k in range(12):
            with contextlib.suppress(UsageError):  # three of each wait at most
                submit_bot(store, chance.choice(authors), "abcdefghijkl"[k])
            if chance.random() < 0.3 and (claim := store.submissions.claim()) is not None:
                claim.finish(REFUSED, "")
        expected = [one.number for one in store.submissions.unfinished()]
        assert [store.submissions.ahead_of(number) for number in expected] == list(range(len(expected)))
        assert checked(store) == expected
        assert store.submissions.ahead_of(expected[0]) is None


def test_all_that_wait_are_counted_and_the_first_are_shown(store, monkeypatch):
    monkeypatch.setattr(submissions_module, "LISTED", 2)
    numbers = []
    for k in range(4):
        numbers.append(submit_bot(store, store.accounts.add(f"author{k}", Role.AUTHOR, "test")).number)
    assert [one.number for one in store.submissions.unfinished()] == numbers[:2]
    assert store.submissions.queue().counts == {SubmissionState.WAITING: 4}
    assert store.submissions.ahead_of(numbers[3]) == 3


def checked(store):
    numbers = []
    while (claim := store.submissions.claim()) is not None:
        numbers.append(claim.submission.number)
        claim.finish(REFUSED, "")
    return numbers
