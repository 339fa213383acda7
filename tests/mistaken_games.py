"""Games with one mistake each, all made from a correct one: two seats count up in turns until a number is reached."""

import functools
import math
import sys

from arena.base.errors import IllegalActionError, VoidMatchError
from arena.games import Game, IntOption, refuse_when_over


class Counting(Game):
    """Each seat adds 1 or 2; who reaches the goal has won. A state is the pair of the sum and the seat to act."""

    name = "counting"
    summary = "Add 1 or 2; who reaches the goal has won."
    OPTIONS = (IntOption("goal", 9, 1, 10_000, "the sum that wins"),)
    action_format = "1 or 2"

    def initial_state(self):
        return (0, 0)

    def seat_to_act(self, state):
        return state[1] if state[0] < self.options["goal"] else None

    def legal_actions(self, state):
        return [1, 2] if self.seat_to_act(state) is not None else []

    def apply(self, state, action):
        if self.seat_to_act(state) is None:
            raise refuse_when_over(action)
        if type(action) is not int or action not in (1, 2):
            raise IllegalActionError(action, "add 1 or 2")
        return (state[0] + action, 1 - state[1])

    def scores(self, state):
        if self.seat_to_act(state) is not None:
            return (0, 0)
        return (0, 1) if state[1] == 0 else (1, 0)

    def observation(self, state):
        return {"sum": state[0], "seat": state[1]}

    def state_from_observation(self, observation):
        return (observation["sum"], observation["seat"])

    def parse_action(self, text):
        try:
            return int(text)
        except ValueError as error:
            raise IllegalActionError(text, "expected 1 or 2") from error

    def format_action(self, action):
        return str(action)

    def render(self, state):
        return f"sum {state[0]}"


class StrangeError(BaseException):
    """What few programs expect: it is no Exception, and has no text."""

    def __str__(self):
        raise ValueError("no text")


class Unshowable:
    def __repr__(self):
        raise ValueError("no repr")


def throw(error):
    raise error


def nested(levels):
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value


class ObservationContainsItself(Counting):
    def observation(self, state):
        observation = {"sum": state[0]}
        observation["again"] = observation
        return observation


class WithdrawRaises(Counting):
    OPTIONS = (*Counting.OPTIONS, IntOption("players", 3, 2, 4, "seats"))

    def scores(self, state):
        return tuple(range(self.players))

    def withdraw(self, state):
        raise NotImplementedError("no elimination yet")


class DrawsOnTheTerminal(Counting):
    action_format = "1 or \x1b]0;2\x07"

    def render(self, state):
        return f"\x1b[2Jsum {state[0]}"

    def format_action(self, action):
        return f"{action}\x1b[8m"


class ApplyIsCached(Counting):
    """The state is a list, which no cache takes; the error comes from a function in C, without a frame of the game."""

    apply = functools.lru_cache(Counting.apply)

    def initial_state(self):
        return [0, 0]


class Endless(Counting):
    def seat_to_act(self, state):
        return state[1]

    def apply(self, state, action):
        return (0, 1 - state[1])


