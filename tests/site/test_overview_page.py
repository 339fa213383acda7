from arena.base.records import Bot
from arena.store.results.live_state import PlayedNow, RunProgress
from tests.analysis.text.tournaments import play
from tests.site.parsed import Parsed, checked, html_of, model_of
from tests.site.stories import STORY, tell
from tests.store.results.samples import definition, line


def test_an_empty_home_says_how_to_begin(home):
    page = checked(home, "overview")
    assert "0 tournaments, 0 matches" in page.text
    assert "arena quickstart" in page.text and "arena run FILE" in page.text


def test_it_lists_tournaments_the_newest_first_with_their_winners(home):
    tell(home, STORY, name="older")
    tell(home, "a b =\nb a =\n", name="newer", names=("a", "b"))
    page = checked(home, "overview")
    assert [row[0] for row in page.part("tournaments").rows()[1:]] == ["newer", "older"]
    assert "2 tournaments, 8 matches" in page.text
    found = model_of(home, "overview")
    seen = [one.winners.text for one in found.results]
    assert seen == ["a and b share the highest score, 50.0 %.", "a has the highest score, 100.0 %."]
    assert [one.tournament for one in found.latest] == ["newer", "newer"]


def test_a_swiss_is_won_by_the_first_of_its_own_ranking(home):
    play(home, "swiss", ["alpha", "beta", "gamma", "delta"], format="swiss", settings={"rounds": 2})
    (result,) = model_of(home, "overview").results
    first = model_of(home, "tournament", tournament="swiss").verdict.text.partition(".")[0]
    assert result.winners.text.removesuffix(".").split()[0] == first.split()[0]


def test_an_unfinished_tournament_has_a_leader_so_far(home):
    tell(home, STORY, missing=2)
    (result,) = model_of(home, "overview").results
    assert result.winners.text == "So far, a has the highest score, 100.0 %."
    assert "6 of 8" in Parsed(html_of(home, "overview")).part("tournaments").text


def test_what_is_being_played_says_how_far_it_is_and_who_plays(home):
    tournament = tell(home, STORY, missing=6)
    progress = RunProgress(
        recorded=6,
        scheduled=12,
        expected=12,
        matches_per_second=18.2,
        seconds_left=25.0,
        playing=(PlayedNow(match=7, since="2026-01-01T00:00:00+00:00"),),
    )
    home.store.live_state(tournament).write_progress(progress)
    with home.store.lock("t"):
        for name, parameters in (("overview", {}), ("tournament", {"tournament": "t"})):
            page = checked(home, name, **parameters)
            assert "Being played: 6 of 12 matches · 18 a second · about 25 s left" in page.text
            assert "Watch a – b" in page.text
            assert page.all("a", href="/tournaments/t/matches/7")
    assert "Being played" not in Parsed(html_of(home, "overview")).text


def test_of_many_tournaments_there_are_pages(home):
    entrants = tuple(Bot(name=bot, version="1", command=(bot,), directory="") for bot in "ab")
    for number in range(1, 122):
        home.store.create_tournament(definition(name=f"t{number}", entrants=entrants), [line(1)])
    first = model_of(home, "overview")
    assert [one.name for one in first.tournaments] == [f"t{number}" for number in range(121, 71, -1)]
    second = model_of(home, "overview", before=first.older)
    third = model_of(home, "overview", before=second.older)
    assert [one.name for one in third.tournaments] == [f"t{number}" for number in range(21, 0, -1)]
    assert third.older is None
    page = checked(home, "overview", before=second.older)
    assert "121 tournaments" in page.text
    assert [found["href"] for found in Parsed(html_of(home, "overview")).all("a", rel="next")] == ["/?before=72"]
