import itertools
import re

import pytest

from arena.base.definition import GameChoice
from arena.games import make_game
from arena.lab.matches import annotator_program
from arena.lab.matches.annotation import annotation_of
from arena.lab.matches.annotator_program import Annotations
from arena.server.operations.directing import WITH_LATER_STAGES
from arena.site.matches.match import analysis_of
from arena.store.home import ArenaHome
from arena.store.people.directors import DesiredState, DirectorState, RequestState, RunFigures, Suspension
from arena.store.people.values import Scope
from arena.store.results.rows import row_of
from arena.store.results.values import StoredBot
from arena.tournament.formats.format import FORMATS
from tests.analysis.text.tournaments import play
from tests.lab.played import at_random, record_of
from tests.server.conftest import answered
from tests.server.operations.conftest import JSON
from tests.site.parsed import Parsed
from tests.store.results.samples import definition, line

HERE = "/tournaments/open ladder"


@pytest.fixture
def kept(world):
    figures = RunFigures(recorded=12, scheduled=20, sitting_out=(Suspension(bot="slow@1", reason="slow", seconds=90),))
    world.store.directors.report_state("open ladder", "ladder", DirectorState.PLAYING, "", figures)
    return world


async def test_a_director_pauses_in_the_browser_and_resumes_with_a_token(kept):
    dora = kept.browser("dora")
    response = await dora.post(f"{HERE}/pause", data={"reason": "An upgrade."})
    assert (response.status_code, response.headers["location"]) == (303, "/tournaments/open%20ladder/direct")
    assert kept.store.directors.desired_state("open ladder").state is DesiredState.PAUSE
    page = (await dora.get(f"{HERE}/direct")).text
    assert "being paused" in page
    assert "An upgrade." in page
    assert "Resume" in page
    await answered(kept.program("dora", Scope.DIRECT).post(f"{HERE}/resume", json={"reason": "It is done."}), 200)
    assert kept.store.directors.desired_state("open ladder").state is DesiredState.PLAY
    found = [(line.by, line.action) for line in kept.store.log.lines(hidden=())[:2]]
    assert found == [("dora", "resumed"), ("dora", "paused")]


async def test_its_page_says_what_could_not_be_done_and_asks_again_but_not_when_it_says_what_was_wrong(kept):
    dora = kept.browser("dora")
    asked = {"bot": "a@1", "rule": "annul"}
    asked = kept.store.requests.add("open ladder", "disqualify", asked, subject="a@1", reason="It cheats.", by="dora")
    kept.store.requests.finish(asked.number, "entrant 'a@1' is not in it", is_done=False)
    page = (await dora.get(f"{HERE}/direct")).text
    assert "rejected" in page and "entrant &#39;a@1&#39; is not in it" in page
    assert "/asking.js" in page
    assert "/live.js" not in page
    assert re.findall(r'<div id="(\w+)" data-live>', page) == ["kept", "wishes", "requests"]
    wrong = await answered(dora.post(f"{HERE}/pause", data={"reason": ""}), 400, 'role="alert"')
    assert "/asking.js" not in wrong.text
    response = await dora.post(f"{HERE}/disqualify", data={"bot": "", "reason": "copied"})
    assert '<li><a href="#bot-wrong">Entrant</a>: ' in response.text
    assert response.text.count('aria-invalid="true"') == 1
    assert "<details open><summary>Disqualify an entrant" in response.text
    assert response.text.count('value="copied"') == 1
    assert kept.store.directors.desired_state("open ladder") is None
    assert (await dora.get("/tournaments/other/direct")).status_code == 404, "nobody supervises it"


async def test_in_a_knockout_the_matches_of_who_is_disqualified_count_for_the_rivals(world, directory):
    assert {name for name, kind in FORMATS.items() if kind.has_later_stages} == {*WITH_LATER_STAGES}
    dora = world.browser("dora")
    for name, format_, may_annul in (("cup", "knockout", False), ("league", "round-robin", True)):
        with ArenaHome(directory) as home:
            home.store.create_tournament(definition(name=name, format=format_, settings={}), [])
        world.store.directors.report_state(name, "contest", DirectorState.PLAYING, "", RunFigures())
        address = f"/tournaments/{name}/direct"
        assert (await dora.get(address, headers={"accept": JSON})).json()["may_annul"] is may_annul
        assert ('value="annul"' in (await dora.get(address)).text) is may_annul


@pytest.mark.parametrize(
    ("what", "sent", "arguments"),
    [
        ("disqualify", {"bot": "a@1"}, {"bot": "a@1", "rule": "annul"}),
        ("disqualify", {"bot": "a@1", "rule": "keep"}, {"bot": "a@1", "rule": "keep"}),
        ("withdraw", {"bot": "a"}, {"bot": "a"}),
        ("replace", {"bot": "a@1", "new": "a@2"}, {"bot": "a@1", "new": "a@2"}),
        ("void", {"numbers": "3, 4 17"}, {"numbers": [3, 4, 17]}),
        ("undo", {"correction": "2"}, {"correction": 2}),
    ],
)
async def test_a_correction_is_written_down_for_the_program(kept, what, sent, arguments):
    await answered(kept.browser("dora").post(f"{HERE}/{what}", data=sent | {"reason": "A reason."}), 303)
    (request,) = kept.store.requests.of("open ladder")
    assert (request.kind, request.arguments, request.reason, request.by, request.state) == (
        what, arguments, "A reason.", "dora", RequestState.WAITING,
    )  # fmt: skip
    assert kept.store.log.lines(hidden=())[0].action == f"asked to {what}"
    assert f"asked to {what}" in (await kept.browser("dora").get(f"{HERE}/direct")).text


