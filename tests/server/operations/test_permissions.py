"""Who may do what: every operation, by everybody. A new operation fails until it is in the table here."""

import pytest

from arena.server.operations.opened_people import OPERATIONS
from arena.store.people.directing import DirectorState
from arena.store.people.values import Role, Scope
from tests.server.operations.conftest import COOKIE, HOST, HTML, JSON

VISITORS = {"visitor", "closed", "expired", "forged"}
BROWSERS = {"author", "director", "operator"}
PROGRAMS = {"read", "submit", "play", "direct", "operator's direct"}
BAD_PROGRAMS = {"expired token", "closed token", "forged token"}
DIRECTORS, DIRECTING = {"director", "operator"}, {"direct", "operator's direct"}
SUBMITTING = {"submit", "operator's direct"}

PLAYING = VISITORS | BROWSERS | {"play", "operator's direct"}
EVERYBODY = VISITORS | BROWSERS | PROGRAMS

MAY = {
    "GET /sign-in": EVERYBODY,
    "POST /sign-in": EVERYBODY,
    "POST /sign-out": EVERYBODY,
    "GET /invitations/{secret}": EVERYBODY,
    "POST /invitations/{secret}": EVERYBODY,
    "GET /account": BROWSERS | PROGRAMS,
    "GET /account/data": BROWSERS,
    "POST /account/sessions/{number}/end": BROWSERS,
    "POST /account/sessions/end": BROWSERS,
    "POST /account/password": BROWSERS,
    "POST /account/tokens": BROWSERS,
    "POST /account/tokens/{number}/end": BROWSERS,
    "POST /account/token/end": PROGRAMS,
    "POST /account/erase": BROWSERS,
    "GET /people": DIRECTORS | DIRECTING,
    "POST /people/invitations": DIRECTORS | DIRECTING,
    "POST /people/import": DIRECTORS | DIRECTING,
    "POST /people/invitations/{number}/end": DIRECTORS | DIRECTING,
    "POST /people/{person}/link": DIRECTORS,
    "POST /people/{person}/close": DIRECTORS | DIRECTING,
    "POST /people/{person}/open": DIRECTORS | DIRECTING,
    "POST /people/{person}/role": {"operator"},
    "GET /health/parts": {"operator"},
    "GET /log": EVERYBODY,
    "GET /ladders": EVERYBODY,
    "GET /tournaments/{tournament}/direct": DIRECTORS | DIRECTING,
    **{
        f"POST /tournaments/{{tournament}}/{what}": DIRECTORS | DIRECTING
        for what in ("pause", "resume", "drain", "withdraw", "disqualify", "replace", "void", "undo")
    },
    "GET /submissions": EVERYBODY,
    "POST /submissions": BROWSERS | SUBMITTING,
    "GET /submissions/{number}": EVERYBODY,
    "GET /submissions/{number}/upload": BROWSERS | SUBMITTING,
    "POST /submissions/{number}/again": BROWSERS | SUBMITTING,
    "POST /submissions/{number}/withdraw": BROWSERS | SUBMITTING,
    "GET /contests": EVERYBODY,
    "POST /contests": DIRECTORS | DIRECTING,
    "GET /contests/new": DIRECTORS | DIRECTING,
    "POST /contests/new": DIRECTORS | DIRECTING,
    "GET /contests/{name}": EVERYBODY,
    "POST /contests/{name}/announce": DIRECTORS | DIRECTING,
    "POST /contests/{name}/ask": BROWSERS | SUBMITTING,
    "POST /contests/{name}/questions/{number}/answer": DIRECTORS | DIRECTING,
    "POST /contests/{name}/change": DIRECTORS | DIRECTING,
    "POST /contests/{name}/cancel": DIRECTORS | DIRECTING,
    "POST /contests/{name}/reveal": DIRECTORS | DIRECTING,
    "GET /contests/{name}/hidden/tournaments/{tournament}": DIRECTORS | DIRECTING,
    "GET /contests/{name}/hidden/tournaments/{tournament}/bots/{bot}": DIRECTORS | DIRECTING,
    "GET /contests/{name}/hidden/tournaments/{tournament}/matches": DIRECTORS | DIRECTING,
    "GET /contests/{name}/hidden/tournaments/{tournament}/matches/{match}": DIRECTORS | DIRECTING,
    "GET /contests/{name}/grades.csv": DIRECTORS | DIRECTING,
    "GET /contests/{name}/result.zip": EVERYBODY,
    "GET /contests/{name}/hidden/tournaments/{tournament}/matches/{match}/logs": DIRECTORS | DIRECTING,
    "GET /tournaments/{tournament}/matches/{match}/logs": BROWSERS | PROGRAMS,
    "GET /bots/{bot}/logs": BROWSERS | PROGRAMS,
    "GET /tournaments/{tournament}/puzzles/{puzzle}/answer": BROWSERS,
    "POST /tournaments/{tournament}/puzzles/{puzzle}/answer": BROWSERS,
    "GET /signing-key": EVERYBODY,
    "GET /challenges": BROWSERS | SUBMITTING,
    "POST /challenges": BROWSERS | SUBMITTING,
    "GET /play": PLAYING,
    "POST /play": PLAYING,
    "GET /play/{match}": PLAYING,
    "GET /play/{match}/events": PLAYING,
    "POST /play/{match}/act": PLAYING,
    "POST /play/{match}/undo": PLAYING,
    "POST /play/{match}/hint": PLAYING,
    "POST /play/{match}/resign": PLAYING,
    "POST /play/{match}/retry": PLAYING,
    "POST /play/{match}/again": PLAYING,
    "POST /play/{match}/vote": PLAYING,
    "POST /tournaments/{tournament}/matches/{match}/analysis": PLAYING,
}

