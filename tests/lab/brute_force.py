"""The five games for two once more, in a few lines each and without the package: every line of play to its end.

Nothing is remembered, no symmetry is used and nothing is left out. A mark is a square (column, row) from 0.
"""

from decimal import Decimal, localcontext
from itertools import pairwise
from math import gcd, isqrt


def best(turn, children):
    """Return the margin of the better one of the values after each action, for the seat to act: 0, or else 1."""
    return (min if turn else max)(children)


def free_squares(marks, size):
    columns, rows = {x for x, _ in marks}, {y for _, y in marks}
    return [(x, y) for x in range(size) for y in range(size) if x not in columns and y not in rows]


def readings(marks):
    """Return rows by column and columns by row."""
    return [y for _, y in sorted(marks)], [x for _, x in sorted((y, x) for x, y in marks)]


def differences(size, is_once, marks=()):
    if len(marks) == size:
        scores = []
        for line in readings(marks):
            steps = [abs(one - other) for one, other in pairwise(line)]
            scores.append(sum(steps.count(step) == 1 for step in steps) if is_once else len(set(steps)))
        return scores[0] - scores[1]
    return best(len(marks) % 2, (differences(size, is_once, (*marks, square)) for square in free_squares(marks, size)))


def plusminus(size, first, lists=("", ""), marks=()):
    """A list of signs has ``>`` where the next one is above."""
    turn = len(lists[0] + lists[1]) % 2
    if len(lists[1]) < size - 1:
        longer = ([*lists[:turn], lists[turn] + sign, *lists[turn + 1 :]] for sign in "<>")
        return best(turn, (plusminus(size, first, tuple(one)) for one in longer))
    if len(marks) == size:
        scores = []
        for line, predicted in zip(readings(marks), lists, strict=True):
            signs = [">" if other > one else "<" for one, other in pairwise(line)]
            scores.append(sum(sign == one for sign, one in zip(signs, predicted, strict=True)))
        return scores[0] - scores[1]
    turn = (len(marks) + first) % 2
    return best(turn, (plusminus(size, first, lists, (*marks, square)) for square in free_squares(marks, size)))


def multiplication(size, starter=0, marks=(), path=(), margin=0):
    if len(marks) < size:
        return best(
            len(marks) % 2, (multiplication(size, starter, (*marks, square)) for square in free_squares(marks, size))
        )
    path = path or (min(marks),)
    if len(path) == size:
        return margin
    turn = (len(path) - 1 + starter) % 2
    values = []
    for mark in set(marks) - set(path):
        jump = abs(mark[0] - path[-1][0]) * abs(mark[1] - path[-1][1])
        values.append(multiplication(size, starter, marks, (*path, mark), margin + (-jump if turn else jump)))
    return best(turn, values)


def plaid(width, height, lines, drawn=frozenset()):
    """The margin to 50 digits; lines are ("v", x) and ("h", y)."""
    upright, level = (sorted(place for kind, place in drawn if kind == which) for which in "vh")
    if len(drawn) >= lines and (len(upright) + 1) * (len(level) + 1) % 2 == 0:
        with localcontext() as context:
            context.prec = 50
            widths = [b - a for a, b in pairwise([0, *upright, width])]
            heights = [b - a for a, b in pairwise([0, *level, height])]
            sides = [wide * wide + high * high for high in reversed(heights) for wide in widths]
            return sum((-1) ** place * Decimal(side).sqrt() for place, side in enumerate(sides))
    left = {("v", x) for x in range(1, width)} | {("h", y) for y in range(1, height)}
    return best(len(drawn) % 2, [plaid(width, height, lines, drawn | {line}) for line in sorted(left - drawn)])


def is_prime(number):
    return number > 1 and all(number % factor for factor in range(2, isqrt(number) + 1))


def coprimality(size, grids, board=None, turn=0):
    """Squares are (row from the top, column): the numbers 1, 2, … in turn."""
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
        after = {**board, square: number}
        values.append(coprimality(size, grids, after, 1 - turn if is_prime(number) else turn))
    if not values:
        return coprimality(size, grids - 1) if grids > 1 else 0
    return best(turn, values)
