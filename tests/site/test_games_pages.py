import itertools
import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from pydantic import ValidationError

from arena.analysis.text import match_view as action_targets_module
from arena.analysis.text.match_view import action_targets
from arena.base.enums import FaultKind, Termination
from arena.base.errors import OptionError, UnknownNameError, UsageError
from arena.games import GAMES, make_game
from arena.lab.advice import ADVICE
from arena.site.frame.model import Parameters
from arena.site.matches import game as module
from arena.site.matches.game import build_game
from arena.site.matches.games_model import GameParameters
from arena.site.matches.positions import build_games
from arena.site.pages.results import build_matches
from arena.site.pages.results_model import MatchesParameters
from arena.site.render import rulebook_html
from arena.store.home import ArenaHome
from tests.analysis.text.tournaments import play
from tests.site.parsed import rendered, text_in, tree

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with ArenaHome(tmp_path_factory.mktemp("home")) as home:
        play(home, "external", ["alpha", "beta"], [("domineering:Domineering", {})])
        yield home


def game_page(home, **values):
    return build_game(home, GameParameters(**{"game": "differences", **values}))


def html_of(name, model, parameters):
    return tree(rendered(name, model, parameters))


def test_the_list_has_the_games_of_the_arena_and_of_tournaments_and_no_other_is_imported(home):
    listed = build_games(home, Parameters()).games
    assert [game.name for game in listed] == [*GAMES, "domineering:Domineering"]
    assert [game.players for game in listed][:3] == ["2", "2 or more", "2 or more"]
    for name, message in (("antigravity:Game", "antigravity"), ("diferences", "did you mean 'differences'")):
        with pytest.raises(UnknownNameError, match=message):
            game_page(home, game=name)
    assert game_page(home, game="domineering:Domineering").legal_count > 0


def test_a_game_that_cannot_be_loaded_says_why_in_the_list_and_on_its_page(home, monkeypatch):
    monkeypatch.setattr("arena.site.matches.positions.external_games", lambda home: ["no_such_module:Game", "Chess"])
    listed = build_games(home, Parameters())
    assert "no_such_module" in listed.games[len(GAMES)].problem
    assert "can’t be loaded here" in text_in(html_of("games", listed, Parameters()))
    for name, problem in (("no_such_module:Game", "there is no module 'no_such_module'"), ("Chess", "unknown game")):
        page = game_page(home, game=name)
        assert problem in page.problem
        shown = text_in(html_of("game", page, GameParameters(game=name)))
        assert "The rules of this game aren’t here" in shown
        assert problem in shown.replace("&#39;", "'")


def test_actions_lead_to_a_position_whose_squares_are_links_to_legal_actions(home):
    page = game_page(home, options="size=4", actions="a1 c2")
    assert page.shown.positions[-1].said == "seat 1 plays c2; scores 0 : 1; seat 0 is to act."
    assert (page.actions, page.earlier, page.refused, page.result) == ("a1 c2", "a1", "", "")
    assert [action.text for action in page.legal] == ["b3", "b4", "d3", "d4"]
    assert page.legal[0].actions == "a1 c2 b3"
    assert page.legal[0].target == ("rect", 1.03, 2.03, 0.94, 0.94, "last")
    ended = game_page(home, options="size=4", actions="a1 c2 b4 d3")  # heights 1 4 2 3 differ by 3, 2 and 1
    assert (ended.result, ended.legal, ended.legal_count) == ("seat 0 wins 3 : 2.", (), 0)
    page = game_page(home, options="size=2", actions="a1")
    (link,) = html_of("game", page, GameParameters(game="differences", options="size=2")).iter(f"{SVG}a")
    assert link.get("href") == "/games/differences?options=size%3D2&actions=a1+b2"
    assert [one.get("class") for one in link.iter(f"{SVG}rect")] == ["target"]


@pytest.mark.parametrize(
    ("actions", "action", "refused", "so_far"),
    [
        ("a1", "a3", "a3: .*rule 3", "a1"),
        ("a1", "b2", "", "a1 b2"),
        ("a1", "e9", "e9: off the board: x is 1 to 4", "a1"),
        ("a1", "<script>", "<script>: a square is written like c4", "a1"),
        ("a1 a1 b2", "", "a1: ", "a1"),
        ("a1 b2 c3 d4", "a1", "a1: the match is over", "a1 b2 c3 d4"),
    ],
)
def test_a_wrong_action_is_refused_as_the_rules_say_it(home, actions, action, refused, so_far):
    page = game_page(home, options="size=4", actions=actions, action=action)
    assert re.match(refused, page.refused) if refused else not page.refused
    assert page.actions == so_far
    assert page.refused in text_in(html_of("game", page, GameParameters(game="differences")))


