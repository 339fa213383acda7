import pytest

from arena.base.errors import UnknownNameError
from tests.site.duels import duels, tell
from tests.site.parsed import Parsed, checked, csv_rows, html_of, model_of


def head_to_head_of(home, bot="a", rival="b"):
    return model_of(home, "versus", bot=bot, rival=rival)


def test_matches_are_counted_by_game_seat_and_tournament(home):
    """Encounters of a: ww, wl in differences; wd in plaid; then ll. Shares 1, 0.5, 0.75, 0: mean 0.5625."""
    tell(home, duels("a@1", "b@1", "wwwdwl"), "first", games=("differences", "plaid"))
    tell(home, duels("a@1", "b@1", "ll"), "second")
    found = head_to_head_of(home)
    assert (found.total.wins, found.total.draws, found.total.losses) == (4, 1, 3)
    assert (found.total.encounters, found.total.score_percent) == (4, 56.25)
    seen = {one.part: (one.wins, one.draws, one.losses, one.score_percent) for one in found.games}
    assert seen == {"differences": (3, 0, 3, 50.0), "plaid": (1, 1, 0, 75.0)}
    seen = [(one.part, one.wins, one.score_percent) for one in found.tournaments]
    assert seen == [("second", 0, 0.0), ("first", 4, 75.0)]
    assert {one.part: (one.wins, one.draws, one.losses) for one in found.seats} == {"0": (3, 0, 1), "1": (1, 1, 2)}
    assert found.versions == ()
    assert [(one.tournament, one.match) for one in found.results[:3]] == [("second", 2), ("second", 1), ("first", 6)]


def test_who_is_better_is_said_when_it_can_be_known(home):
    """Ten encounters won: 100 % ± 1.96 * sqrt(0.25 / 100) = 9.8 %."""
    tell(home, duels("a@1", "b@1", "w" * 20))
    found = head_to_head_of(home)
    assert found.verdict.text == "a is better than b: 100.0 ± 9.8 % of the points over 10 encounters."
    assert (found.better, found.encounters_to_go) == ("a", None)
    other = head_to_head_of(home, "b", "a")
    assert other.verdict.text == found.verdict.text
    assert (other.better, other.total.wins, other.total.losses) == ("a", 0, 20)


def test_until_it_can_be_known_the_page_says_how_many_encounters_would_do(home):
    """One encounter of 0.75: ± 1.96 * sqrt(0.25) = 0.98; (0.98 / 0.25)² = 15.4 times as many, so 15 more."""
    tell(home, duels("a@1", "b@1", "wd"))
    found = head_to_head_of(home)
    assert (found.better, found.encounters_to_go) == (None, 15)
    assert found.verdict.text == (
        "a and b can't be told apart yet: a has 75.0 ± 98.0 % of the points over 1 encounter."
        " At this score, some 15 more encounters would decide."
    )


def test_equal_bots_are_called_so(home):
    tell(home, duels("a@1", "b@1", "dd"))
    assert (
        head_to_head_of(home).verdict.text
        == "a and b can't be told apart: 50.0 ± 98.0 % of the points over 1 encounter each."
    )


def test_a_game_in_which_the_other_is_better_is_named(home):
    tell(home, duels("a@1", "b@1", "w" * 60), "much")
    tell(home, duels("a@1", "b@1", "l" * 20), "little", games=("plaid",))
    assert head_to_head_of(home).verdict.text.endswith(" In plaid, b is better.")


def test_duplicates_are_counted_as_matches_only(home):
    same = [(("a@1", "b@1"), (1, 2), 7)] * 6
    tell(home, same)
    found = head_to_head_of(home)
    assert (found.total.wins, found.total.duplicates, found.total.encounters) == (6, 5, 1)
    assert "5 duplicate matches of 6 count for no score" in Parsed(html_of(home, "versus", bot="a", rival="b")).text


def test_versions_of_a_bot_against_each_other(home):
    entrants = ("a@1", "a@2", "b@1")
    matches = [*duels("a@2", "a@1", "ww"), *duels("a@2", "b@1", "wl"), *duels("a@1", "b@1", "ll")]
    tell(home, matches, entrants=entrants)
    assert head_to_head_of(home, "a@2", "a@1").total.wins == 2
    both = head_to_head_of(home, "a", "b")
    assert (both.total.wins, both.total.losses, both.bots) == (1, 3, ("a@1", "a@2"))
    assert [(one.part, one.wins) for one in both.versions] == [("a@1 – b@1", 0), ("a@2 – b@1", 1)]


def test_bots_that_have_not_met_have_a_page(home):
    tell(home, duels("a@1", "b@1", "ww"), entrants=("a@1", "b@1", "c@1"))
    page = checked(home, "versus", bot="a", rival="c")
    assert "a and c have not met." in page.text


def test_an_unknown_bot_is_rejected(home):
    tell(home, duels("a@1", "b@1", "ww"))
    with pytest.raises(UnknownNameError, match="unknown bot 'c'"):
        head_to_head_of(home, "a", "c")


def test_tables_are_csv(home):
    tell(home, duels("a@1", "b@1", "wd"))
    rows = csv_rows(head_to_head_of(home).csv("games"))
    assert [(row["game"], row["wins"], row["draws"], row["score_percent"]) for row in rows] == [
        ("differences", "1", "1", "75.0")
    ]


def test_the_page_is_well_formed_and_leads_on(home):
    tell(home, duels("a@1", "b@1", "wdlw"))
    page = checked(home, "versus", bot="a", rival="b@1")
    assert {link["href"] for link in page.all("a")} >= {"/bots/a", "/bots/b@1/versus/a", "/tournaments/t/matches/4"}
