"""Games given as tables, the same rules solved by plain recursion, and games that contradict themselves."""

from functools import lru_cache
from itertools import count

from arena.games import Game, IntOption
from arena.games.checked_game import checked_game
from arena.lab.solving.limits import Limits
from arena.lab.solving.state_graph import Retrograde, explore
from tests.best_play import brute_force

PATH = "tests.lab.games:OfATable"

SMALL = {
    "differences": ("differences", {"size": 4}),
    "differences, once": ("differences", {"size": 4, "scoring": "once"}),
    "plusminus": ("plusminus", {"size": 3}),
    "plusminus, seat 1 starts the grid": ("plusminus", {"size": 3, "grid_first": 2}),
    "plaid": ("plaid", {"width": 4, "height": 5, "lines": 4}),
    "coprimality": ("coprimality", {"size": 4}),
}
"""Boards of two that plain recursion solves at once, by name."""


def state_after(game, plies, choose):
    """Return a state that is not the end of a match: the one after so many actions, or the last."""
    state = game.initial_state()
    for _ in range(plies):
        after = game.apply(state, choose(game.legal_actions(state)))
        if game.is_over(after):
            break
        state = after
    return state


class OfATable(Game):
    """Positions by number, each ``(seat, next positions)`` or ``(None, scores)``; an action is a place in the list."""

    name = "of a table"
    summary = "Walk through a table."
    OPTIONS = (IntOption("players", 2, 2, 4, "seats"),)
    action_format = "a number"
    positions = ()

    def initial_state(self):
        return 0

    def seat_to_act(self, state):
        return self.positions[state][0]

    def legal_actions(self, state):
        seat, following = self.positions[state]
        return [] if seat is None else list(range(len(following)))

    def apply(self, state, action):
        return self.positions[state][1][action]

    def scores(self, state):
        seat, scores = self.positions[state]
        return tuple(scores) if seat is None else (0,) * self.players

    def observation(self, state):
        return {"number": state}

    def state_from_observation(self, observation):
        return observation["number"]

    def parse_action(self, text):
        return int(text)

    def format_action(self, action):
        return f"take{action}"

    def render(self, state):
        return str(state)


def game_of(positions, kind=OfATable, **options):
    """Return a game of a table, checked as one from outside is."""
    game = kind(**options)
    game.positions = positions
    return checked_game(game, PATH)


def after(game, actions):
    state = game.initial_state()
    for action in actions:
        state = game.apply(state, action)
    return state


values_of = lru_cache(maxsize=4)(brute_force)
"""What was found of a game serves all questions about it."""


def plain_value(game, state):
    """Return (outcome, margin) for seat 0 with best play: minimax over the rules, and nothing else."""
    return values_of(game)(state)


def values_by_table(game, name):
    table = Retrograde(explore(game, name, Limits()))
    return {state: table.values[number] for state, number in table.graph.numbers.items()}


def plain_shares(game, state):
    """Return the shares of rivals beaten when each seat takes the first of the actions that are best for itself."""
    seat = game.seat_to_act(state)
    if seat is None:
        ranks = game.ranks(state)
        rivals = len(ranks) - 1
        return tuple(
            sum(1 if other > rank else 0.5 for at, other in enumerate(ranks) if at != mine and other >= rank) / rivals
            for mine, rank in enumerate(ranks)
        )
    best = None
    for action in game.legal_actions(state):
        shares = plain_shares(game, game.apply(state, action))
        if best is None or shares[seat] > best[seat]:
            best = shares
    return best


def plain_held(game, state, mine):
    """Return the share that a seat can hold when all others play against it."""
    seat = game.seat_to_act(state)
    if seat is None:
        return plain_shares(game, state)[mine]
    held = [plain_held(game, game.apply(state, action), mine) for action in game.legal_actions(state)]
    return max(held) if seat == mine else min(held)


ENDS = ((0, (1, 2)), (None, (1, 0)), (None, (0, 3)))


class Endless(OfATable):
    def seat_to_act(self, state):
        return state % 2

    def legal_actions(self, state):
        return [0]

    def apply(self, state, action):
        return state + 1

    def scores(self, state):
        return (0, 0)


class Board:
    """A state that is equal to itself only."""


class Forgetful(OfATable):
    """Each state is a new object, so that none is found again."""

    def initial_state(self):
        return Board()


class OfLists(OfATable):
    """States that can't be hashed."""

    def initial_state(self):
        return [0]

    def seat_to_act(self, state):
        return 0


class Cell:
    """A state that ``apply`` changes."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return self.number == other.number

    def __hash__(self):
        return 1


class InPlace(OfATable):
    """``apply`` changes the state that it is given."""

    def initial_state(self):
        return Cell(0)

    def seat_to_act(self, state):
        return super().seat_to_act(state.number)

    def legal_actions(self, state):
        return super().legal_actions(state.number)

    def apply(self, state, action):
        state.number = super().apply(state.number, action)
        return state

    def scores(self, state):
        return super().scores(state.number)

    def observation(self, state):
        return {"number": state.number}


class Random(OfATable):
    """``apply`` does not always lead to the same state."""

    def prepare(self):
        self._calls = count()

    def apply(self, state, action):
        return 1 + next(self._calls) % 2


class LateScores(OfATable):
    """Scores that change after the end of a match, with each call."""

    def prepare(self):
        self._calls = count()

    def scores(self, state):
        return (next(self._calls), 0)


class ActsOn(OfATable):
    def legal_actions(self, state):
        return [0, 1]


class Hidden(int):
    """A number that remembers how it was made, which equality does not see."""

    def __new__(cls, number, way):
        made = super().__new__(cls, number)
        made.way = way
        return made


class Remembers(OfATable):
    """Scores depend on what is no part of the state's equality."""

    def initial_state(self):
        return Hidden(0, 0)

    def apply(self, state, action):
        return Hidden(super().apply(state, action), action)

    def scores(self, state):
        return (state.way, 0)


class RanksByThemselves(OfATable):
    """Whoever scores less has won."""

    def ranks(self, state):
        zero, one = self.scores(state)
        return (1 + (zero > one), 1 + (one > zero))