@pytest.mark.parametrize(
    ("what", "sent"),
    [
        *(("void", {"numbers": numbers}) for numbers in ("", "0", "3; drop", " ".join(map(str, range(1, 1002))))),
        ("undo", {"correction": "-1"}),
        ("disqualify", {"bot": "x" * 131}),
        ("disqualify", {"bot": "a", "rule": "burn"}),
        ("pause", {"tournament": "another"}),
    ],
)
async def test_what_is_not_accepted_changes_nothing(kept, what, sent):
    dora = kept.browser("dora")
    before = kept.contents()
    response = await dora.post(f"{HERE}/{what}", data=sent | {"reason": "A reason."})
    assert response.status_code in (303, 400)
    if what != "pause":
        assert response.status_code == 400
        assert kept.contents() == before
    assert kept.store.directors.desired_state("another") is None


async def test_everybody_sees_what_a_ladder_is_doing_and_only_directors_the_link(kept):
    visitor = (await kept.client().get("/ladders")).text
    assert "It plays" in visitor
    assert "slow@1" in visitor
    assert "/direct" not in visitor
    assert "/tournaments/open%20ladder/direct" in (await kept.browser("dora").get("/ladders")).text
    kept.now.seconds += 3600
    assert "does not run" in (await kept.client().get("/ladders")).text


async def test_a_correction_chooses_from_the_entrants_and_from_the_bots_that_may_replace_one(world, directory):
    """The names in a form that is sent are those of the tournament."""
    world.store.directors.report_state("t", "contest", DirectorState.IDLE)
    page = await world.browser("dora").get("/tournaments/t/direct")
    entrants = [bot.label for bot in definition().entrants]
    assert re.findall(r'<option value="([^"]*@[^"]*)"', page.text) == 3 * entrants  # disqualify, withdraw, replace
    assert "It is idle" in page.text
    answer = await world.browser("dora").get("/tournaments/t/direct", headers={"accept": JSON})
    assert (answer.json()["entrants"], answer.json()["is_finished"]) == (entrants, False)
    with ArenaHome(directory) as home:
        for name in ("one", "two"):
            home.store.add_bot(StoredBot(name, "1", name, "bot.py", "2026-01-01T00:00:00+00:00"))
    for program, offered in (("contest", ["two@1", "one@1"]), ("ladder", [])):
        world.store.directors.report_state("t", program, DirectorState.IDLE)
        page = (await world.browser("dora").get("/tournaments/t/direct")).text
        assert re.findall(r'<option value="([^"]*)"></option>', page) == offered


async def test_a_finished_tournament_is_said_to_be_played_until_something_is_asked(world, directory):
    with ArenaHome(directory) as home:
        home.store.set_finished(home.store.tournament("t"), True)
    world.store.directors.report_state("t", "contest", DirectorState.IDLE)
    world.now.seconds += 3600
    dora = world.browser("dora")
    page = (await dora.get("/tournaments/t/direct")).text
    assert "All its matches are played." in page
    assert "does not run" not in page
    assert "/tournaments/t/pause" not in page
    assert "/tournaments/t/disqualify" in page
    world.store.requests.add("t", "void", {"numbers": [1]}, subject="match 1", reason="A slip.", by="dora")
    assert "All its matches are played." not in (await dora.get("/tournaments/t/direct")).text
    world.store.directors.report_state("t", "ladder", DirectorState.SHORT, "a match has 2 players, and 1 can be paired")
    page = (await dora.get("/tournaments/t/direct")).text
    assert "It waits: too few bots can be paired." in page
    assert "/tournaments/t/pause" in page


async def test_only_operators_see_why_a_ladder_can_not_be_played(kept):
    reason = "postgresql://arena@db.internal:5432/results: closed"
    kept.store.directors.report_state("open ladder", "ladder", DirectorState.UNABLE, reason)
    for client, sees in (
        (kept.client(), False),
        (kept.browser("ann"), False),
        (kept.browser("dora"), False),
        (kept.program("olga", Scope.DIRECT), False),
        (kept.browser("olga"), True),
    ):
        for address in ("/ladders", "/health", "/health/parts", f"{HERE}/direct"):
            is_told = address != "/health" and sees
            for accept in (JSON, "text/html"):
                response = await client.get(address, headers={"accept": accept})
                assert ("arena@db.internal" in response.text) is is_told, (address, response.text)


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
    monkeypatch.setattr(annotator_program, "ASKED_SECONDS", 0.0)
    monkeypatch.setattr(annotator_program, "PREPARE_SECONDS", 0.0)
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
