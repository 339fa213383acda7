"""Games with one mistake each: which check names it, and the shortest line of play that shows it.

The check and the line of each were written by hand, from what the class in tests/games/planted.py does.
"""

import functools
import inspect
import random

import pytest

from arena.base.errors import ArenaError
from arena.games import GAMES
from arena.games.conformance import CHECKS, check
from arena.match.check.rules import check_rules
from arena.match.check.rules_process import RulesCheck
from tests import mistaken_games
from tests.games import planted, rule_mistakes
from tests.games.claims import Claims

PLANTED = {
    "ApplyRaises": ("apply", "a1, c1", "apply raised KeyError: 'missing' (planted.py:"),
    "ApplyReturnsNone": ("apply", "a1, b1, c1, d1", "apply returned None"),
    "ApplyHangs": ("apply", "a1, b1", "apply did not return within 0.2 s"),
    "ApplyExits": ("apply", "a1", "apply raised SystemExit: 3 (planted.py:"),
    "RefusesLegal": ("apply", "d1, b1", "apply refused (2, 1) (b1 is closed), which is among the legal actions"),
    "RefusesLists": ("apply", "a1", "apply refused [1, 1] (expected a tuple)"),
    "MissingLegal": ("refusal", "a1", "apply accepted (4, 1), which is not among the legal actions"),
    "LegalNowhere": ("refusal", "", "apply accepted 'pass', which is not among the legal actions"),
    "AcceptsNonsense": ("refusal", "", "apply accepted (1.0, 1.0)"),
    "NonsenseRaisesTypeError": ("refusal", "", "for None; expected IllegalActionError, for values of any type"),
    "AcceptsAfterTheEnd": ("refusal", "a1, b1, c1, d1", "apply accepted None after the end of the match"),
    "LegalAfterTheEnd": ("seats", "a1, b1, c1, d1", "nobody is to act, yet there are legal actions"),
    "IteratorOfActions": ("legal_actions", "", "of the type list_iterator; expected a list or a tuple"),
    "SetOfActions": ("legal_actions", "", "of the type set; expected a list or a tuple"),
    "UnstableOrder": ("legal_actions", "", "for the same state; expected one order"),
    "TwiceTheSameAction": ("legal_actions", "", "legal_actions has (1, 1) 2 times"),
    "ActionNotMsgpack": ("legal_actions", "", "a legal action is (1+1j), of the type complex"),
    "ActionIsAList": ("legal_actions", "", "the legal action [1, 1] is not hashable"),
    "SeatOutOfRange": ("seats", "a1", "seat_to_act returned 2; expected None or a whole number from 0 to 1"),
    "SeatWithoutAction": ("seats", "a1, b1, c1, d1", "seat 0 is to act without legal actions"),
    "SeatRaises": ("seats", "b1", "seat_to_act raised IndexError"),
    "IsOverDisagrees": ("seats", "a1, b1, c1", "is_over returned True, although seat_to_act returned 1"),
    "OverAtOnce": ("initial_state", "", "the match is over before the first action"),
    "InitialStateRaises": ("initial_state", "", "initial_state raised KeyError: 'sise' (planted.py:"),
    "NeverEnds": ("end", "a1, b1, c1, d1", "had not ended after 300 plies; after 4 plies the state is the same as"),
    "ScoreIsNaN": ("scores", "", "scores returned (nan, nan); expected 2 finite numbers"),
    "ScoreForTwoOnly": ("scores", "", "expected a tuple with 3 numbers, one per seat"),
    "BoolScores": ("scores", "", "True is of the type bool; expected int or float"),
    "ScoresRaise": ("scores", "", "scores raised ZeroDivisionError: division by zero (planted.py:"),
    "DenseRanks": ("ranks", "a1, b1", "ranks returned (1, 1, 2)"),
    "ObservationTooLarge": ("observation", "", "bytes on the wire; a message has at most 1,048,576"),
    "TupleAsKey": ("observation", "", "observation['by_square'] has the key (1, 1); keys are texts"),
    "SetInObservation": ("observation", "", "observation['empty'] is {0, 1, 2, 3}, of the type set"),
    "InfiniteObservation": ("observation", "", "observation['best'] is -inf; numbers are finite"),
    "ObservationLosesTheSeat": (
        "restoring",
        "a1",
        "state_from_observation returned ClaimsState(owners=(0, -1, -1, -1)",
    ),
    "RestoresLists": ("restoring", "", "state_from_observation returned ClaimsState(owners=[-1, -1, -1, -1]"),
    "UnhashableState": ("states", "", "hash of a state raised TypeError: unhashable type: 'list'"),
    "MutableState": ("states", "", "the attribute 'owners' of the state can be assigned to"),
    "ChangesItsArgument": ("states", "a1", "apply changed the state that it was given"),
    "IdentityStates": ("states", "", "the same line of play leads to states that are not equal"),
    "HiddenRandomness": ("repeatability", "b1", "apply led to two different states from the same one"),
    "GlobalCounter": ("repeatability", "", "scores returned (0, 1), then (2, 3) for the same state"),
    "ClockInTheRules": ("repeatability", "", "for the same state"),
    "StateInTheGame": ("repeatability", "", "the same line of play led to another position"),
    "FormatAndParseDiffer": ("text", "", "parse_action returned (2, 1) for 'b1', which format_action returned for"),
    "ParseAcceptsAnything": ("text", "", "parse_action returned '' for the text ''; expected IllegalActionError"),
    "ParseRaisesValueError": ("text", "", "parse_action raised IndexError"),
    "RenderRaises": ("render", "a1, b1, c1, d1", "render raised ValueError"),
    "RenderIsNoText": ("render", "", "of the type list; expected text"),
    "ColouredBoard": ("render", "", "render returned text with the control character '\\x1b'"),
    "RenderAfterNeedsTuples": ("render", "a1", "render_after raised TypeError: unhashable type: 'list'"),
    "DrawingWithoutSize": ("drawing", "", "drawing has the width nan and the height 1"),
    "UnknownShape": ("drawing", "", "drawing: the shape ('circle', 0.5, 0.5, 0.3, 'mark') is not a tuple that"),
    "SpaceLacksAnAction": ("space", "", "the actions of space lack (4, 1), which is legal"),
    "SpaceGrows": ("space", "a1", "encode of space returned 1 numbers, and 0 for the initial state"),
    "WithdrawKeepsTheSeat": ("elimination", "", "after withdraw took out seat 0, the same seat is to act"),
    "WithdrawSometimes": ("elimination", "a1, b1, c1", "withdraw returns a state in one position and None in another"),
    "SeatsOutTwice": ("elimination", "", "seats_out returned (0, 0), with the same seat twice"),
    "SeatsComeBack": ("elimination", "(seat taken out)", "seats_out returned (1,); expected (0, 1)"),
    "MorePlayersThanSeats": ("initial_state", "", "initial_state raised KeyError: 4"),
    "OnePlayer": ("attributes", "", "the option 'players' accepts 1; a match has at least 2 players"),
    "ThreeByDecree": ("attributes", "", "the attribute players is 3; expected 2, as there is no option players"),
    "BoundCrashes": ("options", "", "making it with players = 2, size = 6, scoring = 'all' raised IndexError"),
    "ChoiceCrashes": ("scores", "", "scores raised AttributeError"),
    "OptionsOfAnotherType": ("attributes", "", "OPTIONS is {'size': 4}; expected a tuple of IntOption and"),
    "DefaultNotAccepted": ("attributes", "", "the option 'colour' does not accept its own default"),
    "AnyOption": ("options", "", "no_such_option = 1 is accepted; expected OptionError"),
    "NoSummary": ("attributes", "", "the attribute summary is ''; expected a line of text"),
    "StateNotPicklable": ("pickling", "", "pickling a state raised AttributeError"),
}

