"""Who may do what: every operation, by everybody. A new operation fails until it is in the table here."""

import pytest

from arena.server.operations.opened_people import OPERATIONS
from arena.store.people.directors import DirectorState
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

OPERATIONS_OF = (
    (EVERYBODY, (
        "GET /sign-in", "POST /sign-in", "POST /sign-out", "GET /invitations/{secret}", "POST /invitations/{secret}",
        "GET /log", "GET /ladders", "GET /submissions", "GET /submissions/{number}", "GET /contests",
        "GET /contests/{name}", "GET /contests/{name}/result.zip", "GET /signing-key",
    )),
    (BROWSERS | PROGRAMS, (
        "GET /account", "GET /tournaments/{tournament}/matches/{match}/logs", "GET /bots/{bot}/logs",
    )),
    (BROWSERS, (
        "GET /account/data", "POST /account/sessions/{number}/end", "POST /account/sessions/end",
        "POST /account/password", "POST /account/tokens", "POST /account/tokens/{number}/end", "POST /account/erase",
        "GET /tournaments/{tournament}/puzzles/{puzzle}/answer",
        "POST /tournaments/{tournament}/puzzles/{puzzle}/answer",
    )),
    (PROGRAMS, ("POST /account/token/end",)),
    (DIRECTORS | DIRECTING, (
        "GET /people", "POST /people/invitations", "POST /people/import", "POST /people/invitations/{number}/end",
        "POST /people/{person}/close", "POST /people/{person}/open", "GET /tournaments/{tournament}/direct",
        "POST /tournaments/{tournament}/pause", "POST /tournaments/{tournament}/resume",
        "POST /tournaments/{tournament}/drain", "POST /tournaments/{tournament}/withdraw",
        "POST /tournaments/{tournament}/disqualify", "POST /tournaments/{tournament}/replace",
        "POST /tournaments/{tournament}/void", "POST /tournaments/{tournament}/undo", "POST /contests",
        "GET /contests/new", "POST /contests/new", "POST /contests/{name}/announce",
        "POST /contests/{name}/questions/{number}/answer", "POST /contests/{name}/change",
        "POST /contests/{name}/cancel", "POST /contests/{name}/reveal",
        "GET /contests/{name}/hidden/tournaments/{tournament}",
        "GET /contests/{name}/hidden/tournaments/{tournament}/bots/{bot}",
        "GET /contests/{name}/hidden/tournaments/{tournament}/matches",
        "GET /contests/{name}/hidden/tournaments/{tournament}/matches/{match}", "GET /contests/{name}/grades.csv",
        "GET /contests/{name}/hidden/tournaments/{tournament}/matches/{match}/logs",
    )),
    (DIRECTORS, ("POST /people/{person}/link",)),
    ({"operator"}, ("POST /people/{person}/role", "GET /health/parts")),
    (BROWSERS | SUBMITTING, (
        "POST /submissions", "GET /submissions/{number}/upload", "POST /submissions/{number}/again",
        "POST /submissions/{number}/withdraw", "POST /contests/{name}/ask", "GET /challenges", "POST /challenges",
    )),
    (PLAYING, (
        "GET /play", "POST /play", "GET /play/{match}", "GET /play/{match}/events", "POST /play/{match}/act",
        "POST /play/{match}/undo", "POST /play/{match}/hint", "POST /play/{match}/resign", "POST /play/{match}/retry",
        "POST /play/{match}/again", "POST /play/{match}/vote",
        "POST /tournaments/{tournament}/matches/{match}/analysis",
    )),
)  # fmt: skip
MAY = {operation: who for who, operations in OPERATIONS_OF for operation in operations}

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


@pytest.mark.slow(sample=("json",))
@pytest.mark.parametrize("accept", [HTML, JSON], ids=["page", "json"])
async def test_who_may_not_is_refused_alike_whether_it_exists_or_not_and_changes_nothing(world, accept):
    everybody = actors(world)
    world.store.directors.report_state("kept", "ladder", DirectorState.IDLE)
    before = world.contents()
    for operation in OPERATIONS:
        for name in sorted(everybody.keys() - MAY[named(operation)]):
            there, not_there = [await ask(everybody[name], operation, one, accept) for one in (THERE, NOT_THERE)]
            status = 401 if name in VISITORS | BAD_PROGRAMS else 403
            if name in VISITORS and operation.method == "GET" and accept == HTML:
                status = 303
            assert there.status_code == status, (named(operation), name)
            if there.status_code == 303:  # to where the same address is asked for again
                for response in (there, not_there):
                    assert response.headers.pop("location").startswith("/sign-in?next=%2F")
            assert (there.status_code, there.content, there.headers) == (
                not_there.status_code, not_there.content, not_there.headers,
            ), (named(operation), name)  # fmt: skip
            assert there.headers["cache-control"] == "no-store"
            assert "set-cookie" not in there.headers
        assert world.contents() == before, named(operation)


ENDING = ("POST /sign-out", "POST /account/sessions/end", "POST /account/token/end")
"""After these somebody has to sign in again."""
TOGETHER = {
    "reading": [operation for operation in OPERATIONS if operation.method == "GET"],
    "writing": [one for one in OPERATIONS if one.method != "GET" and named(one) not in ENDING],
    **{named(operation): [operation] for operation in OPERATIONS if named(operation) in ENDING},
}


@pytest.mark.slow(only=("reading", "writing"), sample=("reading", "writing"))
@pytest.mark.parametrize("operations", TOGETHER.values(), ids=TOGETHER)
async def test_who_may_passes(world, operations):
    everybody = actors(world)
    for operation, name in ((one, name) for one in operations for name in sorted(MAY[named(one)])):
        response = await ask(everybody[name], operation, NOT_THERE, HTML)
        assert response.status_code in (200, 303, 400, 404, 415), (named(operation), name)
        assert "next=" not in response.headers.get("location", "")
        assert response.headers["cache-control"] == "no-store"


OF_OTHERS = {"link": {}, "close": {"reason": "why"}, "open": {"reason": "why"}}


async def test_a_director_does_nothing_to_directors_and_operators_and_invites_authors_alone(world):
    everybody = [world.browser("dora"), world.program("dora", Scope.DIRECT), world.program("olga", *Scope)]
    before = world.contents()
    sent = [(f"/people/{person}/{what}", sent) for what, sent in OF_OTHERS.items() for person in ("dora", "olga")]
    sent += [("/people/invitations", {"role": role}) for role in ("director", "operator", "visitor")]
    for path, fields in sent:
        for client in everybody:
            assert (await client.post(path, json=fields)).status_code == 403, path
    assert world.contents() == before
    world.store.invitations.invite(Role.OPERATOR, "olga", 7)
    world.store.invitations.invite(Role.AUTHOR, "olga", 7)
    author, operator = world.store.invitations.all()
    dora = everybody[0]
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
