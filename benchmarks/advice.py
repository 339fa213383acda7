"""Search lists of advice for people, and measure the value that they keep (``arena/lab/advice.py`` says what that is).

``python -m benchmarks.advice GAME`` measures the list of a game on the boards of ``BOARDS``; with ``--search`` it looks
for others on the first of them: it plays matches against best play, collects the positions in which an outcome can be
lost, grows the lists that keep it in most of them, plays by the best of these, and so on; then it changes single lines
of the best one while that keeps more matches.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.games import make_game
from arena.games.game import Game
from arena.games.permutation import inverse
from arena.lab import advice
from arena.lab.advice import ADVICE, Feature, Score, Step, narrowed, of_marks
from arena.lab.oracle import Oracle
from arena.lab.solving.limits import Limits

MOST_LINES = 5
BEAM = 12
ROUNDS = 4
CHANGES = 150
EXPLORED = 0.3
"""How often a match of the search takes any action that keeps the outcome, to see more positions."""
OUTCOMES = {"win": 1, "draw": 0, "loss": -1}

BOARDS: dict[str, tuple[str, ...]] = {
    "plusminus": ("size=8", "size=8 grid_first=2"),
    "plaid": (
        "width=12 height=12 lines=12",
        "width=10 height=10 lines=12",
        "width=14 height=14 lines=12",
        "width=8 height=8 lines=6",
    ),
    "coprimality": ("size=12", "size=13"),
    "differences": ("size=8", "size=8 scoring=once"),
    "multiplication": ("size=9", "size=7", "size=9 second_starts=1"),
}


def _less(value: Callable[[Step], float]) -> Callable[[Step], float]:
    return lambda step: -value(step)


def _beside(step: Step, own: bool) -> int:
    """Count the marks in the columns (rows) beside a square, in the own list or the other's."""
    heights = step.before.heights
    line, place = (heights, 0) if own == (step.seat == 0) else (inverse(heights), 1)
    return sum(line[near - 1] > 0 for near in (step.action[place] - 1, step.action[place] + 1) if 0 < near <= len(line))


def _answers(step: Step) -> list[int]:
    """Return the jumps that a number leaves to the other."""
    heights, here = step.after.heights, step.action
    return [abs(x - here[0]) * abs(y - here[1]) for x, y in enumerate(heights, 1) if x not in step.after.numbered]


def _answer(step: Step) -> float:
    return 0.0 if advice.is_mark(step) else max(_answers(step), default=0)


def _filled(step: Step) -> float:
    x, y = step.action
    size, numbers = step.game.size, step.before.numbers
    near = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
    return float(sum(numbers[(v - 1) * size + u - 1] > 0 for u, v in near if 0 < u <= size and 0 < v <= size))


def _gap(step: Step) -> float:
    """Return the width of the strip that a line cuts in two."""
    direction, place = step.action
    places, side = (
        (step.before.vertical, step.game.width) if direction == "v" else (step.before.horizontal, step.game.height)
    )
    return float(next(right - left for left, right in pairwise((0, *places, side)) if left < place < right))


MARKS: dict[str, Callable[[Step], float]] = {
    "pairs": lambda step: -advice.unpaired(step.after.heights) if advice.is_mark(step) else 0,
    "falling pairs": lambda step: -advice.unpaired_falling(step.after.heights) if advice.is_mark(step) else 0,
    "diagonal": of_marks(lambda _, x, y: -abs(x - y)),
    "centre": of_marks(lambda step, x, y: -abs(2 * x - step.game.size - 1) - abs(2 * y - step.game.size - 1)),
    "outside": of_marks(lambda step, x, y: abs(2 * x - step.game.size - 1) + abs(2 * y - step.game.size - 1)),
    "border": of_marks(lambda step, x, y: -min(x, y, step.game.size + 1 - x, step.game.size + 1 - y)),
    "right": of_marks(lambda _, x, y: x),
}
LISTS: dict[str, Callable[[Step], float]] = {
    **MARKS,
    "lead": advice.lead,
    "mine": lambda step: step.game.scores(step.after)[step.seat],
    "own beside": of_marks(lambda step, *_: _beside(step, own=True)),
    "own apart": of_marks(lambda step, *_: -_beside(step, own=True)),
    "other beside": of_marks(lambda step, *_: _beside(step, own=False)),
    "other apart": of_marks(lambda step, *_: -_beside(step, own=False)),
}
MORE: dict[str, dict[str, Callable[[Step], float]]] = {
    "plusminus": {
        **LISTS,
        "plus": lambda step: float(step.action == "+"),
        "fits me": of_marks(lambda step, x, y: advice.fits(step, x, y, step.seat)),
    },
    "differences": LISTS,
    "multiplication": {
        **MARKS,
        "near": of_marks(lambda *at: -sum(advice.jumps_to(*at))),
        "longest": of_marks(lambda *at: max(advice.jumps_to(*at), default=0)),
        "not longest": of_marks(lambda *at: -max(advice.jumps_to(*at), default=0)),
        "middle row": of_marks(lambda step, x, y: -abs(2 * y - step.game.size - 1)),
        "answer": _less(_answer),
        "jump less answer": lambda step: advice.jump(step) - _answer(step),
    },
    "coprimality": {
        "border": _less(advice.from_border),
        "other's choice": lambda step: -advice.at_the_end_of_the_way(step)[1],
        "crowd": _filled,
        "apart": _less(_filled),
        "left": lambda step: -step.action[0],
        "right": lambda step: step.action[0],
        "up": lambda step: step.action[1],
        "down": lambda step: -step.action[1],
    },
    "plaid": {
        "level mirrored": lambda step: float(not advice.unmirrored(step, "h")),
        "even": lambda step: -(len(step.after.vertical) % 2),
        "odd level": lambda step: len(step.after.horizontal) % 2,
        "even level": lambda step: -(len(step.after.horizontal) % 2),
        "upright": lambda step: float(step.action[0] == "v"),
        "level": lambda step: float(step.action[0] == "h"),
        "middle": advice.to_border,
        "wide gap": _gap,
        "narrow gap": _less(_gap),
        "low lead": _less(advice.lead),
    },
}