OPTIONS = {
    "ScoreForTwoOnly": {"players": 3, "size": 4, "scoring": "all"},
    "MorePlayersThanSeats": {"players": 4, "size": 4, "scoring": "all"},
    "ChoiceCrashes": {"players": 2, "size": 4, "scoring": "ends"},
}
"""Of the mistakes that need other options than the defaults: these."""


class Caching(Claims):
    """The game without mistakes, with a cache in the game object, which can't be pickled itself."""

    def prepare(self):
        self.scores = functools.lru_cache(super().scores)


def found_in(kind):
    random.seed(1)  # some of the mistakes draw from it
    return check(kind, matches=6, max_plies=300, call_seconds=0.2 if kind is planted.ApplyHangs else 30.0)


@pytest.mark.parametrize("kind", [Claims, Caching])
def test_a_game_without_mistakes_passes_also_with_a_cache_made_in_prepare(kind):
    assert found_in(kind) == ()


@pytest.mark.slow
def test_a_game_named_by_its_path_may_read_any_digits_as_a_number():
    """``parse_action`` of this one is ``int``, and ``apply`` refuses what is too high."""
    assert check("tests.mistaken_games:Counting", matches=6) == ()


DEAR = """
AnyOption ApplyHangs BoolScores BoundCrashes ChoiceCrashes ColouredBoard DenseRanks DrawingWithoutSize
FormatAndParseDiffer InfiniteObservation MorePlayersThanSeats MutableState NeverEnds NoSummary
NonsenseRaisesTypeError ObservationLosesTheSeat ParseAcceptsAnything ParseRaisesValueError RenderIsNoText
RenderRaises RestoresLists ScoreForTwoOnly ScoreIsNaN ScoresRaise SeatWithoutAction SeatsComeBack SeatsOutTwice
SpaceGrows SpaceLacksAnAction StateNotPicklable TupleAsKey UnhashableState UnknownShape WithdrawKeepsTheSeat
WithdrawSometimes
"""


