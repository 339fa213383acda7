import contextlib
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier

import pytest
from sqlalchemy import inspect

from arena.base.errors import InvitationError, StoreError, UnknownNameError, UsageError
from arena.store.people.directors import DirectorState
from arena.store.people.people_store import PeopleStore
from arena.store.people.rates import Rate
from arena.store.people.schema import add_line
from arena.store.people.secret import is_token
from arena.store.people.sessions import MAX_SESSIONS, MAX_TOKENS
from arena.store.people.unrated_match import Choices
from arena.store.people.values import EmbargoedTournament, Role, Scope
from arena.store.results.store import Store
from tests.databases import change, on_both

DAY = 86_400
PARALLEL = 40
BY = "test"


@pytest.fixture
def eve(store):
    return store.accounts.add("eve", Role.OPERATOR, BY)


def at_once(place, now, count, work):
    """Run ``work(store, number)`` in threads, each with a database connection of its own, and return the results."""
    threads = min(count, 20)
    started = Barrier(threads)
    numbers, results = iter(range(count)), [None] * count

    def run(_):
        with PeopleStore(place, now) as own:
            started.wait(60)
            for number in numbers:  # each number goes to one thread
                results[number] = result_of(own, number)

    def result_of(own, number):
        try:
            return work(own, number)
        except UsageError as error:
            return error

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, range(threads)))
    return results


@on_both
def test_people_are_found_however_their_name_is_written_and_forgotten_when_they_leave(store, ada):
    assert store.accounts.get("ADA") == ada
    assert (ada.name, ada.role, ada.has_password, ada.closed_at) == ("ada", Role.AUTHOR, False, None)
    with pytest.raises(UnknownNameError, match="did you mean 'ada'"):
        store.accounts.get("adda")
    store.sessions.begin(ada, "a browser", "192.0.2.1")
    store.accounts.erase(ada)
    assert [person.name for person in store.accounts.all()] == [f"left-{ada.number}"]
    with pytest.raises(UsageError, match="looks too much like"):
        store.accounts.add("ada", Role.AUTHOR, BY)


@on_both
def test_nobody_becomes_somebody_who_has_left(store, ada):
    store.accounts.erase(ada)
    name = f"left-{ada.number}"
    for attempt in (
        lambda: store.accounts.reopen(name, BY, "a mistake"),
        lambda: store.accounts.set_role(name, Role.DIRECTOR, BY, "a mistake"),
        lambda: store.accounts.close(name, BY, "a mistake"),
        lambda: store.invitations.invite_person(name, BY, 7),
    ):
        with pytest.raises(UsageError, match="has left, and the account is erased for good"):
            attempt()
    assert store.accounts.get(name).closed_at is not None


@on_both
def test_names_are_in_the_same_order_in_every_database(store, ada):
    """Capitals first; in the order of a language they are beside the small letters, and marks don't count."""
    for name in ("Zoe", "a.z", "ax"):
        store.accounts.add(name, Role.AUTHOR, BY)
        store.directors.report_state(name, "ladder", DirectorState.IDLE)
        store.submissions.own_bot_name(ada.number, name)
    assert [person.name for person in store.accounts.all()] == ["Zoe", "a.z", "ada", "ax"]
    assert [report.tournament for report in store.directors.reports("ladder")] == ["Zoe", "a.z", "ax"]
    assert store.submissions.names_of(ada) == ["Zoe", "a.z", "ax"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("ada", "taken"), ("ADA", "taken"), ("a-da", "looks too much like"), ("x y", "expected 2 to 32 letters")],
)
def test_a_name_is_given_once(store, ada, name, sentence):
    with pytest.raises(UsageError, match=sentence):
        store.accounts.add(name, Role.AUTHOR, BY)
    assert [person.name for person in store.accounts.all()] == ["ada"]


def test_nobody_is_made_or_becomes_a_visitor(store, ada):
    with pytest.raises(UsageError, match="expected author, director, operator"):
        store.accounts.add("bob", Role.VISITOR, BY)
    with pytest.raises(UsageError, match="expected author, director, operator"):
        store.accounts.set_role("ada", Role.VISITOR, BY, "")


