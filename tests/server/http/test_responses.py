import contextlib
import gzip
import json
import re
import threading
from dataclasses import replace
from urllib.parse import quote

import anyio
import pytest

from arena.base.programs.service_program import HealthProblem
from arena.server.http.app import PROBLEMS_SECONDS, Health
from arena.server.http.builders import BUSY, CRASHED
from arena.server.http.endpoint import MAX_REPORT_BYTES, CspReports
from arena.server.http.events import Events
from arena.server.http.opened_home import OpenedHome
from arena.server.http.page_cache import Found
from arena.server.http.page_response import HOLD_SECONDS, FeaturedMatch
from arena.server.http.page_value import HURRIED_SECONDS, LATE_SECONDS, Value
from arena.server.http.problems import ProblemError, bad_address
from arena.server.operating.service_programs import HOME
from arena.site.frame.model import Lane
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.overview_model import OverviewPage
from arena.site.pages.results_model import MatchesParameters
from arena.store.home import ArenaHome
from arena.store.people.secret import new_secret
from arena.store.results.live_state import PlayedNow, RunProgress
from tests.analysis.text.tournaments import play
from tests.server.conftest import add_tournament, answered, client_of
from tests.site.parsed import model_of
from tests.site.stories import STORY, tell

PAGE = "/tournaments/t/matches"
"""One that this process builds itself, and without a board, as the first page has it."""


@pytest.fixture
async def client(directory, versions):
    async with client_of(directory, versions) as client:
        yield client


async def test_a_page_has_three_forms_and_every_response_the_security_headers(client):
    html, twin, table = [await client.get(f"{PAGE}{form}") for form in ("", ".json", ".csv")]
    assert html.headers["content-type"] == "text/html; charset=utf-8"
    assert sorted(one["match"] for one in twin.json()["matches"]) == [1, 2]
    assert len(table.text.splitlines()) == 3
    assert (await client.get(PAGE, headers={"accept": "application/json"})).content == twin.content
    for path in (PAGE, "/index.json", "/nothing", "/robots.txt", "/health/", "/%ff"):
        headers = (await client.get(path)).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["referrer-policy"] == "same-origin"


