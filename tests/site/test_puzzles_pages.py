import re
from dataclasses import replace

import html5lib
import pytest

from arena.base.errors import NothingYetError, StoreError, UnknownNameError
from arena.lab.matches.puzzle import keep_puzzles, puzzle_of_the_day
from arena.lab.oracle import Oracle
from arena.site.matches.game import build_puzzle, build_puzzles, build_today
from arena.site.matches.games_model import PuzzleParameters, PuzzlesParameters, TodayParameters
from arena.site.pages.tournament import build_tournament
from arena.site.pages.tournament_model import TournamentParameters
from arena.site.publish.one_file import puzzles_file
from arena.store.home import ArenaHome
from tests.analysis.text.tournaments import play
from tests.lab.made_puzzles import longer_puzzle, made_puzzle
from tests.site.parsed import model_of, rendered, tree

(LATER,) = longer_puzzle().line
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with ArenaHome(tmp_path_factory.mktemp("home")) as home:
        tournament = play(home, "league", ["alpha", "beta"])
        play(home, "empty", ["alpha", "beta"])
        keep_puzzles(home.directory, play(home, "lines", ["alpha", "beta"]), [longer_puzzle()])
        keep_puzzles(home.directory, tournament, [made_puzzle(), made_puzzle(bot=f"{HOSTILE}@1")])
        yield home


@pytest.fixture(autouse=True)
def no_oracle(monkeypatch):
    def refuse(*_):
        pytest.fail("the site asked an oracle")

    monkeypatch.setattr(Oracle, "worth", refuse)


def puzzle_page(home, **values):
    return build_puzzle(home, PuzzleParameters(**{"tournament": "league", "puzzle": 1, **values}))


def html_of(name, model, parameters):
    html = rendered(name, model, parameters)
    tree(html)
    return html


def test_a_tournament_leads_to_its_puzzles_and_the_list_to_each(home):
    parameters = PuzzlesParameters(tournament="league")
    page = build_puzzles(home, parameters)
    found = [(one.puzzle, one.seat, one.goal, one.choices, one.missed, one.met) for one in page.puzzles]
    assert found == [(1, 1, "win", 16, 1, 3), (2, 1, "win", 16, 1, 3)]
    html = html_of("puzzles", page, parameters)
    assert '<a href="/tournaments/league/puzzles/2">seat 1 to act and win</a>' in html
    assert "b2" not in html
    without = PuzzlesParameters(tournament="empty")
    assert "arena lab puzzles empty" in html_of("puzzles", build_puzzles(home, without), without)
    play(home, "unsought", ["alpha", "beta"])
    for name, has_link in (("league", True), ("unsought", False)):
        parameters = TournamentParameters(tournament=name)
        html = html_of("tournament", build_tournament(home, parameters), parameters)
        assert (f'href="/tournaments/{name}/puzzles"' in html) == has_link


def test_before_a_try_nothing_tells_the_solution_from_other_actions(home):
    page = puzzle_page(home)
    assert (page.verdict, page.is_solved, page.answer) == ("", False, None)
    parameters = PuzzleParameters(tournament="league", puzzle=1)
    plain = re.sub("/static/[0-9a-f]+/", "/static/", html_of("puzzle", page, parameters))
    html = plain
    for text in ("b2", "b3"):
        html = html.replace(text, "THERE")
    assert html == plain.replace("b3", "b2").replace("b2", "THERE")
    assert html.count("THERE") == 6  # a choice and a place on the board with its address and title, for each of the two
    assert "match 1" not in html  # which goes on with what the bot played
    assert not any(word in page.model_dump_json() for word in ('"loss"', '"draw"', "alpha"))


SENTENCE = "Seat 1: b2, seat 0: c3, seat 1: d4 – and seat 1 wins by 3 with best play."


@pytest.mark.parametrize(
    ("action", "is_solved", "verdict"),
    [
        (" b2 ", True, "Solved: with b2, seat 1 wins, and with no other action."),
        ("c3", False, "Not c3: after it, seat 1 draws with best play."),
        (HOSTILE, False, f"{HOSTILE} is no legal action here."),
    ],
)
def test_a_try_is_judged(home, action, is_solved, verdict):
    page = puzzle_page(home, action=action)
    assert (page.is_solved, page.verdict, page.answer is not None) == (is_solved, verdict, is_solved)
    html = html_of("puzzle", page, PuzzleParameters(tournament="league", puzzle=1, action=action))
    assert ('role="status"' in html, HOSTILE in html) == (True, False)


@pytest.mark.parametrize(
    ("action", "found", "verdict"),
    [
        ("b2", "b2", "b2 is right. Seat 0 answers c3, and seat 1 is to act again."),
        ("b2 d4", "b2 d4", f"Solved. {SENTENCE}"),
        (" b2   d4 e5", "b2 d4", f"Solved. {SENTENCE}"),
        ("b2 d5", "b2", "Not d5: seat 0 answers e4, which ends the match, and seat 1 loses."),
        ("b2 c3", "b2", "c3 is no legal action here."),
        ("c3", "", "Not c3: seat 0 answers b2, and then seat 1 draws with best play."),
        ("b3 d4", "", "b3 d4 is no legal action here."),
        ("x " * 300, "", f"{('x ' * 300)[:79]}… is no legal action here."),
    ],
)
def test_a_line_is_played_turn_by_turn(home, action, found, verdict):
    page = puzzle_page(home, tournament="lines", action=action)
    assert (page.found, page.verdict, page.is_solved) == (found, verdict, found == "b2 d4")
    assert page.shown.positions[-1].ply == {"": 1, "b2": 3, "b2 d4": 4}[found]
    html = html_of("puzzle", page, PuzzleParameters(tournament="lines", puzzle=1, action=action))
    assert ('<option value="b2 d4">d4</option>' in html) == (found == "b2")
    assert ("Theme: quiet" in html, SENTENCE in html) == (page.is_solved, page.is_solved)


