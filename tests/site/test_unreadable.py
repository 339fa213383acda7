from unittest.mock import Mock

import pytest

from arena.base.errors import DatabaseError, StoreError
from arena.site.frame.building import MAX_SENTENCES, Reading
from arena.store.results.scope import Scope
from tests.databases import change
from tests.site.duels import duels, tell
from tests.site.parsed import checked, html_of, model_of

PAGES = {
    "overview": {},
    "bots": {},
    "leaderboards": {},
    "leaderboard": {"game": "differences"},
    "bot": {"bot": "a"},
    "versus": {"bot": "a", "rival": "b"},
}
HOSTILE = '{"entrants": "<script>\u202e"}'


@pytest.fixture
def home(home):
    tell(home, duels("a@1", "b@1", "w" * 6), "good")
    tell(home, duels("b@1", "a@1", "w" * 8), "bad")
    return home


@pytest.fixture(params=["{", HOSTILE])
def unreadable(home, request):
    change(home.directory / "arena.sqlite3", "UPDATE tournaments SET definition = ? WHERE name = 'bad'", request.param)
    return home


@pytest.mark.parametrize("name", PAGES)
def test_the_others_are_shown_with_a_sentence(unreadable, name):
    model = model_of(unreadable, name, **PAGES[name])
    assert len(model.left_out) == 1
    assert "tournament 'bad'" in model.left_out[0]
    assert "Left out here: tournament 'bad'" in checked(unreadable, name, **PAGES[name]).text.replace("’", "'")


def test_what_counts_is_what_can_be_read_and_its_own_page_is_the_sentence_alone(unreadable):
    assert [one.name for one in model_of(unreadable, "overview").tournaments] == ["good"]
    (board,) = model_of(unreadable, "leaderboards").games
    assert (board.tournaments, board.matches, board.leaders[0].label) == (1, 6, "a@1")
    assert model_of(unreadable, "leaderboard", game="differences").matches == 6
    assert [one.tournaments for one in model_of(unreadable, "bots").bots] == [1, 1]
    total = model_of(unreadable, "versus", bot="a", rival="b").total
    assert (total.wins, total.losses) == (6, 0)
    assert [one.tournament for one in model_of(unreadable, "bot", bot="a").tournaments] == ["good"]
    with pytest.raises(StoreError, match="tournament 'bad'"):
        model_of(unreadable, "tournament", tournament="bad")
    with pytest.raises(StoreError, match="tournament 'bad'"):
        Reading().scope(unreadable.store, Scope(tournaments=("bad",)))


def test_results_that_can_not_be_read_leave_out_their_tournament(home):
    change(home.directory / "arena.sqlite3", "UPDATE records SET ranks = '[7,7]', record = '{' WHERE tournament_id = 2")
    for name in ("overview", "bots", "leaderboards"):
        assert len(model_of(home, name).left_out) >= 1
    assert [one.tournament for one in model_of(home, "overview").latest] == ["good"] * 6
    (board,) = model_of(home, "leaderboards").games
    assert (board.matches, board.leaders[0].label) == (6, "a@1")
    assert {bot.name: bot.best.rank for bot in model_of(home, "bots").bots} == {"a": 1, "b": 2}


@pytest.mark.parametrize("name", PAGES)
def test_where_all_can_be_read_nothing_is_said(home, name):
    assert model_of(home, name, **PAGES[name]).left_out == ()
    assert "Left out" not in html_of(home, name, **PAGES[name])


def test_of_many_sentences_some_are_shown_and_a_store_that_is_away_is_no_tournament_that_can_not_be_read():
    reading = Reading()
    with pytest.raises(DatabaseError):
        reading.attempt(Mock(side_effect=DatabaseError("away")))
    for number in range(MAX_SENTENCES + 5):
        reading.attempt(Mock(side_effect=StoreError(f"{number} is malformed")))
    assert len(reading.left_out) == MAX_SENTENCES + 1
    assert reading.left_out[-1] == "5 more can’t be read"
