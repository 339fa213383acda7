import re
from datetime import datetime
from xml.etree import ElementTree

import pytest

from arena.base.records import Fault
from arena.site.pages.results import bot_feed, tournament_feed
from arena.site.pages.results_model import MAX_ENTRIES, ListedFault, ListedResult
from arena.site.render import ATOM, feed_xml, result_title
from tests.server.conftest import client_of
from tests.store.results.samples import definition, line, record

SITE = "http://localhost:8000"


def result(names, scores, ranks, faults=()):
    return ListedResult(
        tournament="t", match=1, game="differences", bots=tuple(f"{name}@1" for name in names), names=names,
        scores=scores, ranks=ranks, plies=12, termination="forfeit" if faults else "normal", faults=faults,
    )  # fmt: skip


FORFEIT = (ListedFault(seat=1, kind="timeout", ply=12),)


@pytest.mark.parametrize(
    ("of", "title"),
    [
        (result(("stepper", "greedy"), (9, 7), (1, 2)), "stepper beats greedy 9–7 (differences)"),
        (result(("greedy", "stepper"), (7, 9), (2, 1)), "stepper beats greedy 9–7 (differences)"),
        (result(("a", "b"), (8, 8), (1, 1)), "a and b draw 8–8 (differences)"),
        (result(("a", "b"), (1, 5), (1, 2), FORFEIT), "a beats b by forfeit: timeout at ply 12 (differences)"),
        (result(("a", "b", "c"), (3, 9, 5), (3, 1, 2)), "b beats c and a 9–5–3 (differences)"),
        (
            result(("a", "b", "c"), (9, 2, 9), (1, 3, 1)),
            "a and c share the first rank against b, 9–9–2 (differences)",
        ),
    ],
)
def test_a_title_says_who_beat_whom(of, title):
    assert result_title(of) == title


@pytest.fixture
def home(home):
    tournament = home.store.create_tournament(definition(name="t"), [line(match) for match in range(1, 71)])
    home.store.record(tournament, [record(match, tournament="t") for match in range(1, 61)])
    return home


def assert_is_atom(xml):
    root = ElementTree.fromstring(xml)
    name = f"{{{ATOM}}}"
    assert root.tag == f"{name}feed"
    assert len(root.findall(f"{name}author")) == 1, "4.1.1: entries have no authors of their own"
    entries = root.findall(f"{name}entry")
    for element in (root, *entries):
        for required in ("id", "title", "updated"):
            assert len(element.findall(name + required)) == 1
        assert re.fullmatch(r"tag:[a-z.-]+,\d{4}-\d\d-\d\d:[A-Za-z0-9/:+.-]+", element.find(f"{name}id").text)
        assert datetime.fromisoformat(element.find(f"{name}updated").text).tzinfo is not None
        links = element.findall(f"{name}link")
        assert [link.get("rel") for link in links if link.get("rel") == "alternate"] == ["alternate"]
        assert all(re.fullmatch(r"http://[!-~]+", link.get("href")) for link in links)
    assert {link.get("rel") for link in root.findall(f"{name}link")} == {"self", "alternate"}
    ids = [entry.find(f"{name}id").text for entry in entries]
    assert len(set(ids)) == len(ids)
    return root


def test_a_tournaments_feed_has_its_latest_results(home):
    xml = feed_xml(tournament_feed(home, "t"), SITE, "/tournaments/t/feed.atom", "/tournaments/t")
    assert_is_atom(xml)
    read = pytest.importorskip("feedparser", reason="needs feedparser").parse(xml)
    assert not read.bozo
    assert read.feed.title == "Results of t"
    assert len(read.entries) == MAX_ENTRIES
    assert {entry.link for entry in read.entries} == {f"{SITE}/tournaments/t/matches/{n}" for n in range(11, 61)}
    assert read.feed.updated == read.entries[0].updated


def test_a_bots_feed_has_the_results_of_all_its_versions_and_identifiers_stay_when_a_tournament_is_renamed(home):
    fault = Fault(seat=1, kind="exit", ply=1, detail="")
    home.store.record(home.store.tournament("t"), [record(61, tournament="t", faults=[fault])])
    whole, version = bot_feed(home, "a"), bot_feed(home, "a@1")
    assert len([one for one in whole.entries if "by forfeit: exit at ply 1" in result_title(one.result)]) == 1
    assert len(whole.entries) == len(version.entries) == MAX_ENTRIES
    assert_is_atom(feed_xml(whole, SITE, "/bots/a/feed.atom", "/bots/a"))
    with pytest.raises(Exception, match="unknown bot 'nobody'"):
        bot_feed(home, "nobody")
    before = tournament_feed(home, "t")
    home.store.rename(home.store.tournament("t"), "u")
    after = tournament_feed(home, "u")
    assert [entry.id for entry in after.entries] == [entry.id for entry in before.entries]
    assert after.id == before.id
    assert after.title != before.title


HOSTILE = ["]]><x>&amp;", "\x00\x01\x0b", "\u202eevil", "\ufffe\uffff", "\ud800", "<script>alert(1)</script>", "&#0;"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text(home, name):
    feed = tournament_feed(home, "t")
    entry = feed.entries[0]
    shown_result = entry.result.model_copy(update={"names": (name, name), "game": name})
    hostile = feed.model_copy(update={"title": name, "entries": (entry.model_copy(update={"result": shown_result}),)})
    root = assert_is_atom(feed_xml(hostile, SITE, "/tournaments/t/feed.atom", "/tournaments/t"))
    shown = root.find(f"{{{ATOM}}}title").text
    assert shown.isprintable()
    plain = ElementTree.fromstring(feed_xml(feed.model_copy(update={"entries": feed.entries[:1]}), SITE, "/x", "/y"))
    assert [element.tag for element in root.iter()] == [element.tag for element in plain.iter()]


async def test_feeds_are_served(home):
    home.close()
    async with client_of(home.directory) as client:
        answer = await client.get("/tournaments/t/feed.atom")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/atom+xml; charset=utf-8")
        root = assert_is_atom(answer.content)
        assert {link.get("rel"): link.get("href") for link in root.findall(f"{{{ATOM}}}link")} == {
            "self": "http://localhost:8000/tournaments/t/feed.atom", "alternate": "http://localhost:8000/tournaments/t",
        }  # fmt: skip
        same = await client.get("/tournaments/t/feed.atom", headers={"if-none-match": answer.headers["etag"]})
        assert same.status_code == 304
        assert (await client.get("/tournaments/none/feed.atom")).status_code == 404
        assert (await client.get("/bots/none/feed.atom")).status_code == 404
        assert_is_atom((await client.get("/bots/a/feed.atom")).content)
        assert (await client.head("/tournaments/t/feed.atom")).content == b""
