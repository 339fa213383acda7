"""What is hidden of a contest is nowhere on the site: every route, as everybody, in each phase.

The crawl finds a new route by itself, and fails if that has a field without a value here. What bots say in hidden
matches, what they print and the reasons of corrections are strings that occur nowhere else; so is what only authors
know, which test_embargoed_results.py looks for, and in a contest whose results are frozen.
"""

import re
import zipfile
from http import HTTPStatus
from io import BytesIO

import anyio
import pytest

from arena.community.contests.results_program import ResultMaker
from arena.community.submissions.upload_directory import UploadDirectory
from arena.server.gate.gate import Gate
from arena.server.gate.homes import Homes
from arena.server.http.addresses import Hosts
from arena.server.http.app import Site
from arena.server.http.events import Events
from arena.server.http.opened_home import OpenedHome
from arena.server.operations.contest_view import ContestNews
from arena.server.operations.opened_people import OPERATIONS
from arena.site.links import ServedLinks
from arena.site.render import asset_digests
from arena.store.people.contest import ContestPhase
from arena.store.people.values import Role, SubmissionState
from tests.analysis.text.tournaments import play
from tests.community.contests import world as playing
from tests.community.contests.samples import DEADLINE, FREEZE, OPENS, SEALED
from tests.community.contests.world import CANARY
from tests.server.conftest import FakeVersions
from tests.server.operations.conftest import HOST, HTML, JSON, World
from tests.store.people.conftest import FakeClock

BEING_BUILT = (HTTPStatus.ACCEPTED, HTTPStatus.SERVICE_UNAVAILABLE)
REASON = "correction-canary"
"""Of the disqualification of a bot whose results are hidden."""

FROZEN = (
    "Frozen since Wed 20 Jan 2027, 19:59:59 (Europe/Berlin, UTC+01:00); results return when a director reveals them."
    ' <a href="/contests/spring">The contest</a>'
)

VALUES = {
    "tournament": ("spring", "spring-qualification"),
    "bot": ("adabot@1",),
    "rival": ("evebot",),
    "game": ("differences",),
    "match": ("1", "2", "3", "4", "5", "6"),  # some of them without the bot that is disqualified
    "puzzle": ("1",),
    "name": ("spring",),
    "number": ("4",),
    "person": ("ada",),
    "page": ("protocol",),
    "chapter": ("games",),
}
ELSEWHERE = {
    "/events": "reads the public home alone, whose file has no canary, and what test_contest_news.py says of contests",
    "/static/{digest}/{name}": "files of the package",
    "/csp-reports": "is only sent to",
    "/invitations/{secret}": "is about an invitation",
    "/play/{match}": "is about an unrated match",
    "/play/{match}/events": "says only that an unrated match has changed",
}


