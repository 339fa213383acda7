import itertools

import pytest

from arena.base.definition import GameChoice
from arena.games import make_game
from arena.lab.matches import annotator_program
from arena.lab.matches.annotation import annotation_of
from arena.lab.matches.annotator_program import Annotations
from arena.site.matches.match import analysis_of
from arena.store.home import ArenaHome
from arena.store.people.values import Scope
from arena.store.results.rows import row_of
from tests.analysis.text.tournaments import play
from tests.lab.played import at_random, record_of
from tests.server.operations.conftest import JSON
from tests.site.parsed import Parsed
from tests.store.results.samples import definition, line

PAGE = "/tournaments/duel/matches/{}"
OPTIONS = {"size": 4}
PLIES = itertools.count()


@pytest.fixture
def home(directory):
    with ArenaHome(directory) as home:
        yield home


@pytest.fixture
def duel(home):
    games = (GameChoice(game="plusminus", options=make_game("plusminus", **OPTIONS).options, players=2),)
    stored = home.store.create_tournament(definition(name="duel", games=games), map(line, range(1, 14)))
    rows = [row_of(record_of("plusminus", OPTIONS, at_random(one), match=one)) for one in range(1, 13)]
    home.store.record(stored, rows)
    return stored


async def ask(client, match, page=PAGE):
    return await client.post(f"{page.format(match)}/analysis", headers={"accept": JSON})


async def analysis(world, match, page=PAGE):
    """Return what the page of a match says now, at an address that nothing is kept of."""
    place = f"{page.format(match)}?ply={next(PLIES)}"
    return (await world.client().get(place, headers={"accept": JSON})).json()["analysis"]


@pytest.mark.slow(sample=True)
async def test_a_visitor_asks_and_the_page_says_how_far_it_is(world, home, duel, monkeypatch):
    visitor, address = world.client(), PAGE.format(1)
    page = Parsed((await visitor.get(address)).text)
    assert page.all("form", action=f"{address}/analysis")
    sent = await visitor.post(f"{address}/analysis")
    assert (sent.status_code, sent.headers["location"].partition("?")[0]) == (303, address)
    page = (await visitor.get(sent.headers["location"])).text
    assert "Analysis asked for: place 1 of 1." in page
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in page
    assert "Analyse this match" not in page
    again = await ask(world.program("ann", Scope.PLAY), 1)
    assert again.json()["done"] == "Analysis asked for: place 1 of 1."
    await ask(visitor, 2)
    assert (await analysis(world, 2))["place"] == 2
    home.store.analysis_requests.claim()
    assert (await analysis(world, 1))["state"] == "running"
    home.store.analysis_requests.forget_claimed()
    await ask(visitor, 1)
    monkeypatch.setattr(annotator_program, "ASKED_SECONDS", -1.0)
    monkeypatch.setattr(annotator_program, "PREPARE_SECONDS", -1.0)
    annotations = Annotations(home)
    assert annotations.step()
    found = await analysis(world, 2)
    assert (found["state"], found["may_be_asked_for"]) == ("unknown", False)
    assert found["sentence"].startswith("Searched for 1 s; positions ")
    annotation = annotation_of(home.store, duel, home.store.record_of(duel, 2))
    monkeypatch.setattr("arena.store.results.annotations.__version__", "99")
    found = analysis_of(home.store, duel, home.store.record_of(duel, 2), annotation)
    assert (found.sentence[:25], found.may_be_asked_for) == ("Not known yet: positions ", True)
    monkeypatch.undo()
    assert annotations.step()
    found = await analysis(world, 1)
    assert (found["state"], found["sentence"], found["may_be_asked_for"]) == ("done", "", False)


async def test_somebody_may_ask_for_ten_a_day_and_only_so_many_wait(world, duel, monkeypatch):
    visitor = world.client()
    for match in (*range(1, 11), 1, 1):
        assert (await ask(visitor, match)).status_code == 200
    refused = await ask(visitor, 11)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "8640")
    ann = world.browser("ann")
    assert (await ask(ann, 11)).status_code == 200
    monkeypatch.setattr("arena.store.results.annotations.MAX_WAITING", 11)
    assert "11 matches wait for their analysis" in (await ask(ann, 12)).json()["error"]


@pytest.mark.slow
async def test_what_the_page_does_not_show_is_not_there_and_what_it_can_t_is_refused(world, home, duel):
    play(home, "three", ["a", "b", "c"], [("coprimality", {"size": 3, "players": 3})])
    play(home, "elsewhere", ["a", "b"], [("tests.mistaken_games:Counting", {})])
    visitor = world.client()
    for page, match in (("/tournaments/hidden/matches/{}", 1), (PAGE, 14)):
        answer, shown = await ask(visitor, match, page), await visitor.get(page.format(match), headers={"accept": JSON})
        assert (answer.status_code, shown.status_code) == (404, 404)
    for name in ("three", "elsewhere"):
        page = f"/tournaments/{name}/matches/{{}}"
        found, refused = await analysis(world, 1, page), await ask(visitor, 1, page)
        assert (found["may_be_asked_for"], found["sentence"]) == (False, refused.json()["error"])
        assert found["sentence"].endswith("Only matches for two of the arena’s own games are analysed here.")
    refused = await ask(visitor, 13)
    assert refused.json()["error"] == "Match 13 of duel has no record, so there is nothing to analyse."
    assert home.store.analysis_requests.waiting() == []
