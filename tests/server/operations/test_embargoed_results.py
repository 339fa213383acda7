"""Two homes that differ in embargoed results alone: who may not see these gets the same bytes at every address.

A home is copied when everything has been submitted, and the contest is played on in both, by bots that act at random:
in one to its end, with a correction, in the other no further than a few matches. A new address is asked for by itself.
"""

import re
import shutil
import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from arena.base.programs.service_program import ProblemNote
from arena.community.contests.results_program import ResultMaker
from arena.community.play.host_program import playable_game
from arena.server.gate.homes import Homes
from arena.server.operations.opened_people import OPERATIONS
from arena.site.matches.playing_model import PlayableBot, PlayMenu
from arena.site.publish.publishing import publish
from arena.store.home import ArenaHome
from arena.store.people import submissions
from arena.store.people.contest import ContestPhase, ContestStage
from arena.store.people.values import Permission, Role, Scope, SubmissionState
from arena.store.results.schema import metadata
from arena.tournament.run import Order, RunControl
from tests.community.contests import world as playing
from tests.community.contests.samples import DEADLINE, FREEZE, OPENS, SEALED, contest_of
from tests.server.operations.conftest import COOKIE, HOST, JSON, Listener, stream_scope
from tests.server.operations.test_contest_crawl import VALUES, Crawl, disqualify, where
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
async def test_who_may_not_see_embargoed_results_can_not_tell_two_homes_apart(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(playing, "BOT", BOT)
    monkeypatch.setitem(VALUES, "match", VALUES["match"][-2:])
    changed, embargoed_at = CONTESTS[kind]

    def prepare(crawl):
        crawl.played.announce(**changed, qualification=LADDER)
        crawl.played.now.seconds = OPENS - 60

    one, other = await forked(tmp_path, prepare)
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


SECRETIVE_BOT = """# source-canary
import sys
from arena.botkit import Choice, run

print("stderr-canary-{index}", file=sys.stderr)

def choose(game, state, clock):
    if {index} == 2 and game.size == 3:  # as in the contest, and not where submissions are tried
        raise ValueError("crash-canary-2")
    actions = game.legal_actions(state)
    return Choice(actions[{index} % len(actions)], note="said-canary-{index}")

run(choose)
"""
PROGRAMS = {
    "ada's program": ("ada", Scope.SUBMIT),
    "ada's reader": ("ada", Scope.READ),
    "ada's player": ("ada", Scope.PLAY),
    "eve's program": ("eve", Scope.SUBMIT),
    "dora's program": ("dora", Scope.DIRECT),
    "dora's reader": ("dora", Scope.READ),
}
OF_ADA = ("ada", *(name for name in PROGRAMS if name.startswith("ada")))
DIRECTORS = ("dora", "olga", "dora's program")
MATCH_LOGS, HIDDEN_LOGS = (
    f"{hidden}/tournaments/{{tournament}}/matches/{{match}}/logs" for hidden in ("", "/contests/{name}/hidden")
)
LOGS = (MATCH_LOGS, "/bots/{bot}/logs")
OWN = ("/account", "/account/data")
SUBMISSION = "/submissions/{number}"


def at(actors, *addresses):
    return set(product(actors, addresses))


MESSAGES = at((*DIRECTORS, *OF_ADA), "/contests/{name}") | at(["ada"], "/account/data")
"""A question and its answer, which is not for all."""
OF_BOTS = at(DIRECTORS, *LOGS, HIDDEN_LOGS)
MAY = {
    "source-canary": at(["ada", "ada's program"], f"{SUBMISSION}/upload"),
    "note-canary": at(["ada", "ada's program"], SUBMISSION) | at(["ada"], "/account/data"),
    "report-canary": at(["ada", "ada's program"], SUBMISSION) | at(["ada"], "/account/data"),
    "refusal-canary": at(["ada", "ada's program"], SUBMISSION, "/account") | at(["ada"], "/account/data"),
    "stderr-canary-0": OF_BOTS | at(["ada", "ada's program"], *LOGS),
    "said-canary-0": OF_BOTS | at(["ada", "ada's program"], *LOGS),
    "stderr-canary-2": OF_BOTS | at(["eve", "eve's program"], *LOGS),
    "crash-canary-2": OF_BOTS | at(["eve", "eve's program"], *LOGS),
    "token-canary": at(["ada"], *OWN) | at(OF_ADA, "/account"),
    "browser-canary": at(["ada"], *OWN) | at(OF_ADA, "/account"),
    **dict.fromkeys(("question-canary", "answer-canary"), MESSAGES),
    "trouble-canary": at(["olga"], "/health/parts"),
}
NEVER_SEEN = ("said-canary-2",)
"""Bots say it after they have crashed."""


def listening(crawl, *cookie):
    query = b"topics=arena,games/differences,tournaments/spring,tournaments/spring-qualification,bots/adabot"
    headers = [(b"host", HOST.encode()), *((b"cookie", one.encode()) for one in cookie)]
    return Listener(crawl.site, stream_scope("/events", headers, query))


def text_of(listener):
    while not listener.heard.empty():
        listener.text += listener.heard.get_nowait().decode()
    return listener.text


def secrets_of(crawl):
    """Return what nobody is ever shown: what lets people in, what hashes it, paths, and seeds."""
    with closing(sqlite3.connect(crawl.played.directory / "people.sqlite3")) as database:
        hashes = [row[0] for row in database.execute("SELECT password_hash FROM people WHERE password_hash != ''")]
        seeds = [str(row[0]) for row in database.execute("SELECT rng_seed FROM contests")]
    found = [crawl.invitation, str(crawl.played.directory), *seeds, *hashes]
    for client in crawl.actors.values():
        found += [client.cookies.get(COOKIE) or "", client.headers.get("authorization", "").removeprefix("Bearer ")]
    return [text for text in found if text]


def check(crawl, seen, heard):
    """Nobody sees what is not theirs; return where each text is."""
    looks, routes = product(MAY, seen.items()), {address: path for path, address, _ in crawl.routes()}
    places = {(text, (actor, routes[one])) for text, (actor, found) in looks for one in where(found, text)}
    assert {(text, place) for text, place in places if place not in MAY[text]} == set()
    for text in (*secrets_of(crawl), *NEVER_SEEN):
        for actor, found in seen.items():
            assert where(found, text) == [], actor
    for text in (*MAY, *secrets_of(crawl)):
        assert not any(text in text_of(listener) for listener in heard)
    return places


@pytest.mark.slow
async def test_each_secret_is_where_it_may_be_and_nowhere_else(tmp_path, monkeypatch):
    monkeypatch.setattr(playing, "BOT", SECRETIVE_BOT)
    monkeypatch.setitem(VALUES, "bot", ("adabot@1", "evebot@1"))
    crawl = Crawl(tmp_path)
    world, found = crawl.played, set()
    world.executor = "in-process"  # what bots write to stderr is among the secrets
    world.announce(qualification='{ format = "ladder", places = 4, ladder = { margin_95 = 9.0 } }')
    crawl.enter()
    crawl.invitation = world.people.invitations.invite(Role.AUTHOR, "dora", 7)
    ada = world.people.accounts.get("ada")
    world.people.sessions.begin(ada, "browser-canary", "192.0.2.77")
    world.people.tokens.make(ada, "token-canary", (Scope.READ,), 30)
    world.people.contest_messages.ask(ada, "spring", "question-canary")
    world.people.contest_messages.answer("dora", "spring", 1, "answer-canary", is_for_all=False)
    ProblemNote(world.directory, "checker").report("trouble-canary")
    for name, (person, scope) in PROGRAMS.items():
        crawl.actors[name] = crawl.people.program(person, scope, days=30)
    await crawl.site.start()
    cookies = [f"{COOKIE}={crawl.actors[name].cookies.get(COOKIE)}" for name in ("ada", "eve")]
    heard = [listening(crawl), *(listening(crawl, cookie) for cookie in cookies)]
    try:
        world.now.seconds = FREEZE - 10
        world.play(lambda _: len(world.results()) >= 6)
        world.now.seconds = DEADLINE + 1
        world.play()
        found.update(check(crawl, await crawl.look_as_all(), heard))
        disqualify(crawl)
        world.people.contests.ask_to_reveal("dora", "spring", "now")
        world.play()
        ResultMaker().make_results(world.home, world.people)
        found.update(check(crawl, await crawl.look_as_all(), heard))
        missing = {(text, place) for text, places in MAY.items() for place in places} - found
        assert {(text, place) for text, place in missing if place[1] != "/bots/{bot}/logs"} == set()
        assert all(listener.status == 200 and "event:" in text_of(listener) for listener in heard)
    finally:
        for listener in heard:
            await listener.leave()
        await crawl.close()
    with ArenaHome(world.directory) as home:
        publish(home, ["spring", "spring-qualification"], tmp_path / "folder")
    published = b"".join(path.read_bytes() for path in (tmp_path / "folder").rglob("*") if path.is_file())
    assert b"evebot" in published
    assert [text for text in MAY if text.encode() in published] == []
