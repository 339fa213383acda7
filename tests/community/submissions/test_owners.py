import csv
import io
import json
from dataclasses import replace

import pytest

from arena.analysis.measures.leaderboards import leaderboard
from arena.base.errors import UnknownNameError
from arena.community.submissions.upload_directory import tell_owners
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.results import tournament_feed
from arena.site.render import feed_xml
from arena.store.home import ArenaHome, open_people
from arena.store.people.values import Role
from arena.store.results.values import Authorship, OwnedBot, Owners, StoredBot
from tests.site.parsed import checked, model_of
from tests.store.results.samples import definition, line, record

PAGES = {
    "tournament": {"tournament": "t"},
    "matches": {"tournament": "t"},
    "match": {"tournament": "t", "match": 1},
    "why": {"tournament": "t", "bot": "a@1"},
    "bot": {"bot": "a"},
    "versus": {"bot": "a@1", "rival": "b@1"},
    "bots": {},
    "leaderboard": {"game": "differences"},
    "leaderboards": {},
    "overview": {},
}


@pytest.fixture
def arena(tmp_path):
    entered = definition(name="t")
    bots = tuple(replace(bot, author="Grace Hopper", digest=bot.name * 16) for bot in entered.entrants)
    with ArenaHome(tmp_path) as home, open_people(tmp_path) as people:
        ann = people.accounts.add("quentin", Role.AUTHOR, "test")
        people.submissions.add(ann, f"{'0' * 16}-{'1' * 16}", "d", 1, "a.py", "")
        people.submissions.claim().finish("accepted", "", "", "a@1")
        tournament = home.store.create_tournament(replace(entered, entrants=bots), [line(1), line(2)])
        home.store.record(tournament, [record(1, tournament="t"), record(2, tournament="t")])
        home.store.add_bot(StoredBot("a", "1", "a" * 16, ".", "2026-11-26T12:00:00+00:00"))
        yield home, people


def shown(home):
    found = {}
    for name, values in PAGES.items():
        page = PAGE_BY_NAME[name]
        found[name] = page.build(home, page.parameters.model_validate(values)).model_dump(mode="json")
    return found


@pytest.mark.slow
def test_the_owner_is_the_author_on_every_page_until_they_leave(arena):
    home, people = arena
    before = shown(home)
    assert all("quentin" not in json.dumps(one).split('"') for one in before.values())
    tell_owners(people, home.store)
    pages = shown(home)
    for name, one in pages.items():
        if name != "bots":
            assert one["authors"] == {"a@1": "quentin"}, name
    lines = {one["label"]: (one["author"], one["is_author_claimed"]) for one in pages["tournament"]["standings"]}
    assert lines == {"a@1": ("quentin", False), "b@1": ("Grace Hopper", True)}
    assert {one["name"]: one["author"] for one in pages["bots"]["bots"]} == {"a": "quentin", "b": "Grace Hopper"}
    version = pages["bot"]["versions"][0]
    authorship = [version[key] for key in ("author", "claimed_author", "is_author_claimed")]
    assert authorship == ["quentin", "Grace Hopper", False]
    board = leaderboard(home.store, home.store.tournaments(), "differences", home.cache_directory)
    assert {one.label: one.author for one in board.lines} == {"a@1": "quentin", "b@1": "Grace Hopper"}
    page = PAGE_BY_NAME["tournament"]
    rows = csv.DictReader(io.StringIO(page.build(home, page.parameters(tournament="t")).csv()))
    assert {row["label"] if "label" in row else row["bot"]: row["author"] for row in rows}["a"] == "quentin"
    feed = feed_xml(tournament_feed(home, "t"), "http://localhost", "/feed", "/page").decode()
    assert "<name>quentin</name>" in feed

    people.accounts.erase(people.accounts.get("quentin"))
    tell_owners(people, home.store)
    for name, one in shown(home).items():
        assert "quentin" not in json.dumps(one).split('"'), name
    left = {one["label"]: one["author"] for one in shown(home)["tournament"]["standings"]}
    assert left == {"a@1": "", "b@1": "Grace Hopper"}  # nor the words of the bot, which may be the same name
    feed = feed_xml(tournament_feed(home, "t"), "http://localhost", "/feed", "/page").decode()
    assert "<name>quentin</name>" not in feed
    home.close()  # which writes what is in the log of the database
    assert not any(b"quentin" in file.read_bytes() for file in home.directory.glob("arena.sqlite3*"))


def test_a_person_has_a_page_with_what_their_bots_did_until_they_leave(arena):
    home, people = arena
    with pytest.raises(UnknownNameError, match="unknown person 'quentin'"):
        model_of(home, "person", person="quentin")
    tell_owners(people, home.store)
    model = model_of(home, "person", person="quentin")
    assert [(bot.name, bot.versions, bot.tournaments) for bot in model.bots] == [("a", ("a@1",), 1)]
    assert [(one.tournament, one.bot, one.bots) for one in model.tournaments] == [("t", "a@1", 2)]
    assert [(one.tournament, one.match) for one in model.results] == [("t", 2), ("t", 1)]
    assert [(one.game, one.line.label, one.bots) for one in model.ratings] == [("differences", "a@1", 2)]
    board = model_of(home, "leaderboard", game="differences").standings
    assert model.ratings[0].line.mu == next(line.mu for line in board if line.label == "a@1")
    assert "a is number" in model.verdict.text.replace("@1", "")
    with pytest.raises(UnknownNameError):  # only its bot.toml names her
        model_of(home, "person", person="Grace Hopper")
    checked(home, "person", person="quentin")
    for name in ("bot", "bots"):
        assert "/people/quentin" in [link["href"] for link in checked(home, name, **PAGES[name]).all("a")], name
    ann = people.accounts.get("quentin")
    people.submissions.add(ann, f"{'2' * 16}-{'3' * 16}", "e", 1, "b.py", "")
    people.submissions.claim().finish("accepted", "", "", "b@1")
    home.store.add_bot(StoredBot("b", "1", "b" * 16, ".", "2026-11-26T12:00:00+00:00"))
    tell_owners(people, home.store)
    model = model_of(home, "person", person="quentin")
    assert ({one.bot for one in model.tournaments}, model.entered) == ({"a@1", "b@1"}, 1)
    people.accounts.erase(ann)
    tell_owners(people, home.store)
    with pytest.raises(UnknownNameError):
        model_of(home, "person", person="quentin")


def test_a_bot_belongs_to_who_has_submitted_its_files():
    owners = Owners({"a@1": OwnedBot("a@1", "1" * 16, "quentin"), "b@1": OwnedBot("b@1", "2" * 16, "")})
    bot = replace(definition(name="t").entrants[0], author="Grace Hopper")
    for name, digest, submitted, authorship in (
        ("a", "1" * 16, False, Authorship("quentin", "Grace Hopper", True)),
        ("a", "3" * 16, False, Authorship("Grace Hopper", "Grace Hopper")),  # other files under the name
        ("x", "1" * 16, False, Authorship("Grace Hopper", "Grace Hopper")),  # of the machine, whoever has copied it
        ("x", "1" * 16, True, Authorship("quentin", "Grace Hopper", True)),  # renamed in a tournament file
        ("b", "2" * 16, False, Authorship("", "", True)),  # its owner has left
    ):
        assert owners.authorship(replace(bot, name=name, digest=digest, submitted=submitted)) == authorship
