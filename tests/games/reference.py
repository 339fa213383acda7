"""The rules once more, written from the rulings in another style and only for tests.

Nothing here is shared with ``arena.games``: positions are whole histories (lists of actions), everything is worked out
anew from the first action, and no speed is sought. ``legal(history)`` lists actions, ``result(history)`` gives scores
when the match is over and None before.
"""

from decimal import Decimal, getcontext
from itertools import count
from math import gcd

getcontext().prec = 60


class Permutation:
    def __init__(self, n):
        self.n = n
        self.all_squares = [(x, y) for x in range(1, n + 1) for y in range(1, n + 1)]

    def free(self, marks):
        return [s for s in self.all_squares if all(s[0] != m[0] and s[1] != m[1] for m in marks)]

    @staticmethod
    def left_to_right(marks):
        return [y for _, y in sorted(marks)]

    @staticmethod
    def bottom_to_top(marks):
        return [x for x, _ in sorted(marks, key=lambda m: m[1])]


class Differences(Permutation):
    def __init__(self, size=8, scoring="distinct"):
        super().__init__(size)
        self.scoring = scoring

    def turn(self, history):
        return len(history) % 2

    def legal(self, history):
        return self.free(history)

    def result(self, history):
        if len(history) < self.n:
            return None
        points = []
        for line in (self.left_to_right(history), self.bottom_to_top(history)):
            steps = [abs(line[i + 1] - line[i]) for i in range(self.n - 1)]
            wanted = (1,) if self.scoring == "once" else range(1, self.n)
            points.append(len([v for v in range(1, self.n) if steps.count(v) in wanted]))
        return points


class Plusminus(Permutation):
    def __init__(self, size=8, grid_first=1):
        super().__init__(size)
        self.grid_first = grid_first

    def turn(self, history):
        if len(history) < 2 * (self.n - 1):
            return len(history) % 2
        return (len(history) + self.grid_first - 1) % 2

    def legal(self, history):
        signs = 2 * (self.n - 1)
        if len(history) < signs:
            return ["+", "-"]
        return self.free(history[signs:])

    def result(self, history):
        signs = 2 * (self.n - 1)
        marks = history[signs:]
        if len(marks) < self.n:
            return None
        truths = []
        for line in (self.left_to_right(marks), self.bottom_to_top(marks)):
            truths.append(["+" if line[i + 1] > line[i] else "-" for i in range(self.n - 1)])
        return [[a == b for a, b in zip(history[k:signs:2], truths[k], strict=True)].count(True) for k in (0, 1)]


class Multiplication(Permutation):
    def __init__(self, players=2, size=9, second_starts=0):
        super().__init__(size)
        self.m, self.first = players, second_starts

    def turn(self, history):
        done = len(history)
        return done % self.m if done < self.n else (done - self.n + self.first) % self.m

    def legal(self, history):
        marks, numbered = history[: self.n], history[self.n :]
        if len(marks) < self.n:
            return self.free(marks)
        return [m for m in sorted(marks) if m != min(marks) and m not in numbered]

    def result(self, history):
        if len(history) < 2 * self.n - 1:
            return None
        marks, numbered = history[: self.n], history[self.n :]
        chain = [min(marks), *numbered]
        points = [0] * self.m
        for j in range(1, self.n):
            (ax, ay), (bx, by) = chain[j - 1], chain[j]
            points[(j - 1 + self.first) % self.m] += abs(ax - bx) * abs(ay - by)
        return points


class Plaid:
    def __init__(self, players=2, width=60, height=60, lines=12):
        self.m, self.w, self.h, self.lines = players, width, height, lines

    def turn(self, history):
        return len(history) % self.m

    def legal(self, history):
        every = [("v", x) for x in range(1, self.w)] + [("h", y) for y in range(1, self.h)]
        return [line for line in every if line not in history]

    def result(self, history):
        xs = sorted([p for d, p in history if d == "v"] + [0, self.w])
        ys = sorted([p for d, p in history if d == "h"] + [0, self.h])
        if len(history) < self.lines or (len(xs) - 1) * (len(ys) - 1) % self.m:
            return None
        points = [Decimal(0)] * self.m
        number = count()
        for top in range(len(ys) - 1, 0, -1):
            for right in range(1, len(xs)):
                dx, dy = xs[right] - xs[right - 1], ys[top] - ys[top - 1]
                points[next(number) % self.m] += Decimal(dx * dx + dy * dy).sqrt()
        return [round(p, 40) for p in points]  # of 60 digits the last few may differ between equal sums


