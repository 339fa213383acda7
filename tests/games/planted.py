"""Games with one mistake each, made from the correct game in tests/games/claims.py.

A mistake that needs a few plies shows as early as it says.
"""

import itertools
import random
import sys
import time
from typing import Any, NamedTuple

from arena.games import ChoiceOption, Drawing, IllegalActionError, IntOption, Space, square_of
from tests.games.claims import Claims, ClaimsState


class ApplyHangs(Claims):
    def apply(self, state: Any, action: Any) -> Any:
        while len(state.owners) - state.owners.count(-1) >= 1:
            pass
        return super().apply(state, action)


class RefusesLegal(Claims):
    def apply(self, state: Any, action: Any) -> Any:
        x, _ = square_of(action, len(state.owners), 1)
        if x == 2 and state.owners[3] >= 0:
            raise IllegalActionError(action, "b1 is closed")
        return super().apply(state, action)


class RefusesLists(Claims):
    def apply(self, state: Any, action: Any) -> Any:
        if type(action) is not tuple:
            raise IllegalActionError(action, "expected a tuple")
        return super().apply(state, action)


class AcceptsNonsense(Claims):
    def apply(self, state: Any, action: Any) -> Any:
        if type(action) in (tuple, list) and len(action) == 2 and type(action[0]) is float and action[0] == action[0]:
            action = (int(action[0]), int(action[1])) if abs(action[0]) < 100 else action
        return super().apply(state, action)


class NonsenseRaisesTypeError(Claims):
    def apply(self, state: Any, action: Any) -> Any:
        if len(action) != 2:
            raise IllegalActionError(action, "expected a pair")
        return super().apply(state, action)


class ActionNotMsgpack(Claims):
    def legal_actions(self, state: Any) -> Any:
        return [complex(x, y) for x, y in super().legal_actions(state)]

    def apply(self, state: Any, action: Any) -> Any:
        if type(action) is not complex:
            raise IllegalActionError(action, "expected a complex number")
        return super().apply(state, (int(action.real), int(action.imag)))


class OverAtOnce(Claims):
    def seat_to_act(self, state: Any) -> Any:
        return None

    def legal_actions(self, state: Any) -> Any:
        return []


class UnhashableState(Claims):
    def initial_state(self) -> Any:
        return super().initial_state()._replace(owners=[-1] * self.options["size"])

    def apply(self, state: Any, action: Any) -> Any:
        following = super().apply(state._replace(owners=tuple(state.owners)), action)
        return following._replace(owners=list(following.owners))


class Board:
    """A board that is changed in place, and compared by its squares."""

    def __init__(self, owners: tuple[int, ...], seat: int, out: tuple[int, ...]) -> None:
        self.owners, self.seat, self.out = owners, seat, out

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Board) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.owners)


class Wrapping:
    """Wraps the states of the rules after it."""

    wrap: Any

    def initial_state(self) -> Any:
        return self.wrap(super().initial_state())

    def apply(self, state: Any, action: Any) -> Any:
        return self.wrap(super().apply(state, action))

    def withdraw(self, state: Any) -> Any:
        return self.wrap(super().withdraw(state))

    def state_from_observation(self, observation: Any) -> Any:
        return self.wrap(super().state_from_observation(observation))


class MutableState(Wrapping, Claims):
    wrap = staticmethod(lambda state: Board(*state))


class Cell(tuple[Any, ...]):
    """A tuple with a hidden part that can change."""

    __slots__ = ()
    boards: dict[int, list[int]] = {}  # noqa: RUF012 - the mistake


class HiddenBoard(NamedTuple):
    """A state that names a board kept elsewhere."""

    number: int
    seat: int
    out: tuple[int, ...]


class ChangesItsArgument(Claims):
    """The board is kept outside the state, and ``apply`` writes into it."""

    def initial_state(self) -> Any:
        Cell.boards[len(Cell.boards)] = [-1] * self.options["size"]
        return HiddenBoard(len(Cell.boards) - 1, 0, ())

    def _open(self, state: Any) -> Any:
        return ClaimsState(tuple(Cell.boards[state.number]), state.seat, state.out)

    def seat_to_act(self, state: Any) -> Any:
        return super().seat_to_act(self._open(state))

    def legal_actions(self, state: Any) -> Any:
        return [(x, 1) for x, owner in enumerate(Cell.boards[state.number], 1) if owner < 0]

    def apply(self, state: Any, action: Any) -> Any:
        following = Claims(**self.options).apply(self._open(state), action)
        Cell.boards[state.number][:] = following.owners
        return HiddenBoard(state.number, following.seat, following.out)

    def scores(self, state: Any) -> Any:
        return super().scores(self._open(state))

    def observation(self, state: Any) -> Any:
        return super().observation(self._open(state))

    def render(self, state: Any) -> Any:
        return super().render(self._open(state))


