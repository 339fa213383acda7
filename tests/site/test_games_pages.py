import itertools
import re

import pytest
from pydantic import ValidationError

from arena.analysis.text import match_view as action_targets_module
from arena.analysis.text.match_view import action_targets
from arena.base.errors import OptionError, UnknownNameError, UsageError
from arena.games import GAMES, make_game
from arena.lab.advice import ADVICE
from arena.site.frame.model import Parameters
from arena.site.matches import game as module
from arena.site.matches.game import build_game
from arena.site.matches.games_model import GameParameters
from arena.site.matches.positions import build_games
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
    tree = html_of("game", page, GameParameters(game="differences", options="size=2"))
    (link,) = tree.iter(f"{SVG}a")
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