def test_the_answer_has_the_solution_or_the_line_its_refutations_and_its_theme(home):
    answer = puzzle_page(home, tournament="lines", answer=True).answer
    assert answer.line == SENTENCE
    refuted = [(turn.solution, [(one.action, one.reply) for one in turn.refutations]) for turn in answer.turns]
    assert refuted == [("b2", [("c3", "b2")]), ("d4", [("d5", "e4"), ("e4", "d5")])]
    page = build_puzzles(home, PuzzlesParameters(tournament="lines"))
    assert [(one.plies, one.theme) for one in page.puzzles] == [(3, "quiet")]
    assert f"<b>{SENTENCE}</b>" in puzzles_file(home, page)
    page = puzzle_page(home, puzzle=2, answer=True)
    assert (page.answer.solution, page.answer.wins, page.answer.loses) == ("b2", ("b2",), ())
    assert len(page.answer.draws) == 15
    html = html_of("puzzle", page, PuzzleParameters(tournament="league", puzzle=2, answer=True))
    assert "/tournaments/league/matches/1?ply=1" in html
    assert HOSTILE not in html


def test_what_is_not_there_is_not_found(home):
    for values in ({"puzzle": 3}, {"tournament": "empty"}, {"tournament": "none"}):
        with pytest.raises(UnknownNameError):
            puzzle_page(home, **values)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"actions": ([1, [1, 1]],)}, "seat 1 acts, but is not to act"),
        ({"actions": ([0, [9, 9]],)}, "puzzle 1: "),
        ({"actions": ([0, [2, 1]],)}, "its choices are not the legal actions"),
        ({"line": (replace(LATER, reply="c2"),)}, "c2 is not legal in its line"),
        ({"line": (LATER, LATER)}, "c3 is not legal in its line"),
        ({"game": "this:That"}, "this:That"),  # no module is imported that no tournament plays
    ],
)
def test_a_puzzle_that_contradicts_the_rules_is_refused(home, changed, message):
    keep_puzzles(home.directory, home.store.tournament("empty"), [made_puzzle(**changed)])
    try:
        with pytest.raises(UnknownNameError if "game" in changed else StoreError, match=message):
            puzzle_page(home, tournament="empty")
    finally:
        keep_puzzles(home.directory, home.store.tournament("empty"), [])


def test_one_file_has_all_puzzles_and_loads_nothing(home):
    html = puzzles_file(home, build_puzzles(home, PuzzlesParameters(tournament="league")))
    html5lib.HTMLParser(strict=True).parse(html)
    assert html.count("<details><summary>Solution of puzzle ") == 2
    assert "default-src 'none'" in html
    assert "<script" not in html
    assert html.count("href=") == html.count('href="#')


def test_the_puzzle_of_the_day_is_the_same_for_everybody_and_stays_for_the_day(tmp_path):
    with ArenaHome(tmp_path) as home:
        leagues = [play(home, name, ["alpha", "beta"]) for name in ("first", "second")]
        with pytest.raises(NothingYetError, match="arena lab puzzles TOURNAMENT"):
            build_today(home, TodayParameters())
        assert not model_of(home, "overview").may_have_puzzles
        for league in leagues:
            keep_puzzles(home.directory, league, [])
        assert not model_of(home, "overview").may_have_puzzles  # so it doesn't lead to a page that is not there
        for league in leagues:
            keep_puzzles(home.directory, league, [made_puzzle(met=number) for number in range(3, 13)])
        assert model_of(home, "overview").may_have_puzzles
        stored = home.store.tournaments()
        days = [f"2026-01-{day:02}" for day in range(1, 32)]
        found = {day: puzzle_of_the_day(home.directory, stored, day) for day in days}
        assert len({(of.name, daily.number) for of, daily in found.values()}) > 10
        assert all(daily.puzzles[0].met == daily.number + 2 for _, daily in found.values())
        assert {day: puzzle_of_the_day(home.directory, stored[::-1], day) for day in days} == found
        of, daily = puzzle_of_the_day(home.directory, stored, days[0])
        keep_puzzles(home.directory, of, [made_puzzle(met=99)])
        assert puzzle_of_the_day(home.directory, stored, days[0]) == (of, daily)
        home.store.delete(of)
        (other,) = home.store.tournaments()
        assert puzzle_of_the_day(home.directory, [other], days[0])[0] == other
        (home.directory / "puzzles" / "today.json").write_text("[" * 100_000)
        page = build_today(home, TodayParameters(action="b2"))
        assert (page.tournament, page.is_solved) == (other.name, True)
        html = html_of("today", build_today(home, TodayParameters(action="c3")), TodayParameters(action="c3"))
        assert 'href="/puzzles/today?action=b2#try"' in html