def test_a_closed_account_proves_nothing_any_more(store, ada):
    session = store.sessions.begin(ada, "a browser", "::1")
    token = store.tokens.make(ada, "laptop", [Scope.READ], 1)
    invitation = store.invitations.invite_person("ada", BY, 1)
    store.accounts.set_password(ada, "hash")
    assert store.sessions.find(session) is None  # a new password ends all sessions
    session = store.sessions.begin(ada, "a browser", "::1")
    store.accounts.close("ada", BY, "cheated")
    assert store.sessions.find(session) is store.tokens.find(token) is None
    with pytest.raises(UsageError, match="used, or has expired"):
        store.invitations.find(invitation)
    assert store.accounts.with_password("ada") == (None, None)
    assert store.accounts.reopen("ada", BY, "").closed_at is None
    assert store.accounts.with_password("ada")[1] == "hash"
    assert store.sessions.find(session) is None


def test_the_last_operator_who_can_sign_in_stays(store, ada, eve):
    never_came = store.accounts.add("bob", Role.OPERATOR, BY)
    store.accounts.set_password(eve, "hash")
    eve = store.accounts.get("eve")
    for losing in (
        lambda: store.accounts.set_role("eve", Role.AUTHOR, BY, ""),
        lambda: store.accounts.close("eve", BY, ""),
        lambda: store.accounts.erase(eve),
    ):
        with pytest.raises(UsageError, match="the last operator"):
            losing()
    store.accounts.set_role("ada", Role.OPERATOR, BY, "")
    with pytest.raises(UsageError, match="the last operator"):
        store.accounts.close("eve", BY, "")
    store.accounts.set_password(ada, "hash")
    for name in ("eve", never_came.name):
        assert store.accounts.close(name, BY, "").closed_at is not None


@pytest.mark.parametrize("change", ["role", "close", "erase"])
def test_the_invitations_that_somebody_made_end_with_the_role(store, ada, eve, change):
    made = [store.invitations.invite(Role.AUTHOR, "ada", 1), store.invitations.invite_person("ada", BY, 1)]
    other = store.invitations.invite(Role.AUTHOR, "eve", 1)
    {
        "role": lambda: store.accounts.set_role("ada", Role.DIRECTOR, BY, ""),
        "close": lambda: store.accounts.close("ada", BY, ""),
        "erase": lambda: store.accounts.erase(ada),
    }[change]()
    for secret in made:
        with pytest.raises(UsageError, match="was used, or has expired"):
            store.invitations.find(secret)
    assert store.invitations.find(other).made_by == "eve"


@pytest.mark.parametrize(
    ("role", "change", "given", "is_usable"),
    [
        (Role.DIRECTOR, None, Role.AUTHOR, True),
        (Role.DIRECTOR, None, Role.OPERATOR, False),
        (Role.OPERATOR, None, Role.OPERATOR, True),
        (Role.OPERATOR, Role.DIRECTOR, Role.OPERATOR, False),
        (Role.OPERATOR, Role.AUTHOR, Role.AUTHOR, False),
        (Role.OPERATOR, "closed", Role.AUTHOR, False),
    ],
)
def test_an_invitation_made_a_moment_after_its_maker_lost_the_role_is_none(store, role, change, given, is_usable):
    store.accounts.add("mia", role, BY)
    if change == "closed":
        store.accounts.close("mia", BY, "why")
    elif change is not None:
        store.accounts.set_role("mia", change, BY, "why")
    secret = store.invitations.invite(given, "mia", 1)
    assert len(store.invitations.all()) == is_usable
    with contextlib.nullcontext() if is_usable else pytest.raises(InvitationError):
        store.invitations.accept(secret, "mallory", "hash")


@on_both
def test_two_operators_who_close_each_other_at_once_leave_one(store, place, now, eve):
    for operator in (eve, store.accounts.add("bob", Role.OPERATOR, BY)):
        store.accounts.set_password(operator, "hash")
    at_once(place, now, 2, lambda own, number: own.accounts.close(("eve", "bob")[number], BY, ""))
    assert sum(person.closed_at is None for person in store.accounts.all()) == 1


