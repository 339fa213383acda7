"""Two homes that differ in embargoed results alone: who may not see these gets the same bytes at every address.

A home is copied when everything has been submitted, and the contest is played on in both, by bots that act at random:
in one to its end, with a correction, in the other no further than a few matches. A new address is asked for by itself.
"""

import re
import shutil
from pathlib import Path

import pytest

from arena.community.play.host_program import playable_game
from arena.server.gate.homes import Homes
from arena.server.operations.opened_people import OPERATIONS
from arena.site.matches.playing_model import PlayableBot, PlayMenu
from arena.store.people import submissions
from arena.store.people.contest import ContestPhase, ContestStage
from arena.store.people.values import Permission, Scope, SubmissionState
from arena.store.results.schema import metadata
from arena.tournament.run import Order, RunControl
from tests.community.contests import world as playing
from tests.community.contests.samples import DEADLINE, FREEZE, OPENS, SEALED, contest_of
from tests.server.operations.conftest import JSON
from tests.server.operations.test_contest_crawl import VALUES, Crawl, disqualify
from tests.server.operations.test_permissions import THERE, named

BOT = """import secrets
from arena.botkit import Choice, run

def choose(game, state, clock):  # {index}
    said = {{"canary-" + secrets.token_hex(8): secrets.randbelow(99)}}
    return Choice(secrets.choice(game.legal_actions(state)), note=said)

run(choose)
"""
WHO = ("visitor", "eve", "ada")
"""Nobody, a rival, and an author."""


OF_THE_SERVER = re.compile(
    r'"(?:running|last_change)_seconds":[0-9.]+|"processes":[0-9]+|[0-9.]+ (?:s|min) ago|running for [0-9. a-z]+'
)
LADDER = '{ format = "ladder", places = 2, ladder = { margin_95 = 9.0 } }'


class Hurried(RunControl):
    asked = 0

    def order(self):
        self.asked += 1
        return Order.PLAY if self.asked < 4 else Order.STOP


@pytest.fixture
def pair(tmp_path, monkeypatch):
    monkeypatch.setattr(playing, "BOT", BOT)
    monkeypatch.setitem(VALUES, "match", VALUES["match"][-2:])
    return tmp_path


async def forked(directory, prepare):
    (directory / "one").mkdir()
    first = Crawl(directory / "one")
    prepare(first)
    first.enter()
    await first.ask("visitor", "/signing-key", {"accept": JSON})  # which makes it
    number = VALUES["number"]
    await first.close()
    shutil.copytree(directory / "one", directory / "other")
    made = [Crawl(directory / name, is_new=False) for name in ("one", "other")]
    assert number == VALUES["number"]
    for crawl in made:
        crawl.let_in()
        crawl.played.executor = "in-process"
    return made


def bytes_of(address, answer):
    """Return all that an answer says, but for the time at which it was given and since when the server runs."""
    left_out = {"date"} | ({"etag", "content-length"} if address.startswith("/health") else set())
    headers = sorted((name, value) for name, value in answer.headers.multi_items() if name not in left_out)
    return answer.status_code, headers, OF_THE_SERVER.sub("", answer.content.decode("latin-1"))


def stored(crawl):
    """Return all that is in the home that everybody sees: the numbers of events, too."""
    tables = metadata.sorted_tables
    return crawl.played.home.store._database.read(
        lambda connection: {table.name: connection.execute(table.select()).all() for table in tables}
    )


async def compare(one, other, seconds):
    assert stored(one) == stored(other)
    labels = ("adabot@1", "evebot@1")
    bots = tuple(PlayableBot(name=label, label=label, games=("differences",)) for label in labels)
    menu = PlayMenu(games=(playable_game("differences"),), bots=bots, slots=4)
    for crawl in (one, other):
        crawl.played.now.seconds = seconds
        crawl.versions.version += "1"
        crawl.played.people.unrated_matches.set_menu(menu.model_dump_json(), 4)
    assert one.news.number() == other.news.number()
    different = []
    for actor in WHO:
        for path, address, accept in one.routes():
            if actor != WHO[0] and path in one.pages():  # which know nobody
                continue
            answers = [await crawl.ask(actor, address, {"accept": accept}) for crawl in (one, other)]
            if bytes_of(address, answers[0]) != bytes_of(address, answers[1]):
                different.append((actor, address, accept))
    assert different == []


