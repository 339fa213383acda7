import re
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

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
from arena.store.people.secret import (
    check_password,
    hash_password,
    is_right,
    is_secret,
    is_token,
    new_secret,
    new_token,
)
from arena.store.people.stored_contests import suspension_of, suspension_sentence
from arena.store.people.values import (
    MEMBER_ROLES,
    PERMISSIONS,
    Clock,
    EmbargoedTournament,
    Permission,
    Role,
    Scope,
    SubmissionState,
    look_alike_key,
    permissions_of_token,
    rule_of_name,
    scopes_of,
)
from tests.community.contests.samples import DEADLINE, FREEZE, OPEN, OPENS, SEALED, contest_of
from tests.databases import on_both
from tests.store.people.test_contests import accept, log_of, submit_bot
from tests.store.people.test_people_store import PARALLEL


def test_each_role_may_do_all_that_the_one_below_may_and_operators_alone_manage_people():
    for lower, higher in zip(Role, list(Role)[1:], strict=False):
        assert PERMISSIONS[lower] < PERMISSIONS[higher]
    assert [role for role in Role if Permission.MANAGE_PEOPLE in PERMISSIONS[role]] == [Role.OPERATOR]
    assert Permission.MANAGE_PEOPLE not in permissions_of_token(Role.OPERATOR, frozenset(Scope))
    assert scopes_of(Role.AUTHOR) == (Scope.READ, Scope.SUBMIT, Scope.PLAY)


@pytest.mark.parametrize("role", MEMBER_ROLES)
def test_a_token_never_may_more_than_its_owner_may_now(role):
    for count in range(len(Scope) + 1):
        for scopes in combinations(Scope, count):
            assert permissions_of_token(role, frozenset(scopes)) <= PERMISSIONS[role]


def test_a_token_of_a_director_who_became_an_author_does_not_direct():
    scopes = frozenset({Scope.DIRECT, Scope.SUBMIT})
    assert Permission.DIRECT in permissions_of_token(Role.DIRECTOR, scopes)
    assert permissions_of_token(Role.AUTHOR, scopes) == {Permission.SUBMIT}


ACCEPTED = ("ada", "Ada", "ada-lovelace", "a1", "A.B_c-d", "x" * 32)
REFUSED = (
    *("", "a", "x" * 33, "1a", "-ada", "ada-", "a--b", "a b", "a@b", "a/b", "ада", "adä", "ada\n", "ada\u200b"),
    *("a\0b", "root", "Admin", "human", "arena", "left-5", "a\uff41", "<b>", "a'b", "..", "a\u202eb"),
)


def test_a_name_is_accepted_or_refused():
    assert [name for name in (*ACCEPTED, *REFUSED) if not rule_of_name(name)] == [*ACCEPTED]


@pytest.mark.parametrize("name", ["Admin", "nobody", "left-5"])
def test_a_reserved_name_is_not_told_the_rule_that_it_keeps(name):
    assert rule_of_name(name) == "the arena keeps this name for itself; expected another"
    assert rule_of_name(f"-{name}").startswith("expected 2 to 32 letters")


ALIKE = ["Illa=lIIa", "bob=b0b", "ada=A-D-A", "modern=modem", "vvill=will", "clan=dan", "club=c1ub", "my bot=mybot"]
DIFFERENT = ["ada=adam", "bob=rob", "anna=hanna", "x1=x2"]


@pytest.mark.parametrize("pair", ALIKE + DIFFERENT)
def test_names_that_look_alike_are_one_and_others_two(pair):
    name, other = map(look_alike_key, pair.split("="))
    assert (name == other) == (pair in ALIKE)


def test_a_secret_has_256_bits_and_a_token_can_be_found_in_a_text_and_a_mistyped_one_is_none():
    secrets = {new_secret() for _ in range(1000)}
    assert len(secrets) == 1000
    assert all(is_secret(secret) for secret in secrets)
    assert not is_secret(next(iter(secrets))[:-1])
    token = new_token()
    assert re.fullmatch(r"arena_[A-Za-z0-9_-]{49}", token)
    assert is_token(token)
    for place in range(len(token)):
        letter = "A" if token[place] != "A" else "B"
        assert not is_token(token[:place] + letter + token[place + 1 :])
    assert not is_token(token + "\n")


@pytest.mark.parametrize(
    "password", ["", "short", "aaaaaaaaaaaa", "ababababab", "ada-lovelace1", "x" * 201, "ada-lovelaceada-lovelace"]
)
def test_a_password_that_is_refused_is_not_repeated(password):
    with pytest.raises(UsageError) as caught:
        check_password(password, "ada-lovelace")
    assert not password or password not in str(caught.value)


@pytest.mark.slow(sample=True)
def test_the_right_password_and_no_other():
    check_password("correct horse", "ada")
    stored = hash_password("correct horse")
    assert stored.startswith("$argon2id$")
    assert is_right("correct horse", stored)
    assert not is_right("correct hors", stored)
    assert not is_right("correct horse", None)
    assert not is_right("correct horse", "no hash at all")


@pytest.fixture
def supervised(store):
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
    hidden = "is suspended while the contest spring hides its results, until"
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
    submit_bot(store, store.accounts.get("bob"), "b")
    store.submissions.claim().keep("", "ada bot@1")
    assert suspended("ada bot@1") == set()
