"""Rules for people: for each of the five games for two a few lines to remember, and how much they keep.

Each line names something that a person sees on the board. Of the legal actions you keep those that the first line likes
best, go on to the next line while more than one is left, and take any of the last.

``benchmarks/advice.py`` found the lists, by a search over more features than these, and measured their score: the
**value kept** is the share of matches against best play that a seat which does not already lose ends with the outcome
of best play by both. Best play here keeps its own outcome with each action, and knows the list: if it can, it takes an
action after which the list errs at once, else in half of the matches the largest margin and in the others any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from arena.games.game import Game
from arena.games.permutation import Heights

Z = 1.96

MOST_FOLLOWED = 400
"""Numbers of coprimality; a longer way counts as open."""

MOST_COPIED = 640_000
"""Squares of the boards on a way: above 40 columns fewer numbers are followed, as each takes longer."""


class Step(NamedTuple):
    """An action that a seat may take in a state, and the state after it."""

    game: Any
    before: Any
    action: Any
    after: Any
    seat: int


@dataclass(frozen=True, slots=True)
class Feature:
    """A line of a list, and its value of an action, of which the largest is kept."""

    text: str
    value: Callable[[Step], float]


@dataclass(frozen=True, slots=True)
class Score:
    """In how many matches a list kept the outcome on a board, from the beginning or after random actions."""

    board: str
    random_actions: int
    kept: int
    matches: int

    @property
    def interval(self) -> tuple[float, float]:
        """The share's 95 % interval."""
        from arena.ratings.distributions import wilson_interval  # with numpy, which the bot does without

        return wilson_interval(self.kept / self.matches, self.matches, Z)


def _measured(boards: Mapping[str, tuple[int, int]]) -> tuple[Score, ...]:
    """Return the scores of boards: in how many of 200 matches each was kept, from the beginning and after 2 actions."""
    return tuple(Score(board, 2 * later, kept[later], 200) for board, kept in boards.items() for later in (0, 1))


@dataclass(frozen=True, slots=True)
class Advice:
    """The list of a game, what was measured of it, and what else is known of it."""

    lines: Mapping[str, Feature]
    scores: tuple[Score, ...]
    known: str

    def keeping(self, game: Game[Any], state: Any, actions: Sequence[Any]) -> list[Any]:
        """Return the actions that the list leaves."""
        return narrowed(self.lines.values(), game, state, actions)


def narrowed(lines: Iterable[Feature], game: Game[Any], state: Any, actions: Sequence[Any]) -> list[Any]:
    """Return the actions that lines leave."""
    seat = game.seat_to_act(state)
    assert seat is not None
    steps = [Step(game, state, action, game.apply(state, action), seat) for action in actions]
    for line in lines:
        if len(steps) == 1:
            break
        steps = best_of(line, steps)
    return [step.action for step in steps]


def best_of(line: Feature, steps: Iterable[Step]) -> list[Step]:
    """Return the steps that a line likes best, of one or more."""
    values = [(line.value(step), step) for step in steps]
    best = max(value for value, _ in values)
    return [step for value, step in values if value == best]


def lead(step: Step) -> float:
    """Return by how much the seat leads after the action."""
    scores = step.game.scores(step.after)
    return round(float(scores[step.seat] - max(score for seat, score in enumerate(scores) if seat != step.seat)), 9)


# Marks of a permutation.


def is_mark(step: Step) -> bool:
    """Return whether the action puts a mark on an empty square."""
    return not isinstance(step.action, str) and not getattr(step.before, "numbered", ())


def of_marks(value: Callable[[Step, int, int], float]) -> Callable[[Step], float]:
    """Return a value of columns and rows as one of actions, 0 for those that put no mark."""
    return lambda step: value(step, *step.action) if is_mark(step) else 0.0


def unpaired(heights: Heights) -> int:
    """Return how many marks have no mirror image on the diagonal that rises from a1."""
    return sum(bool(y) and heights[y - 1] != x for x, y in enumerate(heights, 1))


def unpaired_falling(heights: Heights) -> int:
    """Return how many marks have no mirror image on the other diagonal."""
    size = len(heights)
    return sum(bool(y) and heights[size - y] != size + 1 - x for x, y in enumerate(heights, 1))