@pytest.mark.slow(only=DEAR.split())
@pytest.mark.parametrize("name", PLANTED)
def test_a_mistake_is_named_by_one_check_with_the_shortest_line_of_play(name):
    expected, line_text, message = PLANTED[name]
    (finding,) = found_in(getattr(planted, name))
    assert (finding.check, finding.line_text) == (expected, line_text)
    assert message in finding.sentence
    assert len(finding.line) == (line_text.count(",") + 1 if line_text else 0)
    assert str(finding).startswith(f"the game 'tests.games.planted:{name}' is at fault ({expected}): ")
    if name in OPTIONS:
        assert finding.options == OPTIONS[name]


@pytest.mark.parametrize(
    ("name", "expected", "message"),
    [
        ("SeatCannotBeShown", "seats", "<Unshowable>"),
        ("ScoreIsNoFloat", "scores", "64 bits"),
        pytest.param(
            "ObservationIsTooDeep",
            "repeatability",
            "a value of the game can't be examined: that raised RecursionError",
            marks=pytest.mark.slow,
        ),
        ("ApplyRaisesNoException", "apply", "StrangeError: <exception str() failed>"),
        ("PathRaises", "path", "path raised tests.mistaken_games.StrangeError"),
    ],
)
def test_a_value_that_a_check_itself_fails_on_is_a_mistake_too(name, expected, message):
    found = check(getattr(mistaken_games, name), matches=2)
    assert [message in finding.sentence for finding in found if finding.check == expected] == [True]


def test_every_planted_mistake_is_tried_and_every_check_names_one():
    games = {name for name, kind in vars(planted).items() if inspect.isclass(kind) and issubclass(kind, Claims)}
    assert games - {"Claims"} == set(PLANTED)
    assert {expected for expected, _, _ in PLANTED.values()} | {"path"} == set(CHECKS)
    assert len(PLANTED) >= 30


def test_a_class_that_other_processes_cannot_find_is_named():
    path, pickling = found_in(planted.local_class())
    assert (path.check, pickling.check) == ("path", "pickling")
    assert "can't be evaluated: game 'tests.games.planted:local_class.<locals>.Hidden'" in path.sentence


MISTAKEN = [
    name
    for name, kind in vars(mistaken_games).items()
    if inspect.isclass(kind) and issubclass(kind, mistaken_games.Counting) and name != "Counting"
]
REPLACED = rule_mistakes.mistakes()
RIGHT = {f"{file.stem}:{kind}": given for file, kind, given in list(rule_mistakes.GAMES.values())[:4]}
MISSED = 0.05
"""The share that may be missed."""


def finds(path, given):
    try:
        steps = list(check_rules(RulesCheck(game=path, given=given, within_seconds=10.0)))
    except ArenaError as error:
        return str(error)
    return next((f"{step.check}: {step.detail}" for step in steps if not step.is_passed), "")


@pytest.mark.soak
def test_nineteen_of_twenty_mistakes_are_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    missed = [name for name in MISTAKEN if not check(getattr(mistaken_games, name), matches=6, call_seconds=2.0)]
    for path, (game, text) in REPLACED.items():
        (tmp_path / f"{path.partition(':')[0]}.py").write_text(text)
        found = finds(path, rule_mistakes.GAMES[game][2])
        print(path, found[:150])
        missed += [path] * (not found)
    tried = len(PLANTED) + len(MISTAKEN) + len(REPLACED)  # the planted ones have a test each
    assert tried >= 120
    assert len(missed) <= MISSED * tried, missed


@pytest.mark.soak
@pytest.mark.parametrize("path", [*GAMES, *RIGHT])
def test_games_without_mistakes_pass(path, monkeypatch):
    monkeypatch.syspath_prepend(str(rule_mistakes.ROOT / "docs" / "examples"))
    assert finds(path, RIGHT.get(path, ())) == ""