class Crawl:
    def __init__(self, directory, is_new=True):
        self.played = playing.World(directory, FakeClock(), is_new)
        if is_new:
            play(self.played.home, "league", ["alpha", "beta"], encounters=1)
        self.versions = FakeVersions()
        self.opened = OpenedHome(self.played.directory)
        self.uploads = UploadDirectory(self.played.directory / "uploads")
        links, homes = ServedLinks(asset_digests(), "/account"), Homes(self.opened)
        self.news = ContestNews(self.played.people, homes.result_path)
        self.news.number()
        self.gate = Gate(self.played.people, self.uploads, homes, links, OPERATIONS)
        self.events = Events(self.opened, self.news.number)
        self.site = Site(
            self.opened, versions=self.versions, hosts=Hosts("0.0.0.0", [HOST]), endpoints=self.gate.endpoints,
            links=links, events=self.events, end=self.gate.close, frozen=self.news.frozen,
        )  # fmt: skip
        self.people = World(self.played.people, self.played.now, self.site)
        self.asked = {}

    def enter(self):
        self.played.three_authors()
        for name, role in (("dora", Role.DIRECTOR), ("olga", Role.OPERATOR)):
            self.played.people.accounts.add(name, role, "test")
        with self.uploads.receive() as receiving:
            receiving.write(b"# source-canary")
            came = receiving.keep()
        ada = self.played.author("ada")
        store = self.played.people.submissions
        one = store.add(ada, came.name, came.digest, came.size_bytes, "refused.py", "note-canary")
        store.claim().finish(SubmissionState.REJECTED, "report-canary", "refusal-canary", "adabot@2")
        VALUES["number"] = (str(one.number),)
        self.let_in()

    def let_in(self):
        self.actors = {name: self.people.browser(name) for name in ("dora", "olga", "ada", "eve")}
        self.actors["visitor"] = self.people.client()

    def routes(self):
        """Yield every route, its addresses, and what is accepted; ``.json`` and ``.csv`` say that themselves."""
        answering = {one.path for one in self.site._endpoints if "GET" in one.allowed}
        for path in sorted(self.pages() | answering - ELSEWHERE.keys()):
            found = [path]
            for field in re.findall(r"\{(\w+)\}", path):
                found = [one.replace(f"{{{field}}}", value) for one in found for value in VALUES[field]]
            for one in found:
                yield from ((path, one, JSON), (path, one, HTML))  # a program waits for what is being built
                if path in self.pages():
                    base = one if one != "/" else "/index"
                    yield from ((path, f"{base}.json", JSON), (path, f"{base}.csv", JSON))

    @staticmethod
    def pages():
        from arena.site.page_table import PAGES

        return {page.path for page in PAGES}

    async def ask(self, actor, address, headers):
        while (answer := await self.actors[actor].get(address, headers=headers)).status_code in BEING_BUILT or (
            answer.is_success and "retry-after" in answer.headers
        ):
            await anyio.sleep(0.05)
        assert answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR, (address, answer.text)
        return answer

    async def look(self, actor):
        """Return what somebody gets at every address: the text, as a page and for programs."""
        found = {}
        is_program = self.actors[actor].headers["accept"] == JSON
        for _, address, accept in self.routes():
            if is_program and accept == HTML:
                continue
            kept = self.asked.get((address, accept), '"none"')
            answer = await self.ask(actor, address, {"accept": accept, "if-none-match": kept})
            if answer.status_code == HTTPStatus.NOT_MODIFIED:  # also while a page is built anew
                answer = await self.ask(actor, address, {"accept": accept})
                if answer.headers["etag"] != kept:  # what the one before was given is not confirmed to somebody else
                    again = await self.ask(actor, address, {"accept": accept, "if-none-match": kept})
                    assert again.status_code != HTTPStatus.NOT_MODIFIED
            if actor == "dora":
                self.asked[address, accept] = answer.headers.get("etag", '"none"')
            found[address, accept] = text_of(answer)
            is_public = address.startswith("/people/")  # a page that knows nobody
            if address.startswith(("/contests", "/log", "/submissions", "/account", "/people")) and not is_public:
                assert answer.headers["cache-control"] == "no-store"
        return found

    async def look_as_all(self, *actors):
        self.versions.version += "1"
        return {actor: await self.look(actor) for actor in actors or self.actors}

    async def results(self):
        answers = {actor: await self.ask(actor, "/contests/spring", {"accept": JSON}) for actor in self.actors}
        return {actor: answer.json()["result"] for actor, answer in answers.items()}

    async def close(self):
        self.news.close()
        await self.people.close()
        await self.site.close()
        self.events.watcher.stop()
        self.opened.close()
        self.played.close()


def text_of(answer):
    text = f"{answer.headers} {answer.text}"
    if answer.content[:2] == b"PK":
        with zipfile.ZipFile(BytesIO(answer.content)) as archive:
            text += "".join(archive.read(name).decode("latin-1") for name in archive.namelist())
    return text


def where(found, text):
    return sorted({address for (address, _), answers in found.items() if text in answers})


@pytest.fixture
async def crawl(tmp_path):
    made = Crawl(tmp_path)
    yield made
    await made.close()


def canaries_in(found):
    return {one for answers in found.values() for one in re.findall(CANARY.encode(), answers.encode())}


def check_embargoed(crawl, seen):
    hidden = crawl.played.embargoed_canaries()
    assert hidden
    for actor in ("visitor", "ada", "eve"):
        found = seen[actor]
        assert canaries_in(found).isdisjoint(hidden), actor
        assert where(found, REASON) == [], actor
        places = where(found, "spring-qualification")
        assert [one for one in places if "spring-qualification" not in one] == [], actor
    for actor in ("dora", "olga"):
        found = seen[actor]
        of_embargoed_pages = {place: answers for place, answers in found.items() if "/hidden/" in place[0]}
        assert canaries_in(of_embargoed_pages) & hidden, actor
        others = {place: answers for place, answers in found.items() if place not in of_embargoed_pages}
        assert canaries_in(others).isdisjoint(hidden), actor
        assert "/log" in where(found, REASON), actor


def check_results(results, actors, *, is_hidden):
    """Some see who is first, and that evebot is disqualified; the others see neither."""
    assert {actor for actor, result in results.items() if result is not None} == actors
    for actor in actors:
        assert results[actor]["is_hidden"] is is_hidden
        assert results[actor]["disqualified"] == ["evebot@1"]
        assert {line["person"] for line in results[actor]["places"]} == {"ada", "bob"}