def _from_corner(step: Step, x: int, y: int) -> float:
    return float(min(x - 1, step.game.size - x) + min(y - 1, step.game.size - y))


# Plusminus.


def _copies(step: Step) -> float:
    if is_mark(step):
        return 0.0
    other, place = step.before.predictions[1 - step.seat], len(step.before.predictions[step.seat])
    return float(other[place : place + 1] == step.action)


def _alternates(step: Step) -> float:
    return float(not is_mark(step) and step.before.predictions[step.seat][-1:] not in ("", step.action))


def _mirrors_equal_lists(step: Step, _x: int, _y: int) -> float:
    first, second = step.before.predictions
    return float(first == second and not unpaired(step.after.heights))


def fits(step: Step, x: int, y: int, seat: int) -> float:
    """Return how far a mark lies on the side of the middle that the signs beside it want, twice that if both do."""
    place, height = (x, y) if seat == 0 else (y, x)
    signs = f" {step.before.predictions[seat]} "
    before, after = signs[place - 1], signs[place]
    wish: int = (before == "+") - (before == "-") + (after == "-") - (after == "+")
    return float(wish * (2 * height - step.game.size - 1))


# Multiplication.


def jumps_to(step: Step, x: int, y: int) -> list[int]:
    """Return the jumps between a square and the marks that stand."""
    return [abs(x - u) * abs(y - v) for u, v in enumerate(step.before.heights, 1) if v]


def jump(step: Step) -> float:
    """Return what a number scores."""
    if is_mark(step):
        return 0.0
    (x, y), last = step.action, step.before.numbered[-1]
    return float(abs(x - last) * abs(y - step.before.heights[last - 1]))


# Coprimality.


def safe_squares(game: Any, state: Any) -> list[Any]:
    """Return the squares on which the seat to act stays in."""
    seat = game.seat_to_act(state)
    return [] if seat is None else [s for s in game.legal_actions(state) if seat not in game.apply(state, s).eliminated]