async def test_an_unchanged_page_is_not_sent_again_and_a_page_is_compressed_for_those_who_take_it(client):
    for encoding in ("identity", "gzip"):
        first = await client.get(PAGE, headers={"accept-encoding": encoding})
        again = await client.get(PAGE, headers={"accept-encoding": encoding, "if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
        await answered(client.get(PAGE, headers={"if-none-match": '"other", W/"another"'}), 200)
    request = client.build_request("GET", PAGE, headers={"accept-encoding": "br, gzip;q=0.5"})
    response = await client.send(request, stream=True)
    compressed = b"".join([chunk async for chunk in response.aiter_raw()])
    plain = await client.get(PAGE, headers={"accept-encoding": "gzip;q=0, identity"})
    assert gzip.decompress(compressed) == plain.content
    assert "content-encoding" not in plain.headers
    assert response.headers["vary"] == plain.headers["vary"] == "Accept, Accept-Encoding"


async def test_head_has_the_headers_and_no_body_and_a_range_is_ignored(client):
    plain = {"accept-encoding": "identity"}
    get, head = await client.get("/index.json", headers=plain), await client.head("/index.json", headers=plain)
    assert head.content == b""
    assert head.headers["content-length"] == str(len(get.content))
    assert head.headers["etag"] == get.headers["etag"]
    response = await answered(client.get("/index.json", headers={"range": "bytes=0-3"}), 200)
    assert "accept-ranges" not in response.headers


async def test_other_methods_are_not_answered_and_a_slash_at_the_end_leads_to_the_page_alone(client):
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "ODD"):
        assert (await answered(client.request(method, "/"), 405)).headers["allow"] == "GET, HEAD"
    response = await client.get("/health/?x=1")
    assert (response.status_code, response.headers["location"]) == (308, "/health?x=1")
    assert (await client.get("/tournaments/")).headers["location"] == "/tournaments"
    assert (await client.get("/tournaments")).headers["location"] == "/"
    for path in ("//evil.example/", "/evil.example/", "//health/"):
        assert (await client.get(f"http://localhost{path}")).status_code == 404


@pytest.mark.parametrize("number", ["1.0", "01", "+1", "-0", "1_0", " 1", "1 ", "\u0661", "1e0", "0x1", "x" * 1000])
async def test_a_number_is_written_in_one_way(client, number):
    match = "/tournaments/t/matches/"
    for path in (f"{match}{quote(number)}.json", f"/?before={quote(number)}", f"{match}1?ply={quote(number)}"):
        response = await answered(client.get(path, headers={"accept": "application/json"}), 400)
        assert "expected a whole number in digits" in response.json()["error"]


async def test_a_mistake_is_one_sentence_on_a_page_and_for_programs_without_a_builder(client):
    unknown = "is no parameter of this page; expected one of: before"
    response = await answered(client.get("/?<script>alert(1)</script>=1"), 400, unknown)
    await answered(client.get("/?befor=1"), 400, "did you mean &#39;before&#39;?")
    assert "<script>alert" not in response.text
    await answered(client.get("/", headers={"host": "evil.example"}), 421, "--allowed-host")
    assert (await client.get("/", headers=[("host", "localhost"), ("host", "localhost")])).status_code == 400
    for path, headers in (("/index.json?x=1", {}), ("/?x=1", {"accept": "application/json"}), ("/x.csv", {})):
        response = await client.get(path, headers=headers)
        assert response.json()["status"] == response.status_code
        assert response.json()["error"]
    for path in ("/tournaments/typo", "/tournaments/typo/matches/1", "/tournaments/typo.json"):
        await answered(client.get(path), 404, "unknown tournament")
    assert [builders.processes for builders in client.site.builders.values()] == [(), ()]


async def test_static_files_are_kept_for_good_and_only_under_their_digest(client):
    page = (await client.get(PAGE)).text
    response = await client.get(page.partition('rel="stylesheet" href="')[2].partition('"')[0])
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert response.headers["content-type"] == "text/css; charset=utf-8"
    assert (await client.get("/static/0/site.css")).status_code == 404
    assert (await client.get("/static/0/..%2f..%2fpages.py")).status_code == 404


async def test_reports_of_browsers_are_counted_few_are_logged_and_others_are_refused(client, caplog):
    headers, secret = {"content-type": "application/csp-report"}, new_secret()
    for number in range(30):
        content = f"{number} \x1b[31m /invitations/{secret} {'long ' * 90}{secret}"
        await answered(client.post("/csp-reports", content=content, headers=headers), 204)
    assert (await client.get("/health.json")).json()["csp_reports"] == 30
    assert caplog.text.count("content security policy") == 10
    assert "\x1b" not in caplog.text
    assert secret[:10] not in caplog.text

    async def long():
        for _ in range(10):
            yield b"a" * (MAX_REPORT_BYTES // 4)

    headers = {"content-type": "application/reports+json"}
    assert (await client.post("/csp-reports", content=long(), headers=headers)).status_code == 413
    assert (await client.post("/csp-reports", content=b"a=1")).status_code == 415
    assert (await client.get("/csp-reports")).status_code == 405


async def test_health_says_who_reads_events_and_when_the_store_changed(directory):
    with ArenaHome(directory) as home, contextlib.closing(OpenedHome(directory)) as opened:
        async with client_of(directory, events=Events(opened)) as client:
            quiet = (await client.get("/health.json")).json()
            assert (quiet["event_readers"], quiet["last_change_seconds"]) == (0, None)
            await client.site.start()
            add_tournament(home, "new")
            with anyio.fail_after(60):
                while (seen := (await client.get("/health.json")).json()["last_change_seconds"]) is None:
                    await anyio.sleep(0.01)
            assert 0 <= seen < 60
            assert "streams of events" in (await client.get("/health")).text


async def test_a_page_that_is_computed_asks_again_by_a_script_or_without(client, monkeypatch):
    async def nothing_yet(*_):
        return Found(value=None)

    monkeypatch.setattr(client.site.cache, "find", nothing_yet)
    response = await client.get("/")
    assert (response.status_code, response.headers["retry-after"]) == (202, "1")
    assert re.findall(r"(<noscript>)?<meta http-equiv", response.text) == ["<noscript>"]
    (script,) = re.findall(r'src="(/static/\w+/pending.js)"', response.text)
    assert (await client.get(script)).status_code == 200


@pytest.mark.parametrize(
    ("path", "prefer", "waits"),
    [
        ("/", None, False),
        ("/", "wait=1", True),
        ("/", "respond-async, WAIT=10", True),
        ("/", "wait", False),
        ("/", "return=minimal", False),
        ("/index.json", None, True),
    ],
)
async def test_for_a_newer_page_only_those_wait_who_prefer_to(client, monkeypatch, path, prefer, waits):
    patience = []

    async def nothing_yet(*arguments):
        patience.append(arguments[-1])
        return Found(value=None)

    monkeypatch.setattr(client.site.cache, "find", nothing_yet)
    await client.get(path, headers={"prefer": prefer} if prefer else {})
    assert patience == [LATE_SECONDS if waits else HURRIED_SECONDS]


async def test_an_outdated_page_says_as_of_when_and_has_its_age(client, monkeypatch):
    known = await client.site.cache.find(PAGE_BY_NAME["matches"], MatchesParameters(tournament="t"), 60.0)

    async def outdated(*_):
        return replace(known, is_current=False, age_seconds=90.4)

    monkeypatch.setattr(client.site.cache, "find", outdated)
    response = await client.get("/tournaments/t/matches")
    assert (response.status_code, response.headers["age"], response.headers["cache-control"]) == (200, "90", "no-store")
    assert re.search(r"As of \d{4}-\d\d-\d\d \d\d:\d\d \(UTC\)", response.text)
    monkeypatch.undo()
    assert "As of" not in (await client.get("/tournaments/t/matches")).text


@pytest.mark.slow(only=("/--0",))
@pytest.mark.parametrize(
    ("path", "prefer", "expected"),
    [
        ("/tournaments/t/matches", "", 1),
        ("/tournaments/t/matches", "wait=1", 0),
        ("/tournaments/t/matches.json", "", 0),
        ("/", "", 0),
    ],
)
async def test_a_builder_of_boards_starts_while_a_reader_looks_for_a_match(client, monkeypatch, path, prefer, expected):
    prepared = []
    monkeypatch.setattr(client.site.cache, "prepare", prepared.append)
    await client.get(path, headers={"prefer": prefer})
    assert prepared == [Lane.BOARDS] * expected


async def test_where_too_many_pages_wait_a_person_waits_and_a_program_is_told(client, monkeypatch):
    async def busy(*_, **__):
        raise ProblemError(BUSY)

    monkeypatch.setattr(client.site.builders[Lane.RATINGS], "build", busy)
    page, twin = await client.get("/tournaments/t"), await client.get("/tournaments/t.json")
    assert (page.status_code, page.headers["retry-after"]) == (202, "5")
    assert "computing this page" in page.text
    assert (twin.status_code, twin.headers["retry-after"], twin.json()["title"]) == (503, "5", BUSY.title)


async def test_a_database_that_was_replaced_is_read(client, directory, versions, tmp_path, monkeypatch):
    monkeypatch.setattr("arena.server.http.page_cache.LATE_SECONDS", 60.0)  # where others work, the page takes longer
    await client.get("/index.json")
    with ArenaHome(tmp_path / "other") as other:
        add_tournament(other, "another")
    for file in (tmp_path / "other").glob("arena.sqlite3*"):
        file.replace(directory / file.name)
    versions.version, versions.corrections = "2", "another store"
    assert [one["name"] for one in (await client.get("/index.json")).json()["tournaments"]] == ["another"]


async def test_without_its_store_the_site_shows_what_it_knew_and_how_old_that_is(client, directory, versions):
    known = (await client.get("/index.json")).content
    (directory / "arena.sqlite3").rename(directory / "away")
    versions.version, versions.corrections = "2", "another store"
    response = await client.get("/index.json")
    assert (response.status_code, response.content) == (200, known)
    assert int(response.headers["age"]) >= 0
    assert "can’t be read now" in (await client.get("/")).text
    (directory / "away").rename(directory / "arena.sqlite3")
    client.site.cache._entries.clear()
    assert "age" not in (await client.get("/index.json")).headers


async def test_a_page_never_shown_without_a_store_is_a_sentence(client, directory):
    assert (await client.get("/health")).status_code == 200
    (directory / "arena.sqlite3").unlink()
    response = await answered(client.get("/index.json"), 503)
    assert response.headers["retry-after"] == "5"
    assert str(directory) not in response.text
    assert json.loads(response.text)["title"] == "The store can’t be read now"
    response = await client.get("/health.json")
    assert (response.status_code, response.json()["is_store_readable"]) == (503, False)


ROOMS = ["bots", "games", "guide", "leaderboards", "play", "tournaments"]


@pytest.mark.slow(only=("/qqq-rooms3",))
@pytest.mark.parametrize(
    ("address", "rooms"),
    [
        ("/gmaes", ["games"]),
        ("/leaderboard", ["leaderboards"]),
        ("/tournaments/a/b/c/d", ["tournaments"]),
        ("/qqq", ROOMS),
    ],
)
async def test_a_page_that_is_not_there_links_what_may_be_meant(client, address, rooms):
    response = await answered(client.get(address), 404)
    suggested = response.text.partition("Perhaps you mean")[2].partition("</p>")[0]
    assert re.findall('<a href="([^"]*)">', suggested) == [f"/{room}" for room in rooms]
    for room in rooms:
        assert (await client.get(f"/{room}")).status_code in (200, 202, 307, 308)
    if len(rooms) > 1:
        assert f"expected one of: {', '.join(rooms)}" in response.text


async def test_problems_are_read_in_a_thread_and_once_a_second(directory, versions, caplog):
    now, threads = [0.0], []

    def problems():
        threads.append(threading.get_ident())
        return (HealthProblem("web", "the whole", f"trouble {len(threads)}"), HealthProblem("checker", "untold"))

    home = OpenedHome(directory)
    health = Health(home, versions, {}, CspReports(), now=lambda: now[0], problems=problems)
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(health.page)
    assert (await health.page()).troubles == ("trouble 1",)
    now[0] += PROBLEMS_SECONDS
    assert (await health.page()).troubles == ("trouble 2",)
    assert len(threads) == 2
    assert threading.get_ident() not in threads
    assert caplog.messages == ["the whole", "the whole"]  # its own, whenever it is another
    home.close()


async def test_a_home_that_can_not_be_written_is_not_well(directory):
    found = (HealthProblem(HOME, "the whole", "nothing new is kept"),)
    async with client_of(directory, problems=lambda: found) as client:
        for accept in ("application/json", "text/html"):
            await answered(client.get("/health", headers={"accept": accept}), 503, "nothing new is kept")
        assert (await client.get("/tournaments/t/matches")).status_code == 200  # it is read as before
        assert (await client.get("/health.json")).json()["is_home_writable"] is False
        found = ()
        client.site._responses._health.__self__._problems_at = float("-inf")
        assert (await client.get("/health")).status_code == 200


class Cache:
    """Pages that are there at once, but for those of a tournament that is gone, or that can't be built now."""

    def __init__(self):
        self.gone, self.problem = "", None

    async def find(self, page, parameters, first_seconds, late_seconds):
        if self.problem is not None:
            return Found(value=None, problem=self.problem)
        if parameters.tournament == self.gone:
            return Found(value=None, problem=bad_address("gone", 404).problem)
        return Found(value=Value(b"{}", "1", 0.0, 0.0), is_current=True)


class Front:
    def __init__(self):
        self.cache, self.seconds = Cache(), 100.0
        self.featured = FeaturedMatch(self.cache, lambda: self.seconds)

    async def board(self, tournament):
        """Return the board when the latest match is one of this tournament."""
        latest = () if tournament is None else ({**RESULT, "tournament": tournament},)
        page = OverviewPage.model_validate({**EMPTY, "latest": latest})
        return await self.featured.board(Value(page.model_dump_json().encode(), "1", 0.0, 0.0))

    async def show(self, tournament):
        """Return the topics of that board; None without one."""
        board = await self.board(tournament)
        return None if board is None or board.value is None else board.topics


RESULT = {
    "match": 3, "game": "differences", "bots": ("a@1", "b@1"), "names": ("a", "b"), "scores": (1, 0), "ranks": (1, 2),
    "plies": 8, "termination": "normal",
}  # fmt: skip
EMPTY = {"tournaments": (), "older": None, "tournament_count": 0, "matches": 0, "running": (), "results": ()}


async def test_a_board_stays_for_a_while_and_one_of_a_match_that_is_gone_gives_way_at_once():
    front = Front()
    assert await front.show(None) is None
    assert await front.show("a/b") == ("tournaments/a%2Fb/matches/3",)
    front.seconds += HOLD_SECONDS - 1
    assert await front.show("other") == ("tournaments/a%2Fb/matches/3",)
    front.seconds += 1
    assert await front.show("other") == ("tournaments/other/matches/3",)
    assert await front.show(None) is None, "everything was deleted"
    front = Front()
    await front.show("first")
    front.cache.gone = "first"
    assert await front.show("second") is None
    assert await front.show("second") == ("tournaments/second/matches/3",)


@pytest.mark.parametrize(("problem", "is_late"), [(CRASHED, True), (bad_address("gone", 404).problem, False)])
async def test_a_page_without_its_board_is_final_only_if_there_will_be_none(problem, is_late):
    front = Front()
    front.cache.problem = problem
    board = await front.board("first")
    assert (board.value, board.is_late) == (None, is_late)
    front.cache.problem = None
    assert not (await front.board("first")).is_late


def test_a_match_that_is_being_played_comes_before_the_latest(tmp_path):
    with ArenaHome(tmp_path) as home:
        tournament = tell(home, STORY, missing=6)
        assert model_of(home, "overview").featured == ("t", 6)
        since = "2026-01-01T00:00:00+00:00"
        playing = RunProgress(recorded=6, scheduled=12, playing=(PlayedNow(match=9, since=since),))
        home.store.live_state(tournament).write_progress(playing)
        with home.store.lock("t"):
            assert model_of(home, "overview").featured == ("t", 9)


@pytest.mark.slow
async def test_the_first_page_has_the_board_and_follows_the_match(tmp_path):
    with ArenaHome(tmp_path / "home") as home:
        play(home, "league", ["alpha", "beta"], encounters=1)
    async with client_of(tmp_path / "home") as client:
        with anyio.fail_after(60):
            while "retry-after" in (page := await client.get("/")).headers:
                await anyio.sleep(0.05)
    (topics,) = re.findall('data-topics="([^"]*)"', page.text)
    assert topics == "arena tournaments/league/matches/2"
    assert '<svg id="board"' in page.text
    assert re.search('The latest match: <a href="/tournaments/league/matches/2">', page.text)
    assert {"/play", "/games", "/guide"} <= set(re.findall('href="([^"]*)"', page.text))