def test_fields_of_the_form_are_options_and_many_actions_and_a_long_position_are_bounded(home, monkeypatch):
    given = {"game": "differences", "option_size": "6", "option_scoring": "once", "option_x": ""}
    parameters = GameParameters.model_validate(given)
    assert parameters.options == "size=6 scoring=once"
    page = build_game(home, parameters)
    assert [option.value for option in page.options] == [6, "once", 0]
    assert page.given == "size=6 scoring=once"
    with pytest.raises(ValidationError):
        GameParameters.model_validate({"game": "differences", "other": "6"})
    monkeypatch.setattr(module, "MAX_LEGAL", 5)
    monkeypatch.setattr(module, "MAX_ACTIONS_CHARACTERS", 4)
    page = game_page(home, options="size=4", actions="a1")
    assert (len(page.legal), page.legal_count) == (5, 9)
    assert [action.actions for action in page.legal] == [""] * 5
    assert "and 4 more" in text_in(html_of("game", page, GameParameters(game="differences")))
    with pytest.raises(ValidationError):
        GameParameters(game="differences", actions="a" * 6001)


@pytest.mark.parametrize(("options", "message"), [("size=101", "a whole number from 2 to 100"), ("five", "NAME=VALUE")])
def test_wrong_options_say_what_is_accepted(home, options, message):
    with pytest.raises((OptionError, UsageError), match=message):
        game_page(home, options=options)


@pytest.mark.parametrize(
    ("game", "options", "expected"),
    [
        ("hex:Hex", {"size": 2}, "polygon|disc"),
        ("dots_and_boxes:DotsAndBoxes", {}, "line"),
        ("plaid", {"width": 4, "height": 4, "lines": 2}, "rect"),
        ("coprimality", {"size": 3}, "rect"),
    ],
)
def test_actions_that_are_not_squares_have_their_place_too(game, options, expected):
    rules = make_game(game, **options)
    state = rules.initial_state()
    targets = action_targets(rules, state, rules.legal_actions(state))
    assert all(target and re.match(expected, target[0]) for target in targets)
    assert len(set(targets)) == len(targets)


def test_the_places_of_actions_are_bounded_by_work_and_not_by_time(monkeypatch):
    """A page that is made on a slow machine is the page that is verified on another."""
    rules = make_game("hex:Hex", size=3)
    state = rules.initial_state()
    legal = rules.legal_actions(state)
    clock = itertools.count(0, 3600)
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    assert all(action_targets(rules, state, legal))
    monkeypatch.setattr(action_targets_module, "MAX_SHAPES", 1)
    first, *others = action_targets(rules, state, legal)
    assert first is not None
    assert others == [None] * (len(legal) - 1)


def test_rules_for_people_are_on_the_pages_of_the_five_games_with_their_score(home):
    page = game_page(home, game="multiplication")
    advice = ADVICE["multiplication"]
    assert page.advice == tuple(line.text for line in advice.lines.values())
    shown = text_in(html_of("game", page, GameParameters(game="multiplication")))
    assert all(line in shown for line in page.advice)
    assert advice.known in shown
    assert "size=7 after 2 random actions" in " ".join(shown.split())
    for score in page.advice_scores:
        assert f"{100 * score.kept / score.matches:.1f} %" in shown
        assert score.low <= score.kept / score.matches <= score.high
    external = game_page(home, game="domineering:Domineering")
    assert (external.advice, external.advice_scores) == ((), ())
    assert "Rules for people" not in text_in(html_of("game", external, GameParameters(game="domineering:Domineering")))


def test_a_rulebook_is_paragraphs_and_numbered_rules():
    rules = "Go: ``<b>`` & more.\n\n1. First\n   rule.\n2. Second ``x``.\n\nThe end\u202e."
    assert str(rulebook_html(rules)) == (
        "<p>Go: <code>&lt;b&gt;</code> &amp; more.</p>\n"
        '<ol class="rules">\n<li value="1">First rule.</li>\n<li value="2">Second <code>x</code>.</li>\n</ol>\n'
        "<p>The end\\u202e.</p>"
    )


HOSTILE = "<img src=x onerror=alert(1)>\u202e]]>"


@pytest.fixture(scope="module")
def played_home(tmp_path_factory):
    with ArenaHome(tmp_path_factory.mktemp("home")) as played_home:
        play(played_home, "league", ["alpha", "beta", "gamma"], encounters=2)
        play(played_home, "forfeits", ["alpha", HOSTILE, "=cmd()"], failing=[HOSTILE], encounters=4)
        play(played_home, "games", ["alpha", "beta"], [("differences", {"size": 5}), ("plusminus", {"size": 4})])
        yield played_home


def page_of(played_home, **values):
    return build_matches(played_home, MatchesParameters(**{"tournament": "league", "limit": 5, **values}))


def html_of_matches(played_home, **values):
    parameters = MatchesParameters(**{"tournament": "league", "limit": 5, **values})
    return tree(rendered("matches", build_matches(played_home, parameters), parameters))


def numbers(page):
    return [match.match for match in page.matches]