THERE = {"number": "1", "person": "ann", "secret": "x" * 43, "tournament": "kept", "match": "x" * 43}
THERE |= {"name": "spring", "bot": "alpha", "puzzle": "1"}
NOT_THERE = {"number": "987654", "person": "no-such-person", "secret": "y" * 43, "tournament": "nothing"}
NOT_THERE |= {"match": "y" * 43, "name": "no-such-contest", "bot": "nobody", "puzzle": "499"}


def named(operation):
    return f"{operation.method} {operation.path}"


def actors(world):
    found = {"visitor": world.client(), "forged": world.client(), "forged token": world.client(accept=JSON)}
    found["forged"].cookies.set(COOKIE, "z" * 43, domain=HOST)
    found["forged token"].headers["authorization"] = "Bearer arena_" + "z" * 49
    for name in ("cleo", "ella"):
        world.add(name, Role.DIRECTOR)
    found |= {"expired": world.browser("ella"), "expired token": world.program("ella", Scope.DIRECT)}
    world.now.seconds += 31 * 86_400
    found |= {"closed": world.browser("cleo"), "closed token": world.program("cleo", Scope.DIRECT)}
    world.store.accounts.close("cleo", "test", "")
    found |= {"author": world.browser("ann"), "director": world.browser("dora"), "operator": world.browser("olga")}
    found |= {str(scope): world.program("dora", scope) for scope in Scope}
    found["operator's direct"] = world.program("olga", *Scope)
    assert set(found) == EVERYBODY | BAD_PROGRAMS
    return found


def test_every_operation_is_in_the_table():
    assert sorted(map(named, OPERATIONS)) == sorted(MAY)


async def ask(client, operation, there, accept):
    path = operation.path.format_map(there)
    return await client.request(operation.method, path, headers={"accept": accept})


def expected_refusal(name, operation, accept):
    if name in BAD_PROGRAMS:
        return 401
    if name in VISITORS:
        return 303 if operation.method == "GET" and accept == HTML else 401
    return 403


@pytest.mark.slow(sample=("json",))
@pytest.mark.parametrize("accept", [HTML, JSON], ids=["page", "json"])
async def test_who_may_not_is_refused_alike_whether_it_exists_or_not_and_changes_nothing(world, accept):
    everybody = actors(world)
    world.store.directors.report_state("kept", "ladder", DirectorState.IDLE)
    before = world.contents()
    for operation in OPERATIONS:
        for name in sorted(everybody.keys() - MAY[named(operation)]):
            there, not_there = [await ask(everybody[name], operation, one, accept) for one in (THERE, NOT_THERE)]
            assert there.status_code == expected_refusal(name, operation, accept), (named(operation), name)
            if there.status_code == 303:  # to where the same address is asked for again
                for response in (there, not_there):
                    assert response.headers.pop("location").startswith("/sign-in?next=%2F")
            assert (there.status_code, there.content, there.headers) == (
                not_there.status_code, not_there.content, not_there.headers,
            ), (named(operation), name)  # fmt: skip
            assert there.headers["cache-control"] == "no-store"
            assert "set-cookie" not in there.headers
        assert world.contents() == before, named(operation)


READING = [operation for operation in OPERATIONS if operation.method == "GET"]
WRITING = {named(operation): [operation] for operation in OPERATIONS if operation.method != "GET"}


@pytest.mark.slow(only=("reading",))
@pytest.mark.parametrize("operations", [READING, *WRITING.values()], ids=["reading", *WRITING])
async def test_who_may_passes(world, operations):
    everybody = actors(world)
    for operation, name in ((one, name) for one in operations for name in sorted(MAY[named(one)])):
        response = await ask(everybody[name], operation, NOT_THERE, HTML)
        assert response.status_code in (200, 303, 400, 404, 415), (named(operation), name)
        assert "next=" not in response.headers.get("location", "")
        assert response.headers["cache-control"] == "no-store"


OF_OTHERS = {"link": {}, "close": {"reason": "why"}, "open": {"reason": "why"}}


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        *((f"/people/{person}/{what}", sent) for what, sent in OF_OTHERS.items() for person in ("dora", "olga")),
        *(("/people/invitations", {"role": role}) for role in ("director", "operator", "visitor")),
    ],
    ids=str,
)
async def test_a_director_does_nothing_to_directors_and_operators_and_invites_authors_alone(world, path, fields):
    everybody = [world.browser("dora"), world.program("dora", Scope.DIRECT), world.program("olga", *Scope)]
    before = world.contents()
    for client in everybody:
        assert (await client.post(path, json=fields)).status_code == 403
    assert world.contents() == before


async def test_a_director_ends_no_invitation_for_an_operator(world):
    world.store.invitations.invite(Role.OPERATOR, "olga", 7)
    world.store.invitations.invite(Role.AUTHOR, "olga", 7)
    author, operator = world.store.invitations.all()
    dora = world.browser("dora")
    assert (await dora.post(f"/people/invitations/{operator.number}/end")).status_code == 403
    assert (await dora.post(f"/people/invitations/{author.number}/end")).status_code == 303
    assert world.store.invitations.all() == [operator]


async def test_nobody_ends_the_sessions_and_tokens_of_others(world):
    world.program("olga")
    ann, olga = world.browser("ann"), world.browser("olga")
    before = world.contents()
    for what in ("sessions", "tokens"):
        for row in before[what]:
            if row["person_id"] != world.store.accounts.get("ann").number:
                assert (await ann.post(f"/account/{what}/{row['id']}/end")).status_code == 303
    assert world.contents() == before
    assert (await olga.get("/account")).status_code == 200
