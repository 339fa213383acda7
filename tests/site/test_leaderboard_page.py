import itertools

import pytest

from arena.base.errors import UnknownNameError
from arena.site.pages import overview as bots_builder
from arena.store.results.values import StoredBot
from tests.site.duels import bot, duels, tell
from tests.site.parsed import Parsed, checked, csv_rows, html_of, model_of
from tests.store.results.samples import definition, line


@pytest.fixture
def year(home):
    """In spring a beats b; in autumn b beats a, and plays plaid; in the cup a beats c at plaid. A comparison."""
    tell(home, duels("a@1", "b@1", "w" * 20), "spring")
    tell(home, duels("b@1", "a@1", "w" * 8), "autumn", games=("differences", "plaid"))
    tell(home, duels("a@1", "c@1", "w" * 4), "cup", entrants=("a@1", "c@1"), games=("plaid",))
    tell(home, duels("c@1", "b@1", "w" * 20), "test", entrants=("b@1", "c@1"), format="comparison")
    home.store.seasons.add("cold", [home.store.tournament("autumn"), home.store.tournament("test")])
    return home


def lines(page):
    return [(one.label, one.wins, one.losses) for one in page.standings]


@pytest.mark.slow(sample=True)
def test_a_leaderboard_counts_tournaments_with_its_game_of_a_season_or_alone_and_all_are_at_a_glance(year):
    found = model_of(year, "leaderboard", game="differences")
    assert lines(found) == [("a@1", 20, 4), ("b@1", 4, 20)]
    assert (found.tournaments, found.matches) == (("spring", "autumn"), 24)
    assert found.seasons == ("cold",)
    assert found.verdict.text.startswith("a@1 is ")
    seen = [(one.bot, one.tournament, one.matches) for one in found.history]
    assert seen == [("a@1", "spring", 20), ("a@1", "autumn", 24), ("b@1", "spring", 20), ("b@1", "autumn", 24)]
    cold = model_of(year, "leaderboard", game="differences", season="cold")
    assert {line[0]: line[1:] for line in lines(cold)} == {"c@1": (20, 0), "b@1": (4, 20), "a@1": (0, 4)}
    assert cold.tournaments == ("autumn", "test")
    assert lines(model_of(year, "leaderboard", game="plaid", tournament="cup")) == [("a@1", 4, 0), ("c@1", 0, 4)]
    both = model_of(year, "leaderboard", game="differences", season="cold", tournament="spring")
    assert both.tournaments == ("spring", "autumn", "test")
    page = checked(year, "leaderboard", game="differences")
    links = {link["href"] for link in page.all("a")}
    assert links >= {"/bots/a@1", "/leaderboards/differences?season=cold", "/tournaments/spring", "/bots/b@1"}
    assert page.all("svg", **{"class": "ratings"})
    other = checked(year, "leaderboard", game="plaid", season="cold")
    assert {link["href"] for link in other.all("a")} >= {"/leaderboards/plaid"}
    for parameters, message in (
        ({"game": "plad"}, "unknown game 'plad': did you mean 'plaid'"),
        ({"game": "plaid", "season": "warm"}, "unknown season 'warm'"),
        ({"game": "plaid", "tournament": "cub"}, "unknown tournament 'cub': did you mean 'cup'"),
    ):
        with pytest.raises(UnknownNameError, match=message):
            model_of(year, "leaderboard", **parameters)

    rows = csv_rows(model_of(year, "leaderboard", game="plaid").csv("history"))
    found = [(row["tournament"], row["c@1"] != "", row["b@1"] != "") for row in rows]
    assert found == [("autumn", False, True), ("cup", True, True)]
    found = model_of(year, "leaderboards")
    seen = [(one.game, one.bots, one.matches, one.tournaments) for one in found.games]
    assert seen == [("differences", 2, 24, 2), ("plaid", 3, 8, 2)]
    assert [(one.name, one.tournaments, one.games) for one in found.seasons] == [
        ("cold", ("autumn", "test"), ("differences", "plaid"))
    ]
    assert found.games[0].leaders == model_of(year, "leaderboard", game="differences").standings
    page = checked(year, "leaderboards")
    assert {link["href"] for link in page.all("a")} >= {"/leaderboards/plaid", "/leaderboards/plaid?season=cold"}


