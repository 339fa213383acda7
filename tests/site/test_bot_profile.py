from contextlib import contextmanager

import pytest
from sqlalchemy import event

from arena.analysis.measures.standings_cache import standings_of
from arena.base.errors import UnknownNameError
from arena.base.results import EntrantRating
from arena.site.matches.match import build_match
from arena.site.matches.match_model import MatchParameters
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages import bot_profile as builder
from arena.site.pages.bot_profile import build_bot
from arena.site.pages.bot_profile_model import BotParameters
from arena.site.pages.charts import RatingChart
from arena.store.results.live_state import RunProgress
from arena.store.results.values import StoredBot
from arena.tournament.corrections.corrected_tournament import void_matches
from tests.analysis.measures.test_rating_history import fill
from tests.site.duels import bot, duels, tell
from tests.site.parsed import Parsed, checked, csv_rows, html_of, model_of


def profile(home, name="a"):
    return model_of(home, "bot", bot=name)


def page_of(home, name="a"):
    return checked(home, "bot", bot=name)


def test_the_first_sentence_says_how_good_it_is(home):
    tell(home, duels("a@1", "b@1", "w" * 20))
    found = profile(home)
    (rating,) = found.ratings
    line = rating.line
    seen = (rating.game, rating.bots, line.rank, line.wins, line.losses, line.score_percent)
    assert seen == ("differences", 2, 1, 20, 0, 100)
    assert line.seat_percent == (100, 100)
    assert found.verdict.text == f"a is number 1 of 2 in differences (rating {line.mu:.1f} ± {line.margin_95:.1f})."
    assert page_of(home, "b@1").all("a", href="/leaderboards/differences")


@pytest.fixture
def newcomer(home):
    """A ladder whose director rates c@1, which no leaderboard has yet, and a@1, which one has."""
    tournament = tell(home, duels("a@1", "b@1", "w" * 4), entrants=("a@1", "b@1", "c@1"))
    told = (("c@1", 26.04, 9.96), ("a@1", 30.0, 5.0))
    ratings = [EntrantRating(bot=bot, mu=mu, margin_95=margin) for bot, mu, margin in told]
    progress = RunProgress(recorded=4, scheduled=4, least_certain=tuple(ratings))
    home.store.live_state(tournament).write_progress(progress)
    with home.store.lock(tournament.name):
        yield tournament.name


def test_a_newcomer_is_rated_by_its_living_director_until_a_leaderboard_has_it(home, newcomer):
    found = profile(home, "c")
    (rating,) = found.first_ratings
    assert (rating.bot, rating.tournament, rating.mu, rating.margin_95) == ("c@1", newcomer, 26.04, 9.96)
    assert found.verdict.text == f"c@1 is rated 26.0 ± 10.0 so far, after its first matches in {newcomer}."
    assert "is rated 26.0 ± 10.0 so far" in page_of(home, "c@1").text
    ranks = [profile(home, bot).tournaments[0].rank for bot in "abc"]
    assert ranks == [1, 3, None]  # c@1 has no recorded match: it is rated between the others
    assert (profile(home, "a").first_ratings, profile(home, "b").first_ratings) == ((), ())
    tell(home, duels("a@1", "b@1", "w"), entrants=("a@1", "b@1", "d@1"), name="killed")
    ratings = (EntrantRating(bot="d@1", mu=26.0, margin_95=9.0),)
    left = RunProgress(recorded=1, scheduled=1, least_certain=ratings)
    home.store.live_state(home.store.tournament("killed")).write_progress(left)
    assert profile(home, "d").first_ratings == ()


def test_a_page_is_brought_up_to_date_without_its_leaderboards(home, newcomer, monkeypatch):
    old = builder.build_bot(home, BotParameters(bot="c")).model_copy(update={"first_ratings": ()})
    monkeypatch.setattr(builder, "leaderboard", lambda *_: pytest.fail("a leaderboard was computed"))
    page = PAGE_BY_NAME["bot"]
    new = page.freshened(home, old)
    assert [one.bot for one in new.first_ratings] == ["c@1"]
    assert page.freshened(home, new) is new