class IdentityStates(Wrapping, Claims):
    class State:
        __slots__ = ("_open",)

        def __init__(self, state: Any) -> None:
            object.__setattr__(self, "_open", state)

        def __setattr__(self, name: str, value: Any) -> None:
            raise AttributeError(name)

        def __reduce__(self) -> Any:
            return IdentityStates.State, (self._open,)

        def __getattr__(self, name: str) -> Any:
            return getattr(object.__getattribute__(self, "_open"), name)

    wrap = State


class StateInTheGame(Claims):
    def prepare(self) -> None:
        self.begun = 0

    def initial_state(self) -> Any:
        self.begun += 1
        state = super().initial_state()
        return state if self.begun % 2 else state._replace(owners=(0, *state.owners[1:]))


class LegalNowhere(Claims):
    def apply(self, state: Any, action: Any) -> Any:
        is_pass = action == "pass" and self.seat_to_act(state) is not None
        return state._replace(seat=1 - state.seat) if is_pass else super().apply(state, action)

    def space(self) -> Any:
        squares = [(x, 1) for x in range(1, 7)]
        return Space(
            actions=(*squares, "pass"),
            max_plies=6,
            encode=lambda state: [x / 4 for x in (*state.owners, state.seat, *state.out, *[-1] * (4 - len(state.out)))],
        )


class ParseAcceptsAnything(Claims):
    def parse_action(self, text: str) -> Any:
        try:
            return super().parse_action(text)
        except IllegalActionError:
            return text


class ThreeByDecree(Claims):
    OPTIONS = Claims.OPTIONS[1:]

    def prepare(self) -> None:
        self.players = 3


class ChoiceCrashes(Claims):
    def scores(self, state: Any) -> Any:
        if self.options["scoring"] == "ends":
            return tuple(state.ends.count(seat) for seat in range(self.players))
        return super().scores(state)


class AnyOption(Claims):
    def __init__(self, **given: Any) -> None:
        known = {option.name for option in self.OPTIONS}
        super().__init__(**{name: value for name, value in given.items() if name in known})


class StateNotPicklable(Claims):
    def initial_state(self) -> Any:
        class Local(ClaimsState):
            __slots__ = ()

        return Local(*super().initial_state())


def local_class() -> type[Claims]:
    """Return a game that has no path."""

    class Hidden(Claims):
        pass

    return Hidden


COUNTER = itertools.count()

RESULTS = {
    "ApplyRaises": (
        "apply",
        lambda after, state, action: {}["missing"] if state.owners[0] >= 0 and after.owners[2] >= 0 else after,
    ),
    "ApplyReturnsNone": ("apply", lambda after, state, action: after if -1 in after.owners else None),
    "NeverEnds": (  # a claimed row is emptied again
        "apply",
        lambda after, state, action: after if -1 in after.owners else after._replace(owners=(-1,) * len(after.owners)),
    ),
    "HiddenRandomness": (  # b1 is claimed for a seat drawn at random
        "apply",
        lambda after, state, action: after._replace(
            owners=(after.owners[0], after.owners[1] if after.owners[1] < 0 else random.random(), *after.owners[2:])
        ),
    ),
    "LegalAfterTheEnd": ("legal_actions", lambda legal, state: legal or [(1, 1)]),
    "IteratorOfActions": ("legal_actions", lambda legal, state: iter(legal)),
    "SetOfActions": ("legal_actions", lambda legal, state: set(legal)),
    "MissingLegal": ("legal_actions", lambda legal, state: legal[:-1] if len(legal) == 3 else legal),
    "UnstableOrder": ("legal_actions", lambda legal, state: random.sample(legal, len(legal))),
    "TwiceTheSameAction": ("legal_actions", lambda legal, state: [*legal, *legal[:1]]),
    "ActionIsAList": ("legal_actions", lambda legal, state: [list(action) for action in legal]),
    "SeatOutOfRange": ("seat_to_act", lambda seat, state: None if seat is None else seat + 1),  # counted from 1
    "ScoreForTwoOnly": ("scores", lambda scores, state: scores[:2]),
    "ScoreIsNaN": (
        "scores",
        lambda scores, state: tuple(score / sum(scores) if sum(scores) else float("nan") for score in scores),
    ),
    "BoolScores": ("scores", lambda scores, state: tuple(score == max(scores) for score in scores)),
    "ScoresRaise": ("scores", lambda scores, state: tuple(score / sum(scores) for score in scores)),  # at the start
    "ClockInTheRules": ("scores", lambda scores, state: tuple(score + time.perf_counter() for score in scores)),
    "GlobalCounter": ("scores", lambda scores, state: tuple(score + next(COUNTER) for score in scores)),
    "DenseRanks": ("ranks", lambda ranks, state: tuple(1 + sorted({*ranks}).index(rank) for rank in ranks)),
    "ObservationTooLarge": ("observation", lambda seen, state: seen | {"history": [0] * 1_100_000}),
    "SetInObservation": (
        "observation",
        lambda seen, state: seen | {"empty": {x for x, owner in enumerate(state.owners) if owner < 0}},
    ),
    "TupleAsKey": (
        "observation",
        lambda seen, state: seen | {"by_square": {(x, 1): owner for x, owner in enumerate(state.owners, 1)}},
    ),
    "InfiniteObservation": ("observation", lambda seen, state: seen | {"best": float("-inf")}),
    "FormatAndParseDiffer": ("format_action", lambda text, action: f"{chr(ord(text[0]) + 1)}1"),
    "RenderRaises": ("render", lambda board, state: board if state.owners.index(-1) >= 0 else ""),
    "RenderIsNoText": ("render", lambda board, state: board.splitlines()),
    "ColouredBoard": ("render", lambda board, state: f"\x1b[31m{board}\x1b[0m"),
    "RenderAfterNeedsTuples": (
        "render_after",
        lambda board, state, actions: " ".join({(1, 1): "first"}.get(action, "") for _, action in actions),
    ),
    "WithdrawSometimes": ("withdraw", lambda after, state: None if state.seat in state.owners else after),
}
"""Games with one method whose result is wrong: its name, and what is made of the right result and the arguments."""