def test_bots_that_share_the_first_place_do_not_lead_alone(home):
    tell(home, duels("a@1", "b@1", "dddd"))
    tell(home, duels("a@1", "b@1", "wwww"), "other", games=("plaid",))
    text = checked(home, "leaderboards").text
    assert "a and b share the first place in differences; a leads in plaid." in text


@pytest.mark.slow
def test_a_long_leaderboard_is_shown_in_parts(home):
    entrants = tuple(f"bot{number:03}@1" for number in range(102))
    matches = [one for first, second in itertools.pairwise(entrants) for one in duels(first, second, "ww")]
    tell(home, matches, entrants=entrants)
    first = Parsed(html_of(home, "leaderboard", game="differences"))
    assert len(first.all("tr")) == 101 and first.all("a", href="/leaderboards/differences?first=101")
    second = checked(home, "leaderboard", game="differences", first=101)
    assert len(second.all("tr")) == 3 and second.all("a", href="/leaderboards/differences")


def test_a_tournament_without_a_result_does_not_count(home):
    tell(home, duels("a@1", "b@1", "w" * 4), "played")
    home.store.create_tournament(definition(name="announced"), [line(1)])
    (found,) = model_of(home, "leaderboards").games
    assert found.tournaments == 1
    assert model_of(home, "leaderboard", game="differences").tournaments == ("played",)
    assert "No match has been recorded yet." in checked(home, "leaderboard", game="coprimality").text


def test_a_home_without_matches_has_its_pages(home):
    for name in ("leaderboards", "bots"):
        page = checked(home, name)
    assert "No bot was submitted or entered yet" in page.text


def test_bots_are_listed_by_name_with_their_best_rank(year, monkeypatch):
    stored = [StoredBot("New", "1", "d", "bot.toml", "2026-01-01T00:00:00+00:00")]
    monkeypatch.setattr(type(year.store), "submitted_bots", lambda _: stored)
    found = model_of(year, "bots")
    assert [(one.name, one.games, one.tournaments) for one in found.bots] == [
        ("a", ("differences", "plaid"), 3),
        ("b", ("differences", "plaid"), 3),
        ("c", ("differences", "plaid"), 2),
        ("New", (), 0),
    ]
    best = {one.name: one.best and (one.best.game, one.best.rank, one.best.bots) for one in found.bots}
    assert best["a"] == ("differences", 1, 2)
    assert best["b"] == ("plaid", 1, 3)
    assert best["New"] is None
    assert {link["href"] for link in checked(year, "bots").all("a")} >= {"/bots/a", "/bots/a@1", "/bots/New"}


def test_bots_are_found_by_their_names_and_authors(home):
    entrants = (bot("Alpha@1", author="Zoë"), "beta@1", "gamma@1")
    tell(home, duels("Alpha@1", "beta@1", "ww"), entrants=entrants)
    for search, wanted in (("ALP", ["Alpha"]), ("ZO", ["Alpha"]), ("a", ["Alpha", "beta", "gamma"]), ("%", [])):
        assert [one.name for one in model_of(home, "bots", search=search).bots] == wanted
    checked(home, "bots", search='"><script>')


def test_bots_come_some_at_a_time(home, monkeypatch):
    monkeypatch.setattr(bots_builder, "PAGE_BOTS", 2)
    tell(home, duels("B@1", "a@1", "ww"), entrants=("B@1", "a@1", "c@1", "D@1", "e@1"))
    names, after = [], None
    while names == [] or after is not None:
        found = model_of(home, "bots", after=after)
        names += [one.name for one in found.bots]
        after = found.next
        assert found.found == 5
    assert names == ["a", "B", "c", "D", "e"]
    assert Parsed(html_of(home, "bots")).all("a", href="/bots?after=B", rel="next")
    assert model_of(home, "bots", after="zzz").bots == ()