def features_of(path: str) -> dict[str, Feature]:
    """Return all features that the search may use."""
    return {**{name: Feature(name, value) for name, value in MORE[path].items()}, **ADVICE[path].lines}


class Board:
    """A game with exact values, and matches on it."""

    def __init__(self, path: str, options: str) -> None:
        """Make the table of a game with options as on the command line."""
        self.text = options
        pairs = (option.split("=") for option in options.split())
        self.game: Game[Any] = make_game(path, **{name: int(v) if v.isdecimal() else v for name, v in pairs})
        self._oracle = Oracle(self.game, path, Limits(memory_bytes=3 << 30))
        self._oracle.prepare(120)

    def outcome(self, state: Any, seat: int) -> int:
        """Return for a seat the outcome of best play by both."""
        outcome = self._oracle.worth(state).outcome
        assert outcome is not None
        return OUTCOMES[outcome] * (1 - 2 * seat)

    def after_actions(self, state: Any, seat: int) -> list[tuple[Any, int, float]]:
        """Return the legal actions, each with outcome and margin of best play after it for a seat."""
        sign, actions = 1 - 2 * seat, []
        for known in self._oracle.actions(state):
            assert known.worth.outcome is not None
            actions.append((known.action, sign * OUTCOMES[known.worth.outcome], sign * (known.worth.margin or 0)))
        return actions

    def openings(self, matches: int, plies: int, draw: random.Random) -> Iterator[tuple[int, Any]]:
        """Yield states after random actions that a seat does not lose, for both seats in turn."""
        found = 0
        for number in range(50 * matches):
            state = self.game.initial_state()
            for _ in range(plies):
                state = self.game.apply(state, draw.choice(list(self.game.legal_actions(state))))
            if self.outcome(state, number % 2) >= 0:
                yield number % 2, state
                found += 1
            if found == matches:
                return


class Player:
    """Plays by a list against best play that knows it."""

    def __init__(self, board: Board, lines: Sequence[Feature], draw: random.Random) -> None:
        """Play on a board."""
        self._board, self._lines, self._draw = board, lines, draw

    def keeps(self, seat: int, state: Any, see: Callable[..., None] | None = None) -> bool:
        """Return whether the seat ends a match with the outcome of best play by both; explore if ``see`` is given."""
        game, draw = self._board.game, self._draw
        due, largest = self._board.outcome(state, seat), draw.random() < 0.5
        while (to_act := game.seat_to_act(state)) is not None:
            known = self._board.after_actions(state, to_act)
            best = max((outcome, margin) for _, outcome, margin in known)
            good = [action for action, outcome, _ in known if outcome == best[0]]
            if to_act != seat:
                traps = [action for action in good if self._errs(game.apply(state, action), seat)]
                best_margin = [action for action, *value in known if tuple(value) == best]
                candidates = traps or (best_margin if largest else good)
            elif best[0] < due:
                return False
            elif see is not None and draw.random() < EXPLORED:
                candidates = good
            else:
                candidates = narrowed(self._lines, game, state, [action for action, *_ in known])
            if to_act == seat and see is not None and len(good) < len(known):
                see(state, known)
            state = game.apply(state, draw.choice(candidates))
        ranks = game.ranks(state)
        return (ranks[1 - seat] > ranks[seat]) - (ranks[1 - seat] < ranks[seat]) >= due

    def _errs(self, state: Any, seat: int) -> bool:
        if self._board.game.seat_to_act(state) != seat:
            return False
        outcomes = {action: outcome for action, outcome, _ in self._board.after_actions(state, seat)}
        kept = narrowed(self._lines, self._board.game, state, list(outcomes))
        return min(outcomes[action] for action in kept) < max(outcomes.values())