@on_both
def test_who_knew_a_password_that_was_just_changed_or_closed_out_is_not_signed_in(store, ada):
    store.accounts.set_password(ada, "old")
    store.accounts.set_password(ada, "new", "old")
    for work in (
        lambda: store.sessions.begin(ada, "", "", "old"),  # whose check took longer than the change
        lambda: store.accounts.set_password(ada, "stolen", "old"),
    ):
        with pytest.raises(UsageError, match="the password has just been changed"):
            work()
    assert store.accounts.password_hash(ada) == "new"
    store.accounts.close("ada", BY, "")
    for work in (
        lambda: store.sessions.begin(ada, "", "", "new"),
        lambda: store.tokens.make(ada, "late", [Scope.READ], 1),
        lambda: store.accounts.set_password(ada, "late"),
        lambda: store.submissions.check_again(ada, 1),
    ):
        with pytest.raises(UsageError, match="the account is closed"):
            work()
    store.accounts.reopen("ada", BY, "")
    assert (store.sessions.all(ada), store.tokens.all(ada)) == ([], [])


@on_both
def test_a_session_proves_who_somebody_is_and_is_stored_as_a_digest(store, ada, tmp_path):
    secret = store.sessions.begin(ada, "a browser", "192.0.2.1")
    found = store.sessions.find(secret)
    assert found.person == ada
    assert (found.session.device, found.session.address) == ("a browser", "192.0.2.1")
    assert store.sessions.find(secret[:-1]) is None
    assert secret.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("people.sqlite3*"))


def test_a_session_ends_when_nobody_uses_it_and_at_last_in_any_case_and_so_many_are_kept(store, ada, now):
    idle, used = (store.sessions.begin(ada, name, "") for name in ("idle", "used"))
    for _ in range(8):
        now.seconds += 20 * DAY
        assert store.sessions.find(used) is not None
    assert store.sessions.find(idle) is None
    assert [session.device for session in store.sessions.all(ada)] == ["used"]
    now.seconds += 20 * DAY + 1
    assert store.sessions.find(used) is None
    secrets = [store.sessions.begin(ada, str(number), "") for number in range(MAX_SESSIONS + 2)]
    assert [store.sessions.find(secret) is not None for secret in secrets] == [False] * 2 + [True] * MAX_SESSIONS


def test_sessions_are_ended_one_by_one_or_all_and_never_those_of_others(store, ada, eve):
    mine, other = (store.sessions.begin(ada, name, "") for name in ("one", "two"))
    hers = store.sessions.begin(eve, "hers", "")
    (number,) = (session.number for session in store.sessions.all(eve))
    store.sessions.end(ada, number)
    assert store.sessions.find(hers) is not None
    store.sessions.end(ada, store.sessions.find(mine).session.number)
    assert store.sessions.find(mine) is None
    assert store.sessions.find(other) is not None
    store.sessions.end_all(ada)
    assert store.sessions.find(other) is None
    assert store.sessions.find(hers) is not None


def test_a_token_is_good_until_it_expires_or_is_ended(store, ada, eve, now):
    token = store.tokens.make(ada, "laptop", [Scope.READ, Scope.SUBMIT], 2)
    assert is_token(token)
    found = store.tokens.find(token)
    assert (found.person, found.token.name, found.token.scopes) == (ada, "laptop", {Scope.READ, Scope.SUBMIT})
    assert found.token.seen_at is None
    assert store.tokens.find(token).token.seen_at is not None
    store.tokens.end(eve, found.token.number)
    assert store.tokens.find(token) is not None
    now.seconds += 2 * DAY
    assert store.tokens.find(token) is None
    assert store.tokens.all(ada) == []


@pytest.mark.parametrize(
    ("name", "scopes", "days", "sentence"),
    [
        ("", [Scope.READ], 1, "1 to 64 visible"),
        ("x" * 65, [Scope.READ], 1, "1 to 64 visible"),
        ("a\u202eb", [Scope.READ], 1, "1 to 64 visible"),
        ("a", [], 1, "needs a scope"),
        ("a", [Scope.READ], 0, "days = 0"),
        ("a", [Scope.READ], 367, "days = 367"),
    ],
)
def test_a_token_that_is_refused(store, ada, name, scopes, days, sentence):
    with pytest.raises(UsageError, match=sentence):
        store.tokens.make(ada, name, scopes, days)


@pytest.mark.slow(only=("postgresql",))
@on_both
def test_so_many_tokens_and_no_more_also_when_all_are_made_at_once(store, place, now, ada):
    results = at_once(place, now, MAX_TOKENS + 10, lambda own, _: own.tokens.make(ada, "t", [Scope.READ], 1))
    assert sum(isinstance(result, str) for result in results) == MAX_TOKENS == len(store.tokens.all(ada))


