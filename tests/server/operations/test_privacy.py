from arena.store.home import ArenaHome
from arena.store.people.answers import Enjoyed
from arena.store.people.people_store import PeopleStore
from arena.store.people.schema import metadata
from arena.store.people.submissions import LISTED
from arena.store.people.unrated_match import Choices, MatchState
from arena.store.people.values import Role
from arena.store.results.values import OwnedBot, StoredBot
from tests.server.operations.conftest import JSON, PASSWORD

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