WRONG = {
    "PathRaises": ("path", classmethod(lambda cls: throw(StrangeError()))),
    "SeatIsStaticAndRaises": ("seat_to_act", staticmethod(lambda state: {0: 0, 1: 1}[state[0]])),
    "ApplyRaises": ("apply", lambda self, state, action: {0: Counting.apply(self, state, action)}[state[0] // 4]),
    "ApplyChokesOnNonsense": ("apply", lambda self, state, action: Counting.apply(self, state, {1: 1, 2: 2}[action])),
    "SeatRaises": ("seat_to_act", lambda self, state: Counting.seat_to_act(self, state if state[0] < 4 else None)),
    "ApplyExits": ("apply", lambda self, state, action: sys.exit(3)),
    "ActionsRaise": (
        "legal_actions",
        lambda self, state: Counting.legal_actions(self, state) if 12 // (state[0] - 4) else [],
    ),
    "ApplyRaisesNoException": ("apply", lambda self, state, action: throw(StrangeError())),
    "ApplyRaisesAnErrorOfTheArena": (
        "apply",
        lambda self, state, action: throw(VoidMatchError("the machine has no memory")),
    ),
    "InitialStateRaises": ("initial_state", lambda self: throw(RuntimeError("no board"))),
    "PrepareRaises": ("prepare", lambda self: throw(ZeroDivisionError("goal"))),
    "RenderRaises": ("render", lambda self, state: throw(IndexError(state[0]))),
    "ApplyRefusesALegalAction": (
        "apply",
        lambda self, state, action: (
            throw(IllegalActionError(action, "no more")) if state[0] > 3 else Counting.apply(self, state, action)
        ),
    ),
    "SeatCannotBeShown": ("seat_to_act", lambda self, state: Unshowable()),
    "ActionIsTooDeep": ("legal_actions", lambda self, state: [nested(16)]),
    "NoActions": ("legal_actions", lambda self, state: [] if state[0] > 3 else Counting.legal_actions(self, state)),
    "SeatTooHigh": ("seat_to_act", lambda self, state: 2 if state[0] == 4 else Counting.seat_to_act(self, state)),
    "SeatNegative": ("seat_to_act", lambda self, state: -1 if state[0] == 4 else Counting.seat_to_act(self, state)),
    "ScoreIsNoNumber": ("scores", lambda self, state: (math.nan, 0) if self.is_over(state) else (0, 0)),
    "ScoreIsInfinite": ("scores", lambda self, state: (math.inf, 0)),
    "ThreeScores": ("scores", lambda self, state: (0, 0, 0)),
    "ScoresAreTexts": ("scores", lambda self, state: ("won", "lost")),
    "ScoreIsHuge": ("scores", lambda self, state: (2**64, 0)),
    "ScoreIsNoFloat": ("scores", lambda self, state: (10**400, 0)),
    "ScoresAreOneNumber": ("scores", lambda self, state: 1),
    "RanksBeginAtZero": ("ranks", lambda self, state: (0, 1)),
    "RanksSkipTheBest": ("ranks", lambda self, state: (2, 2)),
    "RanksAreFloats": ("ranks", lambda self, state: (1.0, 2.0)),
    "ObservationHasATupleAsKey": ("observation", lambda self, state: {"sums": {(0, 1): state[0]}}),
    "ObservationIsASet": ("observation", lambda self, state: {"sums": {1, 2}}),
    "ObservationIsAList": ("observation", lambda self, state: [state[0]]),
    "ObservationIsTooDeep": ("observation", lambda self, state: {"sums": nested(200_000)}),
    "ObservationIsTooLarge": ("observation", lambda self, state: {"sums": "x" * 2_000_000}),
    "ApplyReturnsNothing": ("apply", lambda self, state, action: Counting.apply(self, state, action) and None),
    "ActionsAreAGenerator": ("legal_actions", lambda self, state: (one for one in Counting.legal_actions(self, state))),
    "SeatIsABoolean": (
        "seat_to_act",
        lambda self, state: None if (seat := Counting.seat_to_act(self, state)) is None else seat == 1,
    ),
    "InitialStateIsMissing": ("initial_state", lambda self: None),
    "RenderReturnsNothing": ("render", lambda self, state: None),
    "PrepareLosesTheSeats": ("prepare", lambda self: vars(self).update(players="two")),
    "RulebookRaises": ("rulebook", classmethod(lambda cls: throw(StrangeError()))),
    "RulebookIsNoText": ("rulebook", classmethod(lambda cls: None)),
    "NameIsANumber": ("name", 3),
    "OptionsAreMissing": ("OPTIONS", None),
    "DefaultIsTooHigh": ("OPTIONS", (IntOption("goal", 13, 1, 12, "where the count ends"),)),
    "BoundIsText": ("OPTIONS", (IntOption("goal", 3, "1", 12, "where the count ends"),)),
}
"""Games with one member that is wrong: its name, and what it is."""

for _name, (_method, _wrong) in WRONG.items():
    _function = getattr(_wrong, "__func__", _wrong)
    if callable(_function):  # sentences name the function that raised
        _function.__code__ = _function.__code__.replace(co_name=_method)
    globals()[_name] = type(_name, (Counting,), {_method: _wrong, "__module__": __name__})