@pytest.mark.slow
@on_both
def test_an_invitation_is_used_once_by_whoever_is_first(store, place, now):
    secret = store.invitations.invite(Role.AUTHOR, BY, 1)
    assert store.invitations.find(secret).person is None
    results = at_once(place, now, PARALLEL, lambda own, number: own.invitations.accept(secret, f"a{number}x", "hash"))
    assert sum(not isinstance(result, UsageError) for result in results) == 1
    assert {type(result) for result in results if isinstance(result, UsageError)} == {InvitationError}
    assert len(store.accounts.all()) == 1


def test_an_invitation_for_a_person_keeps_the_name_and_ends_the_sessions(store, ada):
    session = store.sessions.begin(ada, "", "")
    earlier = store.invitations.invite_person("ada", BY, 1)
    secret = store.invitations.invite_person("Ada", BY, 1)
    with pytest.raises(UsageError, match="used, or has expired"):
        store.invitations.accept(earlier, "", "hash")
    assert store.invitations.find(secret).person == "ada"
    other = store.invitations.invite(Role.DIRECTOR, BY, 1)
    with pytest.raises(UsageError, match="taken"):
        store.invitations.accept(other, "ada", "hash")
    assert store.invitations.accept(other, "bob", "hash").role is Role.DIRECTOR  # a refused name does not use it up
    assert store.invitations.accept(secret, "mallory", "hash").name == "ada"
    assert store.accounts.with_password("ada")[1] == "hash"
    assert store.sessions.find(session) is None


def test_an_invitation_expires_or_is_ended(store, now):
    secrets = [store.invitations.invite(Role.AUTHOR, "ada", days) for days in (1, 2)]
    now.seconds += DAY
    [invitation] = store.invitations.all()
    for _ in range(2):
        store.invitations.end(invitation.number, BY)
    assert store.invitations.all() == []
    for secret in secrets:
        for use in (store.invitations.find, lambda one: store.invitations.accept(one, "bob", "hash")):
            with pytest.raises(UsageError, match="was used, or has expired"):
                use(secret)
    found = [line.action for line in store.log.lines(hidden=())]
    assert found == ["ended an invitation for", "made an invitation for", "made an invitation for"]


@pytest.mark.slow(sample=("sqlite",))
@on_both
def test_a_rate_holds_exactly_when_all_come_at_once(place, now):
    rate = Rate(7, 60.0)
    with PeopleStore(place, now):
        waits = at_once(place, now, PARALLEL, lambda own, _: own.rates.take("key", rate))
    assert waits.count(0.0) == 7
    assert all(0 < wait <= 60 / 7 + 0.01 for wait in waits if wait)


def test_after_a_clock_that_was_ahead_nobody_waits_for_its_time(store, now):
    rate = Rate(3, 60.0)
    now.seconds += 1_000_000
    assert [store.rates.take("key", rate) == 0.0 for _ in range(4)] == [True] * 3 + [False]
    now.seconds -= 1_000_000
    assert [store.rates.take("key", rate) == 0.0 for _ in range(4)] == [True] * 3 + [False]
    now.seconds -= 10  # a correction by some seconds forgives nothing
    assert store.rates.take("key", rate) > 0


def test_after_the_wait_it_is_allowed_and_not_before(store, now):
    rate = Rate(3, 60.0)
    assert [store.rates.take("key", rate) for _ in range(3)] == [0.0] * 3
    wait = store.rates.take("key", rate)
    assert wait == pytest.approx(20.0)
    now.seconds += wait - 0.01
    assert store.rates.take("key", rate) > 0
    now.seconds += 0.02
    assert store.rates.take("key", rate) == 0.0
    assert store.rates.take("other", rate) == 0.0
    now.seconds += 1000
    assert [store.rates.take("key", rate) == 0.0 for _ in range(4)] == [True] * 3 + [False]
    store.rates.forget("key")
    assert store.rates.take("key", rate) == 0.0
    now.seconds += 1000
    store.rates.prune()
    assert store.rates.take("key", rate) == 0.0


