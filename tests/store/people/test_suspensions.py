import pytest

from arena.store.people.stored_contests import suspension_of, suspension_sentence
from arena.store.people.values import Clock, Role, SubmissionState
from tests.community.contests.samples import DEADLINE, FREEZE, OPEN, OPENS, SEALED, contest_of
from tests.databases import on_both
from tests.store.people.test_contests import accept, submit_bot

LADDERS = {"ladders": "true"}
INVITED = {"entrants": '"invited"', "invited": '["ada"]'}
CASES = {
    "before it opens": (SEALED, OPENS - 1, False),
    "sealed, from the opening on": (SEALED, OPENS, True),
    "frozen, but not yet": ({}, FREEZE - 1, False),
    "frozen": ({}, FREEZE, True),
    "frozen, played": ({}, DEADLINE + 1e6, True),
    "always shown": (OPEN, DEADLINE, False),
    "sealed, but not for ladders": (SEALED | LADDERS, DEADLINE, False),
    "frozen, but not for ladders": (LADDERS, DEADLINE, False),
}


@pytest.fixture
def suspended(store, now):
    def labels(*asked, games=("differences",)):
        text = Clock(now).text()
        return {bot for bot in asked if suspension_of(store.contests.suspensions(), bot, games, text) is not None}

    return labels


@on_both
@pytest.mark.parametrize("case", CASES)
def test_from_when_on(store, now, ada, suspended, case):
    changed, seconds, is_resting = CASES[case]
    now.seconds = OPENS - 3600
    store.contests.add("dora", contest_of(**changed))
    submit_bot(store, ada)
    accept(store, "ada bot@1")
    now.seconds = seconds
    assert suspended("ada bot@1") == ({"ada bot@1"} if is_resting else set())


def test_until_they_are_revealed_or_it_is_cancelled(store, now, ada, suspended):
    now.seconds = OPENS - 3600
    spring = store.contests.add("dora", contest_of(**SEALED))
    submit_bot(store, ada)
    accept(store, "ada bot@1")
    autumn = store.contests.add("dora", contest_of(name='"autumn"', **SEALED, reveal_at="2027-02-01T00:00:00"))
    now.seconds = DEADLINE + 1
    for one in (spring, autumn):
        assert suspended("ada bot@1") == {"ada bot@1"}
        now.seconds += 1e7  # also if nobody reveals them in time
        store.contests.set_revealed(one) if one is spring else store.contests.cancel("dora", "autumn", "Too few.")
    assert suspended("ada bot@1") == set()


def test_until_when_is_said_in_the_zone_of_the_contest(store, now, ada):
    now.seconds = OPENS - 3600
    store.contests.add("dora", contest_of(**SEALED, reveal_at="2027-02-01T08:00:00"))
    [suspension] = store.contests.suspensions()
    hidden = "rests while results of the contest spring are hidden, until"
    assert suspension_sentence(suspension, store.contests.now()) == f"{hidden} 2027-02-01 08:00 (Europe/Berlin)"
    assert suspension_sentence(suspension, "2027-02-01T07:00:00+00:00") == f"{hidden} everything is played"


def test_all_versions_of_what_an_author_could_enter_and_nobody_else_s(store, now, ada, eve, suspended):
    """Of another author, of other games, submitted too late or rejected: those play on."""
    now.seconds = OPENS - 3600
    store.contests.add("dora", contest_of(**SEALED, **INVITED))
    for content, (person, bot, state, seconds) in zip(
        "abcdef",
        (
            (ada, "ada bot@1", SubmissionState.ACCEPTED, OPENS - 3000),
            (eve, "eve bot@1", SubmissionState.ACCEPTED, OPENS),
            (ada, "bad@1", SubmissionState.REJECTED, OPENS + 1),
            (ada, "second@1", SubmissionState.ACCEPTED, DEADLINE),
            (ada, "ada bot@2", SubmissionState.ACCEPTED, DEADLINE + 1),
            (ada, "late@1", SubmissionState.ACCEPTED, DEADLINE + 2),
        ),
        strict=True,
    ):
        now.seconds = seconds
        submit_bot(store, person, content)
        assert store.submissions.claim().finish(state, "", "", bot)
    theirs = {"ada bot@1", "ada bot@2", "ada bot@0", "second@1"}
    assert suspended(*theirs, "eve bot@1", "bad@1", "late@1") == theirs
    assert suspended(*theirs, games=()) == theirs
    assert suspended(*theirs, games=("plaid",)) == set()
    store.accounts.close("ada", "dora", "a test")
    assert suspended(*theirs) == theirs


def test_a_bot_rests_before_it_can_be_listed_and_nobody_lets_those_of_others_rest(store, now, ada, suspended):
    now.seconds = OPENS
    store.contests.add("dora", contest_of(**SEALED))
    submit_bot(store, ada)
    claim = store.submissions.claim()
    assert store.submissions.own_bot_name(ada.number, "ada bot")
    claim.keep("", "ada bot@1")
    assert suspended("ada bot@1") == {"ada bot@1"}
    store.accounts.add("bob", Role.OPERATOR, "test")
    claim.finish(SubmissionState.REJECTED, "", "")
    bob = store.accounts.get("bob")
    submit_bot(store, bob, "b")
    store.submissions.claim().keep("", "ada bot@1")
    assert suspended("ada bot@1") == set()