def at_the_end_of_the_way(step: Step) -> tuple[int, int]:
    """Follow the path while one square is safe: return who goes out there, and who has a choice (1: you, -1: other)."""
    game, state = step.game, step.after
    for _ in range(min(MOST_FOLLOWED, MOST_COPIED // game.size**2)):
        seat = game.seat_to_act(state)
        if seat is None:
            break
        who, safe = (1 if seat == step.seat else -1), safe_squares(game, state)
        if len(safe) != 1:
            return (0, who) if safe else (who, 0)
        state = game.apply(state, safe[0])
    return 0, 0


def from_border(step: Step) -> float:
    """Return how far a square is from the border."""
    return float(min(*step.action, *(step.game.size + 1 - place for place in step.action)))


# Plaid.


def unmirrored(step: Step, direction: str) -> int:
    """Return how many lines have no mirror image on the other side of the middle."""
    upright = direction == "v"
    places, side = (step.after.vertical, step.game.width) if upright else (step.after.horizontal, step.game.height)
    return sum(side - place not in places for place in places)


def to_border(step: Step) -> float:
    """Return how far a line is from the border that is nearest."""
    direction, place = step.action
    return float(min(place, (step.game.width if direction == "v" else step.game.height) - place))


# The lists.

ADVICE: dict[str, Advice] = {
    "plusminus": Advice(
        {
            "copy": Feature("Write the sign that the other has at the same place, if there is one.", _copies),
            "alternate": Feature("Else write another sign than your last one.", _alternates),
            "equal lists": Feature(
                "If both lists are the same and you can leave marks that are their own mirror image on the diagonal"
                " from a1, do.",
                of_marks(_mirrors_equal_lists),
            ),
            "fits": Feature(
                "Else mark as far out as you can where your signs want it and the other's do not: between + and − they"
                " want a mark high up (seat 1: far right), between − and + low down (far left); an edge counts half.",
                of_marks(lambda step, x, y: fits(step, x, y, step.seat) - fits(step, x, y, 1 - step.seat)),
            ),
            "unfit": Feature(
                "Of such squares take one which the other's signs want least.",
                of_marks(lambda step, x, y: -fits(step, x, y, 1 - step.seat)),
            ),
        },
        _measured({"size=8": (200, 146), "size=8 grid_first=2": (0, 8)}),
        "Seat 1 never loses by the first and the third line, at any size: this is proved. At sizes 3 to 5 neither seat"
        " loses whatever the other does: all replies were tried. With grid_first=2, no list was found by which seat 1"
        " keeps 95 % of its win; the best one kept 20 % of 30 matches.",
    ),
    "differences": Advice(
        {
            "mirrored": Feature(
                "If you can leave marks that are their own mirror image on the diagonal from a1, do.",
                lambda step: float(not unpaired(step.after.heights)),
            ),
            "mirrored falling": Feature(
                "If you can do so on the other diagonal, do.",
                lambda step: float(not unpaired_falling(step.after.heights)),
            ),
            "lead": Feature("Else mark where you then lead by most,", lead),
            "corner": Feature(
                "and of such squares the one nearest to a corner.", of_marks(lambda *at: -_from_corner(*at))
            ),
        },
        _measured({"size=8": (200, 64), "size=8 scoring=once": (200, 67)}),
        "By the first line alone nobody loses, at any size, in either seat, with both ways of scoring: this is proved.",
    ),
    "multiplication": Advice(
        {
            "far": Feature(
                "Mark where the jumps from all marks that stand are largest together;",
                of_marks(lambda *at: sum(jumps_to(*at))),
            ),
            "corner": Feature("of such squares nearest to a corner,", of_marks(lambda *at: -_from_corner(*at))),
            "left": Feature(
                "and of those farthest to the left: so begin in a corner at the left.", of_marks(lambda _, x, y: -x)
            ),
            "jump": Feature("When the marks get numbers, take the largest jump.", jump),
        },
        _measured({"size=9": (200, 110), "size=7": (200, 119), "size=9 second_starts=1": (0, 14)}),
        "Seat 0 wins at sizes 7 and 9 whatever seat 1 does: all its replies were tried. With second_starts=1, no list"
        " was found that keeps 95 % of its win; the best one kept 80 % of 30 matches.",
    ),
    "coprimality": Advice(
        {
            "safe": Feature(
                "Put the number beside none that shares a factor with it.",
                lambda step: float(step.seat not in step.after.eliminated),
            ),
            "way": Feature(
                "Follow each way with a finger while only one square is safe: choose the one on which the other goes"
                " out, not you.",
                lambda step: -at_the_end_of_the_way(step)[0],
            ),
            "choice": Feature(
                "Else the one on which the next choice is yours.", lambda step: at_the_end_of_the_way(step)[1]
            ),
            "inside": Feature("Else go away from the border.", from_border),
        },
        _measured({"size=12": (200, 200), "size=13": (200, 200)}),
        "All replies were tried at sizes 4 to 40: by the list the seat that wins with best play wins at 34 of these 37"
        " sizes whatever the other does; at 6, 18 and 39 it may fail.",
    ),
    "plaid": Advice(
        {
            "mirrored": Feature(
                "If you can leave the upright lines as their own mirror image, do.",
                lambda step: float(not unmirrored(step, "v")),
            ),
            "odd": Feature("Leave an odd number of upright lines.", lambda step: len(step.after.vertical) % 2),
            "lead": Feature("Draw the line after which you lead by most,", lead),
            "border": Feature("and of such lines the one nearest to the border.", lambda step: -to_border(step)),
        },
        _measured(
            {
                "width=12 height=12 lines=12": (200, 125),
                "width=10 height=10 lines=12": (198, 198),
                "width=14 height=14 lines=12": (0, 52),
                "width=8 height=8 lines=6": (0, 53),
            }
        ),
        "On 12 by 12 with 12 lines neither seat loses whatever the other does: all replies were tried. By the first two"
        " lines seat 0 never loses on a sheet of even width whose height is odd or at least the number of lines: this"
        " is proved. For two sheets that seat 0 wins no list was found that keeps 95 %: the best ones kept 67 % of 30"
        " matches on 14 by 14 with 12 lines, and 50 % on 8 by 8 with 6.",
    ),
}