@pytest.mark.slow(only=("postgresql",))
@on_both
def test_what_is_done_about_people_is_in_the_log_without_gaps(store, place, now):
    store.accounts.add("ada", Role.AUTHOR, "eve")
    store.accounts.close("ada", "eve", "cheated")
    at_once(place, now, 30, lambda own, number: own.accounts.add(f"bob{number}x", Role.AUTHOR, BY))
    entries = store.log.lines(hidden=())
    assert [entry.number for entry in entries] == list(range(len(entries), 0, -1))
    assert (entries[-2].by, entries[-2].action, entries[-2].subject) == ("eve", "closed the account of", "ada")
    assert entries[-2].reason == "cheated"
    assert store.log.lines(hidden=(), before=2) == [entries[-1]]


def test_lines_about_an_embargoed_tournament_are_kept_back_from_that_second_on(store, now):
    for reason, tournament in (("one", "spring"), ("two", "autumn"), ("three", "spring"), ("four", None)):
        now.seconds += 1
        at = datetime.fromtimestamp(now.seconds, UTC).isoformat(timespec="seconds")
        written = ("eve", "paused", "x", reason, tournament)
        store.log._database.write(lambda connection, line=(at, *written): add_line(connection, *line))

    def seen(since):
        hidden = [EmbargoedTournament("spring", since)] if since else []
        return [(line.number, line.reason) for line in store.log.lines(hidden=hidden)]

    everything = [(4, "four"), (3, "three"), (2, "two"), (1, "one")]
    third = datetime.fromtimestamp(now.seconds - 1, UTC).isoformat(timespec="seconds")
    fourth = datetime.fromtimestamp(now.seconds, UTC).isoformat(timespec="seconds")
    assert seen(None) == seen(fourth) == everything  # what was public before stays so
    assert seen(third) == [(3, "four"), (2, "two"), (1, "one")]
    assert seen("2020-01-01T00:00:00+00:00") == [(2, "four"), (1, "two")]


@pytest.mark.parametrize("reason", ["x" * 501, " ", "a\u202eb", "a\nb"])
def test_a_reason_that_nobody_could_read_changes_nothing(store, ada, reason):
    with pytest.raises(UsageError, match="expected 1 to 500 visible characters on one line"):
        store.accounts.close("ada", BY, reason)
    assert store.accounts.get("ada").closed_at is None


def test_a_file_of_results_or_of_a_newer_arena_is_refused_and_only_the_owner_reads_one_of_people(tmp_path):
    path = tmp_path / "people.sqlite3"
    PeopleStore(path).close()
    assert {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.glob("people.sqlite3*")} == {0o600}
    change(path, "UPDATE people_meta SET value = '99' WHERE key = 'schema_version'")
    with pytest.raises(StoreError, match="a newer arena is needed"):
        PeopleStore(path)
    path = tmp_path / "arena.sqlite3"
    Store(path).close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="something else than people"):
        PeopleStore(path)
    assert path.read_bytes() == before


@on_both
@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_an_earlier_database_gets_what_is_new_and_loses_only_what_is_gone(store, place, now, ada, version):
    choices = Choices(game="differences", options="{}", seat=0, bot="arena:greedy", per_action_milliseconds=500)
    store.unrated_matches.set_menu("{}", 4)
    match = store.unrated_matches.begin(choices, ada.number, "192.0.2.1")

    def make_it_earlier(connection):
        connection.exec_driver_sql("CREATE TABLE device_logins (code text, person_id integer REFERENCES people (id))")
        connection.exec_driver_sql(f"INSERT INTO device_logins VALUES ('BCDF-GHJK', {ada.number})")
        for column in ("challenger", "compared")[(version > 2) + (version > 3) :]:
            connection.exec_driver_sql(f"ALTER TABLE unrated_matches DROP COLUMN {column}")
        for table in ("puzzle_tries", "votes")[: 1 + (version < 4)]:
            connection.exec_driver_sql(f"DROP TABLE {table}")
        connection.exec_driver_sql(f"UPDATE people_meta SET value = '{version}' WHERE key = 'schema_version'")

    store._database.write(make_it_earlier)
    opened = at_once(place, now, 4, lambda own, _: own.unrated_matches.find(match.secret))
    assert [found.choices for found in opened] == 4 * [choices]
    assert store.votes.found(person_id=ada.number) == store.puzzle_tries.found() == []
    assert "device_logins" not in store._database.read(lambda connection: inspect(connection).get_table_names())