def score(board: Board, lines: Sequence[Feature], matches: int, plies: int) -> Score:
    """Measure a list on a board, from openings of random actions."""
    draw = random.Random(plies)
    player = Player(board, lines, draw)
    results = [player.keeps(seat, state) for seat, state in board.openings(matches, plies, draw)]
    return Score(board.text, plies, sum(results), len(results))


class Positions:
    """Positions in which an outcome can be lost: what each feature says of each action, and which actions keep it."""

    def __init__(self, board: Board, features: dict[str, Feature]) -> None:
        """Begin with none."""
        self._game, self._features = board.game, features
        self._rows: list[list[float]] = []
        self._good: list[bool] = []
        self._starts: list[int] = []
        self._seen: set[Any] = set()

    def add(self, state: Any, known: Sequence[tuple[Any, int, float]]) -> None:
        """Add a position, once."""
        if state in self._seen:
            return
        self._seen.add(state)
        self._starts.append(len(self._rows))
        best, seat = max(outcome for _, outcome, _ in known), self._game.seat_to_act(state)
        for action, outcome, _ in known:
            step = Step(self._game, state, action, self._game.apply(state, action), seat or 0)
            self._rows.append([feature.value(step) for feature in self._features.values()])
            self._good.append(outcome == best)

    def best_lists(self, count: int) -> list[tuple[str, ...]]:
        """Return the lists that keep the outcome in most positions, by a beam search."""
        values, good, starts = np.array(self._rows), np.array(self._good, float), np.array(self._starts)
        position = np.repeat(np.arange(len(starts)), np.diff([*starts, len(values)]))

        def left_by(mask: NDArray[np.bool_], column: int) -> NDArray[np.bool_]:
            left = np.where(mask, values[:, column], -np.inf)
            kept: NDArray[np.bool_] = mask & (left == np.maximum.reduceat(left, starts)[position])
            return kept

        beam: list[tuple[float, tuple[str, ...], NDArray[np.bool_]]] = [(0.0, (), np.ones(len(values), bool))]
        found: list[tuple[float, tuple[str, ...]]] = []
        for _ in range(MOST_LINES):
            longer: dict[bytes, tuple[float, tuple[str, ...], NDArray[np.bool_]]] = {}
            for _, names, mask in beam:
                for column, name in enumerate(self._features):
                    left = left_by(mask, column)
                    if not (left == mask).all():
                        shares = np.add.reduceat(left * good, starts) / np.add.reduceat(left * 1.0, starts)
                        longer.setdefault(left.tobytes(), (float(shares.mean()), (*names, name), left))
            beam = sorted(longer.values(), key=lambda entry: -entry[0])[:BEAM]
            found += [(share, names) for share, names, _ in beam]
        found.sort(key=lambda entry: (-round(entry[0], 3), len(entry[1])))
        return [names for _, names in found[:count]]


def searched(board: Board, path: str, matches: int) -> tuple[str, ...]:
    """Return the best list that is found on a board."""
    features, draw = features_of(path), random.Random(1)
    positions = Positions(board, features)

    def share(names: Sequence[str]) -> float:
        found = score(board, [features[name] for name in names], matches, 0)
        return found.kept / found.matches

    best: tuple[float, tuple[str, ...]] = (0.0, ())
    names: tuple[str, ...] = ()
    for _ in range(ROUNDS):
        for plies in (0, 2):
            player = Player(board, [features[name] for name in names], draw)
            for seat, state in board.openings(matches, plies, draw):
                player.keeps(seat, state, positions.add)
        found = max((share(names), names) for names in positions.best_lists(6))
        names, best = found[1], max(best, found)
        print(f"{found[0]:6.1%}  {', '.join(names)}", flush=True)
    for _ in range(CHANGES):
        changed = list(best[1])
        change, place = draw.randrange(3), draw.randrange(len(changed))
        if change == 0 and len(changed) < MOST_LINES:
            changed.insert(place, draw.choice(list(features)))
        elif change == 1:
            changed[place] = draw.choice(list(features))
        elif len(changed) > 1:
            del changed[place]
        found = share(changed), tuple(changed)
        if (found[0], -len(changed)) > (best[0], -len(best[1])):
            best = found
            print(f"{best[0]:6.1%}  {', '.join(best[1])}", flush=True)
    return best[1]


def main() -> None:
    """Read the arguments, and print scores or lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=ADVICE)
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--options", help="the options of one board, such as 'size=9', in place of all boards")
    parser.add_argument("--matches", type=int, default=200)
    arguments = parser.parse_args()
    boards = BOARDS[arguments.game] if arguments.options is None else (arguments.options,)
    for options in boards[:1] if arguments.search else boards:
        board = Board(arguments.game, options)
        if arguments.search:
            searched(board, arguments.game, arguments.matches)
            continue
        for plies in (0, 2):
            found = score(board, list(ADVICE[arguments.game].lines.values()), arguments.matches, plies)
            low, high = found.interval
            print(f"{found!r},  # {found.kept / found.matches:.1%} [{low:.1%}, {high:.1%}]", flush=True)


if __name__ == "__main__":
    main()