def test_rivals_lead_to_the_page_of_the_two(home):
    """Against b: encounters 1, 0.5. Against c: 0."""
    tell(home, duels("a@1", "b@1", "wwwl") + duels("a@1", "c@1", "ll"), entrants=("a@1", "b@1", "c@1"))
    found = [(one.rival, one.score_percent, one.encounters, one.wins, one.losses) for one in profile(home).rivals]
    assert found == [("b@1", 75.0, 2, 3, 1), ("c@1", 0.0, 1, 0, 2)]
    page = page_of(home)
    links = [link["href"] for link in page.all("a")]
    assert [link for link in links if "versus" in link] == ["/bots/a@1/versus/b@1", "/bots/a@1/versus/c@1"]
    assert page.text.count("one encounter") == 1, "several have an interval"


def test_of_many_rivals_the_best_and_the_worst_are_shown(home):
    rivals = [f"r{number:02}@1" for number in range(12)]
    duelled = (duels("a@1", rival, "w" * number + "l" * (12 - number)) for number, rival in enumerate(rivals))
    tell(home, [match for matches in duelled for match in matches], entrants=("a@1", *rivals))
    shown = [link["href"] for link in page_of(home).all("a") if "versus" in link["href"]]
    best, worst = rivals[:-6:-1], rivals[:5]
    assert shown == [f"/bots/a@1/versus/{rival}" for rival in [*best, *worst]]
    assert [row["rival"] for row in csv_rows(profile(home).csv("rivals"))] == rivals[::-1]


def test_the_rating_after_each_tournament_is_its_history(home):
    tell(home, duels("a@1", "b@1", "ww"), "first")
    tell(home, duels("b@1", "c@1", "ww"), "without", entrants=("b@1", "c@1"))
    tell(home, duels("a@1", "b@1", "ll"), "second")
    found = profile(home)
    assert profile(home, "c").charted == {} and not page_of(home, "c").all("svg", **{"class": "ratings"})
    points = [(one.tournament, one.matches, one.bots, one.score_percent) for one in found.history]
    assert points == [("first", 2, 2, 100.0), ("second", 4, 3, 50.0)]
    assert list(found.charted) == ["differences"]
    assert [(one.tournament, one.rank, one.bots) for one in found.tournaments] == [("second", 2, 2), ("first", 1, 2)]
    assert "a@1" in page_of(home).all("svg", **{"class": "ratings"})[0]["aria-label"]
    rows = csv_rows(found.csv())
    assert [(row["tournament"], row["rank"]) for row in rows] == [("first", "1"), ("second", "2")]


def test_faults_are_counted_and_the_latest_are_told(home, monkeypatch):
    wrong = {(1, 0): "exit", (2, 1): "timeout", (3, 0): "exit", (4, 1): "exit"}
    tell(home, duels("a@1", "b@1", "llll"), "it's", faults=wrong)
    found = profile(home)
    assert found.fault_counts == {"exit": 3, "timeout": 1}
    seen = [(one.kind, one.match, [other.match for other in one.earlier]) for one in found.faults]
    assert seen == [("exit", 4, [3, 1]), ("timeout", 2, [])]
    latest = found.faults[0]
    assert (latest.detail, latest.ply, latest.stderr) == ("it is exit", 2, "first\nlast")
    assert latest.repro == """arena bot repro 'it'"'"'s/4'"""
    page = page_of(home)
    links = {link["href"] for link in page.all("a")}
    assert links >= {f"/tournaments/it%27s/matches/{match}" for match in (3, 4)}
    assert latest.repro in page.text
    assert "secret" not in page.source + found.model_dump_json(), "where a bot is kept"
    monkeypatch.setattr(builder, "MAX_STDERR_CHARACTERS", 4)
    assert profile(home).faults[0].stderr == "last"
    assert profile(home, "b").fault_counts == {}


def test_time_used_is_that_of_the_latest_matches(home):
    """Of each match an action of 0.1 s in seat 0, and one of 0.2 s in seat 1."""
    tell(home, duels("a@1", "b@1", "wl"))
    (times,) = profile(home).times
    assert (times.bot, times.matches, times.actions) == ("a@1", 2, 2)
    assert (times.mean_ms, times.longest_ms, times.cpu_seconds) == (100.0, 200.0, 0.1)
    assert times.p99_ms == pytest.approx(200, rel=0.02)