def check_asking(seen):
    """Pages on which something is hidden ask again, for no event tells of it; those that everybody sees do not."""
    for actor in ("dora", "olga"):
        places = where(seen[actor], "/asking.js")
        assert {"/contests/spring", "/contests/spring/hidden/tournaments/spring"} <= set(places), actor
        assert all(place.startswith("/contests/spring") or place.endswith("/direct") for place in places), actor
    for actor in ("visitor", "ada", "eve"):
        assert where(seen[actor], "/asking.js") == [], actor


def disqualify(crawl):
    crawl.played.people.requests.add(
        "spring", "disqualify", {"bot": "evebot@1", "rule": "annul"}, subject="evebot@1", reason=REASON, by="dora"
    )
    crawl.played.play()


@pytest.mark.slow
async def test_a_sealed_contest(crawl):
    world = crawl.played
    world.announce(**SEALED, qualification='{ format = "swiss", places = 3, swiss = { rounds = 2 } }')
    crawl.enter()
    assert world.phase is ContestPhase.ANNOUNCED
    world.now.seconds = OPENS + 60
    pages = {actor: await crawl.ask(actor, "/submissions/1", {"accept": HTML}) for actor in crawl.actors}
    rests = "Your bot is suspended while the contest spring hides its results, until a director reveals them."
    assert {actor for actor, page in pages.items() if rests in page.text} == {"ada"}
    account = await crawl.ask("eve", "/account", {"accept": HTML})
    assert rests.replace("Your bot", "Nothing to do: it") in account.text
    world.now.seconds = DEADLINE + 1
    world.play(lambda stored: bool(world.embargoed_canaries()))
    assert world.phase in (ContestPhase.PLAYING, ContestPhase.CLOSED)
    world.play()
    number = crawl.news.number()
    disqualify(crawl)
    assert world.phase is ContestPhase.PLAYED
    assert crawl.news.number() == number  # nobody can tell from a stream
    check_results(await crawl.results(), {"dora", "olga"}, is_hidden=True)
    seen = await crawl.look_as_all()
    check_embargoed(crawl, seen)
    check_asking(seen)
    hidden = world.embargoed_canaries()
    world.people.contests.ask_to_reveal("dora", "spring", "in class")
    world.play()
    ResultMaker().make_results(world.home, world.people)
    assert world.phase is ContestPhase.FINISHED
    assert crawl.news.number() != number
    seen = await crawl.look_as_all("dora", "ada", "visitor")
    assert canaries_in(seen["visitor"]) == set()  # notes are for the authors of bots and directors
    for actor, found in seen.items():
        assert actor == "visitor" or canaries_in(found) & hidden, actor
        assert "/log" in where(found, REASON), actor
        assert "/contests/spring/result.zip" in where(found, REASON), actor
        assert where(found, "/contests/spring/hidden/") == [], actor
    assert all(place.endswith("/direct") for place in where(seen["dora"], "/asking.js"))
    check_results(await crawl.results(), set(crawl.actors), is_hidden=False)
    page = await crawl.actors["visitor"].get("/contests/spring", headers={"accept": JSON})
    assert page.json()["has_result"]
    assert "<dt>results</dt><dd>revealed</dd>" in (await crawl.actors["visitor"].get("/contests/spring")).text


@pytest.mark.slow
async def test_pages_of_a_frozen_contest_say_so_to_everybody_until_its_results_are_revealed(crawl):
    world = crawl.played
    world.announce(qualification='{ format = "ladder", places = 4, ladder = { margin_95 = 9.0 } }')
    crawl.enter()
    world.now.seconds = FREEZE - 10
    world.play(lambda stored: len(world.results()) >= 2)
    world.now.seconds = DEADLINE + 1
    world.play()
    assert world.phase is ContestPhase.PLAYED
    pages = [f"/tournaments/spring-qualification{one}" for one in ("", "/matches")]

    async def told(is_frozen):
        crawl.news.number()
        crawl.versions.version += "1"
        answers = {"sentence": FROZEN.partition(" <a")[0], "address": "/contests/spring"} if is_frozen else None
        for actor in crawl.actors:
            for page in pages:
                assert (await crawl.ask(actor, f"{page}.json", {"accept": JSON})).json()["frozen"] == answers
                text = (await crawl.ask(actor, page, {"accept": HTML})).text
                assert (FROZEN in text) is is_frozen
                assert "nobody plays it now" not in text

    await told(is_frozen=True)
    world.people.contests.ask_to_reveal("dora", "spring", "now")
    world.play()
    await told(is_frozen=False)