class Coprimality:
    def __init__(self, players=2, size=12, max_grids=10):
        self.m, self.n, self.max_grids = players, size, max_grids

    @staticmethod
    def prime(k):
        found, number = 0, 1
        while found < k:
            number += 1
            if all(number % d for d in range(2, number)):
                found += 1
        return number

    def around(self, square):
        x, y = square
        return [
            (a, b) for a, b in ((x - 1, y), (x, y - 1), (x, y + 1), (x + 1, y)) if 1 <= a <= self.n and 1 <= b <= self.n
        ]

    def squares_for_next(self, grid):
        last = max(grid, key=lambda s: grid[s])
        found = []
        for s in sorted(self.around(last)):
            inside = 1 < s[0] < self.n and 1 < s[1] < self.n
            filled = [t for t in self.around(s) if t in grid]
            if s not in grid and len(filled) >= (2 if inside else 1):
                found.append(s)
        return found

    def play(self, history):
        """Follow the history; return (grid, seat, out, grids used, over)."""
        grid, k, seat, out, used = {(1, self.n): 1}, 1, 0, [], 0
        for action in history:
            j = max(grid.values()) + 1
            bad = any(gcd(grid[t], j) != 1 for t in self.around(action) if t in grid)
            grid[action] = j
            turn_done = bad
            if j == self.prime(k):
                k += 1
                turn_done = True
            if bad:
                out.append(seat)
                if len(out) == self.m - 1:
                    return grid, seat, out, used, True
            while turn_done:
                seat = (seat + 1) % self.m
                turn_done = seat in out
            if not self.squares_for_next(grid):
                used += 1
                if used == self.max_grids:
                    return grid, seat, out, used, True
                grid, k = {(1, self.n): 1}, 1
                seat = min(set(range(self.m)) - set(out))
        return grid, seat, out, used, False

    def turn(self, history):
        return self.play(history)[1]

    def legal(self, history):
        return self.squares_for_next(self.play(history)[0])

    def result(self, history):
        _, _, out, _, over = self.play(history)
        if not over:
            return None
        return [out.index(s) if s in out else len(out) for s in range(self.m)]


REFERENCE = {
    "plusminus": Plusminus,
    "plaid": Plaid,
    "coprimality": Coprimality,
    "differences": Differences,
    "multiplication": Multiplication,
}


class Pie:
    def __init__(self, rules, pie):
        self.rules, self.pie = rules, pie

    def part(self, history):
        own = [action for action in history if action not in ("keep", "swap")]
        is_due = len(own) >= self.pie or self.rules.result(own) is not None
        return own, "answered" if len(own) < len(history) else "due" if is_due else "first"

    def turn(self, history):
        own, part = self.part(history)
        return {"first": 0, "due": 1}[part] if part != "answered" else self.rules.turn(own) ^ ("swap" in history)

    def legal(self, history):
        own, part = self.part(history)
        return ["keep", "swap"] if part == "due" else self.rules.legal(own)

    def result(self, history):
        own, part = self.part(history)
        points = self.rules.result(own) if part == "answered" else None
        return points[::-1] if points and "swap" in history else points


def reference_of(name, options):
    rules = REFERENCE[name](**{key: value for key, value in options.items() if key != "pie"})
    return Pie(rules, options["pie"]) if "pie" in options else rules


def count_sequences(rules, history=()):
    """Count the complete action sequences by trying every one."""
    if rules.result(list(history)) is not None:
        return 1
    return sum(count_sequences(rules, (*history, action)) for action in rules.legal(list(history)))