CONTESTS = {"sealed": (SEALED, OPENS + 60), "frozen": ({}, FREEZE + 60)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", CONTESTS)
async def test_who_may_not_see_embargoed_results_can_not_tell_two_homes_apart(pair, kind):
    changed, embargoed_at = CONTESTS[kind]

    def prepare(crawl):
        crawl.played.announce(**changed, qualification=LADDER)
        crawl.played.now.seconds = OPENS - 60

    one, other = await forked(pair, prepare)
    try:
        for crawl, controls in ((one, ()), (other, (Hurried(),))):
            crawl.played.now.seconds = embargoed_at
            crawl.played.play(lambda _, crawl=crawl: bool(crawl.played.embargoed_canaries()), controls)
        await compare(one, other, embargoed_at + 100)
        for crawl in (one, other):
            crawl.played.now.seconds = DEADLINE + 1
        one.played.play()
        disqualify(one)
        other.played.play(lambda stored: stored.stage is ContestStage.FINAL)
        assert (one.played.phase, other.played.phase) == (ContestPhase.PLAYED, ContestPhase.PLAYING)
        await compare(one, other, DEADLINE + 1000)
    finally:
        for crawl in (one, other):
            await crawl.close()


# Who may not see something is answered before it is opened: the time of the answer can't tell what is there.
# ``python -m benchmarks.refusals`` measures it; here is what it follows from.

OF_CONTESTS = [one for one in OPERATIONS if "{name}" in one.path]
OTHERS = {
    "visitor": lambda world: world.client(accept=JSON),
    "author": lambda world: world.browser("ann"),
    "program of a director": lambda world: world.program("dora", Scope.READ, Scope.SUBMIT),
}


@pytest.fixture
def opened(world, monkeypatch):
    """Announce a contest whose results are sealed, and note what is looked for of embargoed homes and results."""
    world.store.contests.add("dora", contest_of(**SEALED))
    found = []

    def noted(name, function):
        def note(*args):
            found.append(name)
            return function(*args)

        monkeypatch.setattr(Homes, name, note)

    for name in ("embargoed", "embargoed_place"):
        noted(name, getattr(Homes, name))
    is_file = Path.is_file

    def note_file(path):
        if path.suffix == ".zip":
            found.append(path.name)
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", note_file)
    return found


@pytest.mark.parametrize("who", OTHERS)
@pytest.mark.parametrize("operation", OF_CONTESTS, ids=named)
async def test_who_may_not_see_embargoed_results_opens_no_home_of_them(world, opened, who, operation):
    there = THERE | {"tournament": "spring", "match": "1"}
    response = await OTHERS[who](world).request(operation.method, operation.path.format_map(there))
    refused = operation.who is Permission.DIRECT
    found = (200, 404) if operation.method == "GET" else (400, 401, 404)  # a form without a field, or signed out
    assert response.status_code in ((401, 403) if refused else found)
    assert opened == []


async def test_a_director_opens_the_home_of_embargoed_results(world, opened):
    await world.browser("dora").get("/contests/spring")
    assert "embargoed" in opened


@pytest.fixture
def read(world, monkeypatch):
    ann = world.store.accounts.get("ann")
    one = world.store.submissions.add(ann, "upload", "digest", 10, "mine.py", "a note")
    world.store.submissions.claim().finish(SubmissionState.REJECTED, "a report", "a reason")
    assert one.number == 1
    found, submission_of = [], submissions.submission_of

    def note(row):
        found.append(row.author)
        return submission_of(row)

    monkeypatch.setattr(submissions, "submission_of", note)
    return found


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/submissions", 200),
        ("GET", "/submissions/1", 200),
        ("GET", "/submissions/1/upload", 404),
        ("POST", "/submissions/1/withdraw", 404),
    ],
)
async def test_of_submissions_of_others_nothing_is_read_but_what_lists_show(world, read, method, path, status):
    for client in (world.browser("dora"), world.program("olga", Scope.SUBMIT)):
        assert (await client.request(method, path, headers={"accept": JSON})).status_code == status
    assert read == []


async def test_of_ones_own_submission_all_is_read(world, read):
    details = (await world.browser("ann").get("/submissions/1", headers={"accept": JSON})).json()["details"]
    assert (details["note"], details["report"], details["reason"]) == ("a note", "a report", "a reason")
    assert read == ["ann"]
