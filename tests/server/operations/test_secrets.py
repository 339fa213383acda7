"""Secrets: a text that occurs nowhere else is in each thing that somebody must not see, and every way out is asked.

``MAY`` says who may read which text, and at which address; all else fails, at addresses that are added later too.
``arena submit --to`` reads the address of its submission alone, and so has no way of its own.
"""

import sqlite3
from contextlib import closing
from itertools import product

import pytest

from arena.base.programs.service_program import ProblemNote
from arena.community.contests.results_program import ResultMaker
from arena.site.publish.publishing import publish
from arena.store.home import ArenaHome
from arena.store.people.values import Role, Scope
from tests.community.contests import world as playing
from tests.community.contests.samples import DEADLINE, FREEZE
from tests.server.operations.conftest import COOKIE, HOST, Listener, stream_scope
from tests.server.operations.test_contest_crawl import VALUES, Crawl, disqualify, where

BOT = """# source-canary
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
    """Listen to ``/events`` for as long as a contest lasts."""
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
    monkeypatch.setattr(playing, "BOT", BOT)
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
