"""Who may do what: every operation, by everybody, with a table that a new one must enter; what is kept of a person."""

import pytest

from arena.server.operations.opened_people import OPERATIONS
from arena.store.home import ArenaHome
from arena.store.people.answers import Enjoyed
from arena.store.people.directors import DirectorState
from arena.store.people.people_store import PeopleStore
from arena.store.people.schema import metadata
from arena.store.people.submissions import LISTED
from arena.store.people.unrated_match import Choices, MatchState
from arena.store.people.values import Role, Scope
from arena.store.results.values import OwnedBot, StoredBot
from tests.server.operations.conftest import COOKIE, HOST, HTML, JSON, PASSWORD

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


SHOWN = {"sessions", "tokens", "submissions", "bot_owners", "unrated_matches", "votes", "puzzle_tries"}
SHOWN |= {"contest_messages"}
SHORT_LIVED = {"invitations", "contest_reads"}
"""Links for days: digests, which only who has them can use; and up to where news of contests were seen."""

NOTE, REPORT, REASON = "canary note", "canary report", "canary reason"


def submit_bot(world, name="ann", content=b"canary source", file_name="canary.py"):
    with world.uploads.receive() as receiving:
        receiving.write(content)
        came = receiving.keep()
    person = world.store.accounts.get(name)
    return world.store.submissions.add(person, came.name, came.digest, came.size_bytes, file_name, NOTE)


def test_every_table_about_people_is_shown_or_short_lived():
    about = {
        table.name
        for table in metadata.sorted_tables
        if any(key.column.table.name == "people" for key in table.foreign_keys)
    }
    assert about == SHOWN | SHORT_LIVED


async def test_all_of_it_is_shown(world):
    one = submit_bot(world)
    world.store.submissions.claim().finish("refused", REPORT, REASON, "canary@1")
    ann = world.store.accounts.get("ann").number
    world.store.submissions.own_bot_name(ann, "canary")
    submit_bot(world, "olga", b"not ann's", "of-olga.py")
    match = begin_match(world, ann)
    world.store.puzzle_tries.add(ann, "key", is_solved=True)
    world.store.votes.cast(match.number, Enjoyed.FIRST)
    world.store.accounts.set_role("ann", Role.AUTHOR, "dora", "a reason of ours")
    browser = world.browser("ann")
    data = (await browser.get("/account/data", headers={"accept": JSON})).json()
    assert (data["account"]["name"], {line["subject"] for line in data["log"]}) == ("ann", {"ann"})
    assert data["bot_names"] == ["canary"]
    [shown] = data["submissions"]
    assert shown["line"]["number"] == one.number
    found = {key: shown["details"][key] for key in ("note", "report", "reason", "file_name")}
    assert found == {"note": NOTE, "report": REPORT, "reason": REASON, "file_name": "canary.py"}
    assert shown["has_upload"] is True
    assert [match["game"] for match in data["matches"]] == ["differences"]
    assert [(vote["second_options"], vote["choice"]) for vote in data["votes"]] == [("{}", "first")]
    assert [(one["puzzle"], one["is_solved"]) for one in data["puzzle_tries"]] == [("key", True)]
    assert len(data["account"]["sessions"]) == 1
    page = (await browser.get("/account/data")).text
    for text in (NOTE, "canary.py", "with a report", "differences against arena:minimal", "a reason of ours"):
        assert text in page
    assert "of-olga" not in page


def begin_match(world, person):
    world.store.unrated_matches.set_menu("{}", 4)
    choices = Choices(game="differences", options="{}", seat=0, bot="arena:minimal", per_action_milliseconds=100)
    match = world.store.unrated_matches.begin(choices, person, "192.0.2.1")
    assert match.position.state is MatchState.BEGINNING
    return match


async def test_much_is_shown_page_by_page(world, monkeypatch):
    monkeypatch.setattr("arena.store.people.submissions.LISTED", 2)
    monkeypatch.setattr("arena.server.operations.account.LISTED", 2)
    assert LISTED > 2
    numbers = [submit_bot(world, content=bytes([k])).number for k in range(3)]
    browser = world.browser("ann")
    seen, query = [], ""
    while True:
        data = (await browser.get(f"/account/data{query}", headers={"accept": JSON})).json()
        seen += [one["line"]["number"] for one in data["submissions"]]
        if data["older"] is None:
            break
        query = f"?before={data['older']}"
    assert seen == numbers[::-1]


async def test_who_leaves_takes_along_all_but_the_results(world, directory, tmp_path):
    submit_bot(world)
    world.store.submissions.claim().finish("accepted", REPORT, REASON, "mine@1")
    submit_bot(world, content=b"canary waiting")
    ann = world.store.accounts.get("ann").number
    world.store.votes.cast(begin_match(world, ann).number, Enjoyed.ALIKE)
    world.store.puzzle_tries.add(ann, "key", is_solved=True)
    with ArenaHome(directory) as home:
        home.store.add_bot(StoredBot("mine", "1", "1" * 16, ".", "2026-11-26T12:00:00+00:00"))
        home.store.set_owner(OwnedBot("mine@1", "1" * 16, "ann"))
        pages = home.cache_directory / "pages"
        pages.mkdir(parents=True)
        (pages / "kept.page").write_text("ann")
    browser = world.browser("ann")
    response = await browser.post("/account/erase", data={"present": PASSWORD})
    assert response.headers["location"] == "/"
    assert (await browser.get("/account")).status_code == 303
    assert (await browser.post("/sign-in", data={"name": "ann", "password": PASSWORD})).status_code == 400
    assert "ann" not in [person.name for person in world.store.accounts.all()]
    assert list((tmp_path / "uploads").iterdir()) == []
    left = [one.number for one in world.store.submissions.latest() if one.author == f"left-{ann}"]
    kept = [world.store.submissions.find(number) for number in left]
    found = [(one.state, one.bot, one.note, one.report, one.reason, one.file_name) for one in kept]
    assert found == [("withdrawn", None, "", "", "", ""), ("accepted", "mine@1", "", "", "", "")]
    assert "canary" not in str(world.contents())
    assert world.contents()["votes"] == world.contents()["puzzle_tries"] == []
    with ArenaHome(directory) as home:  # where pages find whose the bots are
        assert list(home.store.owners().by_bot.values()) == [OwnedBot("mine@1", "1" * 16, "")]
    assert not list(pages.iterdir())
    page = (await world.browser("olga").get("/people")).text
    assert f"/people/left-{ann}/open" not in page
    assert f'left-{ann}</b><span class="soft">author since' in page and ", has left" in page


async def test_nothing_of_it_is_left_in_the_file(world, tmp_path):
    submit_bot(world)
    claim = world.store.submissions.claim()
    claim.keep(REPORT * 1000)
    claim.finish("refused", REPORT * 1000, REASON)
    world.store.close()
    assert b"canary" in (tmp_path / "people.sqlite3").read_bytes()
    with PeopleStore(tmp_path / "people.sqlite3") as store:
        store.accounts.erase(store.accounts.get("ann"))
    left = (tmp_path / "people.sqlite3").read_bytes()
    assert b"canary" not in left
    assert Role.AUTHOR.encode() in left
