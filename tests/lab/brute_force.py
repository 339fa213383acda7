"""Best play of two by every line of play to its end: nothing is remembered or left out, and no symmetry is used."""

from math import gcd, isqrt

from tests.games.reference import reference_of


def margin_after(name, options, history=()):
    """Return the margin of seat 0 after actions and best play, by rules that are not those of the package."""
    return _margin(reference_of(name, options), list(history))


def _margin(rules, history):
    points = rules.result(history)
    if points is not None:
        return points[0] - points[1]
    return best(rules.turn(history), (_margin(rules, [*history, action]) for action in rules.legal(history)))


def best(turn, children):
    """Return the margin of the better one of the values after each action, for the seat to act: 0, or else 1."""
    return (min if turn else max)(children)


def coprimality(size, grids, board=None, turn=0):
    """Return the outcome of coprimality. Squares are (row from the top, column): the numbers 1, 2, … in turn."""
    board = board or {(0, 0): 1}
    number, (row, column) = len(board) + 1, list(board)[-1]
    values = []
    for square in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
        if square in board or not all(0 <= one < size for one in square):
            continue
        beside = [(square[0] + down, square[1] + right) for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        around = [board[one] for one in beside if one in board]
        if len(around) < 2 and not {0, size - 1} & set(square):
            continue
        if any(gcd(number, other) > 1 for other in around):
            values.append(1 if turn else -1)
            continue
        is_prime = all(number % factor for factor in range(2, isqrt(number) + 1))
        values.append(coprimality(size, grids, {**board, square: number}, 1 - turn if is_prime else turn))
    if not values:
        return coprimality(size, grids - 1) if grids > 1 else 0
    return best(turn, values)