def test_a_name_stands_for_all_versions(home):
    entrants = (bot("a@1", digest="d1", author="Ann"), bot("a@2", digest="d2"), "b@1")
    tell(home, [*duels("a@1", "b@1", "ll"), *duels("a@2", "b@1", "ww")], "first", entrants=entrants)
    tell(home, duels("a@2", "b@1", "ww"), "second", entrants=entrants[1:])
    found = profile(home)
    seen = [(one.bot, one.digest, one.author, one.tournaments) for one in found.versions]
    assert seen == [("a@2", "d2", "", 2), ("a@1", "d1", "Ann", 1)]
    assert [one.line.label for one in found.ratings] == ["a@2", "a@1"]
    assert found.verdict.bots[0].label == found.shown == "a@2"
    seen = [(one.bot, one.tournament) for one in found.history]
    assert seen == [("a@2", "first"), ("a@2", "second"), ("a@1", "first")]
    assert [one.bot for one in found.times] == ["a@2", "a@1"]
    page_of(home)
    one = profile(home, "a@1")
    assert [version.bot for version in one.versions] == ["a@1"]
    assert page_of(home, "a@1").all("a", href="/bots/a")


def test_a_submitted_bot_that_has_not_played_has_a_profile(home, monkeypatch):
    stored = [StoredBot("new", "1", "digest", "bot.toml", "2026-01-01T00:00:00+00:00")]
    monkeypatch.setattr(type(home.store), "submitted_bots", lambda _: stored)
    found = profile(home, "new")
    assert found.verdict.text.startswith("new has no rating yet")
    assert (found.versions[0].digest, found.versions[0].submitted_at) == ("digest", "2026-01-01T00:00:00+00:00")
    assert "None yet." in page_of(home, "new").text


def test_matches_that_do_not_count_any_more_are_gone_and_unknown_bots_are_errors(home):
    void_matches(home.store, tell(home, duels("a@1", "b@1", "wwll")).name, [1, 2], reason="power cut")
    found = profile(home)
    assert [(one.line.wins, one.line.losses) for one in found.ratings] == [(0, 2)]
    assert [one.match for one in found.results] == [4, 3]
    with pytest.raises(UnknownNameError, match="unknown bot 'aa': expected one of: a@1, b@1"):
        profile(home, "aa")


def test_ratings_in_a_ladder_are_shown_round_by_round_with_a_mark_where_a_version_was_sent(home):
    fill(home, 13, "spring")
    home.store.add_bot(StoredBot("a", "1", "", ".", "2026-11-26T00:05:00+00:00"))
    model = model_of(home, "bot", bot="a")
    assert [one.round for one in model.ladders] == [2, 4, 6, 8, 10, 12, 13]
    page = checked(home, "bot", bot="a")
    assert "Upright dashes: a@1 was submitted before round 4." in page.text
    assert "round 13" in page.text
    drawn = RatingChart(model.charted_ladders["spring"], model.sent).svg()
    assert str(drawn).count("<title>a@1 was submitted (2026-11-26 00:05)</title>") == 1
    mark = '<path class="sent" stroke-dasharray="3 3" d="M18.00 0V100"'
    assert mark in drawn  # darker than the grid, at the second of seven points from 2 to 98
    assert not RatingChart(model.charted_ladders["spring"], {"a@1": "2026-11-25"}).marks


def test_a_version_is_compared_with_the_one_before_through_rivals_that_both_have_met(home):
    """The versions never met; 1 wins half of its matches against b, and 2 three quarters."""
    tell(home, duels("a@1", "b@1", "wl" * 20) + duels("a@2", "b@1", "wwwl" * 10), entrants=("a@1", "a@2", "b@1"))
    tell(home, duels("a@1", "b@1", "w" * 4), "other")
    (step,) = profile(home).steps
    assert (step.bot, step.before, step.tournament) == ("a@2", "a@1", "t")
    mu = {one.label: one.rating.mu for one in standings_of(home.store, "t").lines}
    assert step.difference == pytest.approx(mu["a@2"] - mu["a@1"])
    assert 0 < step.difference < step.margin_95 * 4
    text = page_of(home).text
    assert f"@2 is {step.difference:.1f} ± {step.margin_95:.1f} above @1" in " ".join(text.split())
    assert profile(home, "b").steps == ()


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