def walk(played_home, name, **values):
    pages, query = [], {}
    for _ in range(50):
        found = html_of_matches(played_home, **values, **query)
        table = next(found.iter("tbody"), None)
        pages.append([int(text_in(row[0]).replace(",", "")) for row in table] if table is not None else [])
        links = [one.get("href") for one in found.iter("a") if one.get("rel") == name]
        if not links:
            return pages
        query = {key: value for key, value in parse_qsl(urlsplit(links[0]).query) if key in ("before", "after")}
    raise AssertionError("the links never end")


def test_pages_of_matches_lead_on_and_back_and_have_those_that_are_asked_for(played_home):
    """Three bots, two encounters of two matches each: 12 matches."""
    assert walk(played_home, "next") == [[12, 11, 10, 9, 8], [7, 6, 5, 4, 3], [2, 1]]
    assert walk(played_home, "prev", before=3) == [[2, 1], [7, 6, 5, 4, 3], [12, 11, 10, 9, 8]]
    of_alpha = [match for page in walk(played_home, "next", bot="alpha") for match in page]
    of_both = [match for page in walk(played_home, "next", bot="alpha", rival="beta") for match in page]
    seats = {record.match: record.bots for record in played_home.store.records("league")}
    assert of_alpha == [match for match in range(12, 0, -1) if "alpha@1" in seats[match]]
    assert of_both == [match for match in range(12, 0, -1) if set(seats[match]) == {"alpha@1", "beta@1"}]
    assert (len(of_alpha), len(of_both)) == (8, 4)
    empty = dict.fromkeys(("termination", "fault", "before", "after", "bot", "rival", "game"), "")
    assert numbers(page_of(played_home, **empty)) == [12, 11, 10, 9, 8], "empty fields of the form do not count"
    assert {match.game for match in page_of(played_home, tournament="games", game="plusminus").matches} == {"plusminus"}
    forfeits = page_of(played_home, tournament="forfeits", termination=Termination.FORFEIT).matches
    assert forfeits
    assert {match.termination for match in forfeits} == {Termination.FORFEIT}
    assert page_of(played_home, tournament="forfeits", fault=FaultKind.PROTOCOL).matches == forfeits
    assert page_of(played_home, tournament="forfeits", fault=FaultKind.TIMEOUT).matches == ()


def test_a_row_says_who_sat_where_and_how_it_ended_and_rows_are_harmless_csv(played_home):
    record = played_home.store.record_of("league", 12)
    row = next(html_of_matches(played_home).iter("tbody"))[0]
    cells = [text_in(cell) for cell in row]
    assert cells[0] == "12"
    assert cells[1] == " – ".join(bot.partition("@")[0] for bot in record.bots)
    assert cells[2] == " : ".join(str(score) for score in record.scores)
    assert cells[3] == ("draw" if record.ranks == (1, 1) else "win")
    assert cells[4] == "5"
    assert row[0][0].get("href") == "/tournaments/league/matches/12"
    lines = page_of(played_home, tournament="forfeits").csv().splitlines()
    assert lines[0] == "match,encounter,round,game,bots,scores,ranks,plies,termination,faults,started_at"
    assert len(lines) == 6
    assert not any(re.search("[\u202e\x1b]|(^|,)[=+@-]", line) for line in lines[1:])
    assert numbers(page_of(played_home, limit=1000)) == list(range(12, 0, -1))
    assert numbers(page_of(played_home, limit=1000, before=4)) == [3, 2, 1]
    for limit in (0, 1001):
        with pytest.raises(ValidationError, match="limit"):
            page_of(played_home, limit=limit)


def test_a_forfeit_is_said_in_words(played_home):
    (match, *_) = page_of(played_home, tournament="forfeits", termination=Termination.FORFEIT).matches
    row = next(html_of_matches(played_home, tournament="forfeits", termination="forfeit").iter("tbody"))[0]
    fault = match.faults[0]
    assert text_in(row[3]) == f"forfeit: <img src=x onerror=alert(1)>\\u202e]]> protocol at ply {fault.ply}"
    assert list(html_of_matches(played_home, tournament="forfeits").iter("img")) == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"fault": "late"}, "'start', 'exit', 'timeout', 'protocol', 'illegal' or 'limit'"),
        ({"termination": "lost"}, "'normal', 'forfeit', 'adjudication' or 'void'"),
        ({"before": "-1"}, "a whole number in digits"),
        ({"after": str(2**31)}, "less than or equal to 2147483647"),
        ({"bot": "a" * 201}, "at most 200"),
        ({"sort": "x"}, "not permitted"),
    ],
)
def test_a_wrong_filter_says_what_is_accepted(values, message):
    with pytest.raises(ValidationError, match=message):
        MatchesParameters(tournament="league", **values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"bot": "alhpa"}, "did you mean 'alpha'"),
        ({"game": "difference"}, "'difference': .*differences"),
        ({"tournament": "leage"}, "did you mean 'league'"),
    ],
)
def test_an_unknown_name_leads_to_the_nearest(played_home, values, message):
    with pytest.raises(UnknownNameError, match=message):
        page_of(played_home, **values)