WRONG = {
    "SeatWithoutAction": ("seat_to_act", lambda self, state: state.seat),
    "SeatRaises": ("seat_to_act", lambda self, state: [0, 1][state.seat] if state.owners[1] < 0 else [][state.seat]),
    "IsOverDisagrees": ("is_over", lambda self, state: state.owners.count(-1) <= 1),
    "InitialStateRaises": ("initial_state", lambda self: ClaimsState((-1,) * self.options["sise"], 0, ())),
    "ParseRaisesValueError": ("parse_action", lambda self, text: (ord(text[0]) - ord("a") + 1, int(text[1:]))),
    "DrawingWithoutSize": ("drawing", lambda self, state: Drawing(float("nan"), 1, ())),
    "UnknownShape": ("drawing", lambda self, state: Drawing(4, 1, (("circle", 0.5, 0.5, 0.3, "mark"),))),
    "WithdrawKeepsTheSeat": ("withdraw", lambda self, state: state._replace(out=(*state.out, state.seat))),
    "SeatsOutTwice": ("seats_out", lambda self, state: state.out * 2),
    "SeatsComeBack": ("seats_out", lambda self, state: state.out[-1:]),
    "ApplyExits": ("apply", lambda self, state, action: sys.exit(3)),
    "AcceptsAfterTheEnd": (
        "apply",
        lambda self, state, action: state if -1 not in state.owners else Claims.apply(self, state, action),
    ),
    "ObservationLosesTheSeat": (
        "state_from_observation",
        lambda self, observation: ClaimsState(tuple(observation["owners"]), 0, tuple(observation["out"])),
    ),
    "RestoresLists": (
        "state_from_observation",
        lambda self, observation: ClaimsState(observation["owners"], observation["seat"], tuple(observation["out"])),
    ),
    "SpaceLacksAnAction": (
        "space",
        lambda self: Space(actions=((1, 1), (2, 1), (3, 1)), max_plies=6, encode=lambda state: [0.0]),
    ),
    "SpaceGrows": (
        "space",
        lambda self: Space(
            actions=tuple((x, 1) for x in range(1, 7)),
            max_plies=6,
            encode=lambda state: [1.0 for owner in state.owners if owner >= 0],
        ),
    ),
    "MorePlayersThanSeats": (
        "initial_state",
        lambda self: Claims.initial_state(self)._replace(seat={2: 0, 3: 0}[self.players]),
    ),
    "BoundCrashes": ("prepare", lambda self: [1, 2, 3, 4, 5][self.options["size"] - 1]),
    "OnePlayer": ("OPTIONS", (IntOption("players", 2, 1, 4, "number of seats"), *Claims.OPTIONS[1:])),
    "OptionsOfAnotherType": ("OPTIONS", {"size": 4}),
    "DefaultNotAccepted": (
        "OPTIONS",
        (*Claims.OPTIONS, ChoiceOption("colour", "red", ("green", "blue"), "of the squares")),
    ),
    "NoSummary": ("summary", ""),
}
"""Games with one member that is wrong: its name, and what it is."""


def wrong_result(method, wrong):
    return lambda self, *arguments: wrong(getattr(Claims, method)(self, *arguments), *arguments)


MEMBERS = WRONG | {name: (method, wrong_result(method, wrong)) for name, (method, wrong) in RESULTS.items()}
for _name, (_member, _wrong) in MEMBERS.items():
    globals()[_name] = type(_name, (Claims,), {_member: _wrong, "__module__": __name__})
