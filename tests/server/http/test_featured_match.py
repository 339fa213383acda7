import re

import anyio
import pytest

from arena.server.http.builders import CRASHED
from arena.server.http.page_cache import Found
from arena.server.http.page_response import HOLD_SECONDS, FeaturedMatch
from arena.server.http.page_value import Value
from arena.server.http.problems import bad_address
from arena.site.pages.overview_model import OverviewPage
from arena.store.home import ArenaHome
from arena.store.results.live_state import PlayedNow, RunProgress
from tests.analysis.text.tournaments import play
from tests.server.conftest import client_of
from tests.site.parsed import model_of
from tests.site.stories import STORY, tell


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
