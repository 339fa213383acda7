"""Games with one mistake each, all made from a correct one: two seats count up in turns until a number is reached."""

from __future__ import annotations

import math
import sys

from arena.errors import IllegalActionError, VoidMatchError
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


class ApplyRaises(Counting):
    def apply(self, state, action):
        return {0: super().apply(state, action)}[state[0] // 4]


class ApplyRefusesALegalAction(Counting):
    def apply(self, state, action):
        if state[0] > 3:
            raise IllegalActionError(action, "no more")
        return super().apply(state, action)


class ApplyReturnsNothing(Counting):
    def apply(self, state, action):
        super().apply(state, action)


class ApplyChokesOnNonsense(Counting):
    def apply(self, state, action):
        return super().apply(state, {1: 1, 2: 2}[action])


class ApplyExits(Counting):
    def apply(self, state, action):
        sys.exit(3)


class OddError(BaseException):
    """What few programs expect: it is no Exception, and has no text."""

    def __str__(self):
        raise ValueError("no text")


class Unshowable:
    def __repr__(self):
        raise ValueError("no repr")


def nested(levels):
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value


class ApplyRaisesNoException(Counting):
    def apply(self, state, action):
        raise OddError


class ApplyRaisesAnErrorOfTheArena(Counting):
    def apply(self, state, action):
        raise VoidMatchError("the machine has no memory")


class PathRaises(Counting):
    @classmethod
    def path(cls):
        raise OddError


class SeatIsStaticAndRaises(Counting):
    @staticmethod
    def seat_to_act(state):
        return {0: 0, 1: 1}[state[0]]


class SeatCannotBeShown(Counting):
    def seat_to_act(self, state):
        return Unshowable()


class ActionIsTooDeep(Counting):
    def legal_actions(self, state):
        return [nested(16)]


class ActionsAreAGenerator(Counting):
    def legal_actions(self, state):
        return (action for action in super().legal_actions(state))


class ActionsRaise(Counting):
    def legal_actions(self, state):
        return super().legal_actions(state) if 12 // (state[0] - 4) else []


class NoActions(Counting):
    def legal_actions(self, state):
        return [] if state[0] > 3 else super().legal_actions(state)


class SeatTooHigh(Counting):
    def seat_to_act(self, state):
        return 2 if state[0] == 4 else super().seat_to_act(state)


class SeatNegative(Counting):
    def seat_to_act(self, state):
        return -1 if state[0] == 4 else super().seat_to_act(state)


class SeatIsABoolean(Counting):
    def seat_to_act(self, state):
        seat = super().seat_to_act(state)
        return None if seat is None else seat == 1


class SeatRaises(Counting):
    def seat_to_act(self, state):
        return super().seat_to_act(state if state[0] < 4 else None)


class ScoreIsNoNumber(Counting):
    def scores(self, state):
        return (math.nan, 0) if self.is_over(state) else (0, 0)


class ScoreIsInfinite(Counting):
    def scores(self, state):
        return (math.inf, 0)


class ThreeScores(Counting):
    def scores(self, state):
        return (0, 0, 0)


class ScoresAreTexts(Counting):
    def scores(self, state):
        return ("won", "lost")


class ScoreIsHuge(Counting):
    def scores(self, state):
        return (2**64, 0)


class ScoreIsNoFloat(Counting):
    def scores(self, state):
        return (10**400, 0)


class ScoresAreOneNumber(Counting):
    def scores(self, state):
        return 1


class RanksBeginAtZero(Counting):
    def ranks(self, state):
        return (0, 1)


class RanksSkipTheBest(Counting):
    def ranks(self, state):
        return (2, 2)


class RanksAreFloats(Counting):
    def ranks(self, state):
        return (1.0, 2.0)


class ObservationHasATupleAsKey(Counting):
    def observation(self, state):
        return {"sums": {(0, 1): state[0]}}


class ObservationIsASet(Counting):
    def observation(self, state):
        return {"sums": {1, 2}}


class ObservationIsAList(Counting):
    def observation(self, state):
        return [state[0]]


class ObservationIsTooDeep(Counting):
    def observation(self, state):
        return {"sums": nested(200_000)}


class ObservationIsTooLarge(Counting):
    def observation(self, state):
        return {"sums": "x" * 2_000_000}


class ObservationContainsItself(Counting):
    def observation(self, state):
        observation = {"sum": state[0]}
        observation["again"] = observation
        return observation


class InitialStateRaises(Counting):
    def initial_state(self):
        raise RuntimeError("no board")


class InitialStateIsMissing(Counting):
    def initial_state(self):
        pass


class WithdrawRaises(Counting):
    OPTIONS = (*Counting.OPTIONS, IntOption("players", 3, 2, 4, "seats"))

    def scores(self, state):
        return tuple(range(self.players))

    def withdraw(self, state):
        raise NotImplementedError("no elimination yet")


class PrepareLosesTheSeats(Counting):
    def prepare(self):
        self.players = "two"


class NameIsANumber(Counting):
    name = 3


class OptionsAreMissing(Counting):
    OPTIONS = None


class DefaultIsTooHigh(Counting):
    OPTIONS = (IntOption("goal", 13, 1, 12, "where the count ends"),)


class BoundIsText(Counting):
    OPTIONS = (IntOption("goal", 3, "1", 12, "where the count ends"),)


class PrepareRaises(Counting):
    def prepare(self):
        raise ZeroDivisionError("goal")


class RenderRaises(Counting):
    def render(self, state):
        raise IndexError(state[0])


class DrawsOnTheTerminal(Counting):
    action_format = "1 or \x1b]0;2\x07"

    def render(self, state):
        return f"\x1b[2Jsum {state[0]}"

    def format_action(self, action):
        return f"{action}\x1b[8m"


class RenderReturnsNothing(Counting):
    def render(self, state):
        pass


class Endless(Counting):
    def seat_to_act(self, state):
        return state[1]

    def apply(self, state, action):
        return (0, 1 - state[1])
