import json

import pytest

from arena.base.records import Fault, SeatReport
from arena.community.play.view import Played
from arena.store.home import ArenaHome
from arena.store.people.unrated_match import MatchState, unrated_matches
from arena.store.people.values import Role, Scope
from tests.server.operations.conftest import HTML, JSON
from tests.server.operations.test_playing import begun, matches, play_on  # noqa: F401 - a fixture
from tests.store.results.samples import definition, line, record

OURS, THEIRS = "0urs3cret", "th3irs3cret"
MATCH, BOT = "/tournaments/said/matches/1", "/bots/a"
LOGS = (f"{MATCH}/logs", f"{BOT}/logs")


@pytest.fixture
def logs(world, directory):
    """Two bots crash in a match; ann has submitted a@1, and rick b@1."""
    world.add("rick", Role.AUTHOR)
    for author, label in (("ann", "a@1"), ("rick", "b@1")):
        person, upload = world.store.accounts.get(author), f"{label[0] * 16}-{label[0] * 16}"
        world.store.submissions.add(person, upload, label[0] * 64, 9, "x.py", "")
        world.store.submissions.claim().finish("accepted", "", "", label)
    with ArenaHome(directory) as home:
        made = home.store.create_tournament(definition(name="said"), [line(1), line(2)])
        said = enumerate((OURS, THEIRS))
        faults = [Fault(seat=seat, kind="exit", ply=1, detail=f"exit {text}") for seat, text in said]
        seats = [SeatReport(exit=f"signal {text}", stderr=f"see {text}") for text in (OURS, THEIRS)]
        notes = [[0, {OURS: 7}], [1, {THEIRS: 3}]]
        row = record(1, tournament="said", faults=faults, seats=seats, notes=notes, termination="forfeit")
        home.store.record(made, [row])
    (directory / "people.sqlite3").touch()
    return world


def readers(world):
    return {
        "the author": (world.browser("ann"), (OURS,)),
        "the author's program": (world.program("ann", Scope.SUBMIT), (OURS,)),
        "a rival": (world.browser("rick"), (THEIRS,)),
        "a director": (world.browser("dora"), (OURS, THEIRS)),
        "an operator": (world.browser("olga"), (OURS, THEIRS)),
        "a director's program": (world.program("dora", Scope.DIRECT), (OURS, THEIRS)),
        "a program that reads": (world.program("dora", Scope.READ), ()),
        "a visitor": (world.client(), ()),
    }


async def test_each_reads_what_is_for_them(logs):
    for name, (client, theirs) in readers(logs).items():
        for accept in (HTML, JSON):
            found = await client.get(LOGS[0], headers={"accept": accept})
            assert [text in found.text for text in (OURS, THEIRS)] == [text in theirs for text in (OURS, THEIRS)], name
            assert all(found.text.count(text) >= 4 for text in theirs), name
        assert (OURS in (await client.get(LOGS[1])).text) == (OURS in theirs), name
        assert THEIRS not in (await client.get(LOGS[1])).text, name
        numbers = (await client.get(LOGS[1], headers={"accept": JSON})).json().get("numbers", [])
        assert [(one["bot"], one["number"], one["mean"]) for one in numbers] == [("a@1", OURS, 7.0)] * (OURS in theirs)


async def test_who_may_not_read_gets_the_same_bytes_whether_there_is_something_or_not(logs):
    logs.add("nina", Role.AUTHOR)
    nothing = ("/tournaments/said/matches/2/logs", "/tournaments/x/matches/1/logs", "/bots/nobody/logs")
    for client in (logs.browser("nina"), logs.program("ann", Scope.READ)):
        answers = [await client.get(path, headers={"accept": JSON}) for path in (*LOGS, *nothing)]
        assert {(one.status_code, one.content) for one in answers} == {(404, answers[0].content)}
    assert {(await logs.client().get(path)).status_code for path in (*LOGS, *nothing)} == {303}


@pytest.mark.parametrize(
    ("bot", "person", "is_read"), [("b@1", "ann", False), ("b@1", "rick", True), ("arena:greedy", "ann", True)]
)
async def test_notes_of_a_match_in_the_browser_are_for_the_author_of_the_bot(logs, matches, bot, person, is_read):  # noqa: F811
    client = logs.browser(person)
    address = await begun(client)
    one = matches.find(address.removeprefix("/play/"))
    play_on(matches, address, MatchState.OVER, [Played(0, (1, 1)), Played(1, (2, 3), 0.25, THEIRS)])
    changed = unrated_matches.update().where(unrated_matches.c.id == one.number)
    changed = changed.values(bot=bot, reason=f"b@1 forfeits (exit): {THEIRS}")
    matches._database.write(lambda connection: connection.execute(changed))
    for path in (address, "/account/data"):
        for accept in (HTML, JSON):
            text = (await client.get(path, headers={"accept": accept})).text
            if not is_read:
                assert THEIRS not in text, path
    stored = (await client.get("/account/data", headers={"accept": JSON})).json()["matches"][0]["actions"]
    assert [THEIRS in json.dumps(action) for action in json.loads(stored)] == [False, is_read]


async def test_an_author_reads_why_the_own_bots_are_suspended(logs):
    logs.store.record_quota.add({"a@1": 2**26 + 1})
    number = next(one.number for one in logs.store.submissions.latest() if one.author == "ann")
    for path in ("/submissions", f"/submissions/{number}"):
        for client, is_told in ((logs.browser("ann"), True), (logs.browser("rick"), False), (logs.client(), False)):
            text = (await client.get(path)).text
            assert ("Your bots wrote more than 64 MiB today" in text) == is_told, path