VERDICTS = [  # ten encounters won: 100 % ± 1.96 * sqrt(0.25 / 100) = 9.8 %
    (
        "w" * 20,
        "a is better than b: 100.0 % of the points (95 % interval: 90.2 to 100.0 %) over 10 encounters.",
        "a",
        None,
    ),
    (  # one encounter of 0.75: ± 1.96 * sqrt(0.25) = 0.98; (0.98 / 0.25)² = 15.4 times as many, so 15 more
        *(
            "wd",
            "a and b can't be told apart yet: a has 75.0 % of the points over 1 encounter, too few for an interval.",
        ),
        *(None, 15),
    ),
    (  # 1, 0.75, 0.75: ± 1.96 * sqrt((0.0417 + 0.25) / 9) = 0.353; (0.353 / 0.333)² = 1.12 times as many, so one more
        "wwwdwd",
        "a and b can't be told apart yet: a has 83.3 % of the points (95 % interval: 48.0 to 100.0 %)"
        " over 3 encounters.",
        *(None, 1),
    ),
    (
        "dd",
        "a and b can't be told apart: each has 50.0 % of the points over 1 encounter, too few for an interval.",
        None,
        None,
    ),
]


@pytest.mark.parametrize(("results", "sentence", "better", "to_go"), VERDICTS)
def test_who_is_better_is_said_or_how_many_encounters_would_do(home, results, sentence, better, to_go):
    tell(home, duels("a@1", "b@1", results))
    found = head_to_head_of(home)
    more = f" At this score, about {to_go} more encounter{'s' * (to_go > 1)} would decide." if to_go else ""
    assert found.verdict.text == sentence + more
    assert (found.better, found.encounters_to_go) == (better, to_go)
    other = head_to_head_of(home, "b", "a")
    assert (other.better, other.total.losses) == (better, results.count("w"))
    assert other.verdict.text == found.verdict.text or better is None


def test_a_game_in_which_the_other_is_better_is_named(home):
    tell(home, duels("a@1", "b@1", "w" * 60), "much")
    tell(home, duels("a@1", "b@1", "l" * 20), "little", games=("plaid",))
    assert head_to_head_of(home).verdict.text.endswith(" In plaid, b is better.")


def test_duplicates_are_counted_as_matches_only(home):
    tell(home, [(("a@1", "b@1"), (1, 2), 7)] * 6)
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


def test_the_page_of_two_is_well_formed_and_leads_on_also_if_they_have_not_met(home):
    tell(home, duels("a@1", "b@1", "wdlw"), entrants=("a@1", "b@1", "c@1"))
    page = checked(home, "versus", bot="a", rival="b@1")
    assert {link["href"] for link in page.all("a")} >= {"/bots/a", "/bots/b@1/versus/a", "/tournaments/t/matches/4"}
    (row,) = csv_rows(head_to_head_of(home).csv("games"))
    assert [row[key] for key in ("game", "wins", "draws", "score_percent")] == ["differences", "2", "1", "62.5"]
    assert "a and c have not met." in checked(home, "versus", bot="a", rival="c").text
    with pytest.raises(UnknownNameError, match="unknown bot 'd'"):
        head_to_head_of(home, "a", "d")


@contextmanager
def statements(home):
    asked = []
    engine = home.store._database._engine

    def note(_connection, _cursor, statement, *_):
        asked.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        event.remove(engine, "before_cursor_execute", note)


@pytest.mark.parametrize("matches", [2, 12])
def test_a_bot_costs_no_more_statements_the_more_matches_it_has_played(home, matches):
    tell(home, duels("a@1", "b@1", "w" * matches))
    build_bot(home, BotParameters(bot="a"))
    with statements(home) as asked:
        assert len(build_bot(home, BotParameters(bot="a")).results) == matches
    assert sum(one.startswith("SELECT") for one in asked) == 28


def test_a_match_costs_seven_statements_in_one_transaction(home):
    tell(home, duels("a@1", "b@1", "wl"))
    with statements(home) as asked:
        assert build_match(home, MatchParameters(tournament="t", match=2)).is_recorded
    assert [one.split()[0] for one in asked] == ["BEGIN", *["SELECT"] * 7]
