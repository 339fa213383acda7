"""What smaller boards of a game are worth, and the one that was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from arena.base.errors import KernelError, OptionError, UsageError
from arena.games import GAMES, make_game
from arena.games.game import Game
from arena.lab.solve import Solver
from arena.lab.solving.limits import Limits, TimeIsUpError, TooLargeError
from arena.lab.solving.solution import By, Solution
from arena.lab.solving.state_count import bytes_per_state

MAX_BOARDS = 12
"""Whose values are computed: the smallest ones, and the one that was asked for."""

PLAID_SIDES = (4, 6, 8, 10, 12, 14)
"""Of smaller square sheets whose values are computed, too."""

MOST_STATES = 100_000
"""Of a board that is solved by a table by the rules in Python, which takes some seconds."""


def solved_boards(game: Game[Any], path: str, limits: Limits) -> Iterator[tuple[str, Solution | None]]:
    """Yield each board with what is known of it: after one that is too large, only by proofs.

    Args:
        game: the rules, with the options of the board that was asked for.
        path: the game's name or dotted path.
        limits: of each board.
    """
    is_easy = True
    for board, rules in boards_of(game, path):
        solution = _proved(rules, path, limits)
        if is_easy and not is_exact(solution):
            solution = _computed(rules, path, limits) or solution
        is_easy = is_easy and is_exact(solution)
        yield board, solution


def _computed(game: Game[Any], path: str, limits: Limits) -> Solution | None:
    """Return what a board is worth by the kernel, or by a table by the rules if it has few states.

    A search is not asked: how far it came would depend on the machine.
    """
    unhurried = replace(limits, deadline=float("inf"))  # a solver in a hurry does not build the kernel it needs
    plan = Solver(game, path, unhurried).plan()
    if plan.by is By.TABLE:
        most_bytes = MOST_STATES * bytes_per_state(game)
        limits = replace(limits, memory_bytes=min(limits.memory_bytes, most_bytes))
    try:
        return Solver(game, path, limits).solve(plan.by)
    except (TimeIsUpError, TooLargeError, KernelError):
        return None


def _proved(game: Game[Any], path: str, limits: Limits) -> Solution | None:
    """Return what strategies prove of a board; None without any."""
    try:
        return Solver(game, path, limits).solve(By.PROOF)
    except UsageError:
        return None


def is_exact(solution: Solution | None) -> bool:
    """Return whether nothing is left to compute; of a game for more than two there are shares in place of a worth."""
    return solution is not None and (solution.worth is None or solution.worth.is_exact)


def boards_of(game: Game[Any], path: str) -> list[tuple[str, Game[Any]]]:
    """Return smaller boards of a game and the board itself, each with what is said of it.

    Args:
        game: the rules.
        path: the game's name or dotted path; one from outside has no other boards that the arena knows of.
    """
    options = game.options
    if path in GAMES and "size" in options:
        sets = [{"size": size} for size in range(2, options["size"] + 1)]
    elif path in GAMES and "width" in options:
        sides = [side for side in PLAID_SIDES if side < min(options["width"], options["height"])]
        sets = [{"width": side, "height": side} for side in sides]
        sets.append({"width": options["width"], "height": options["height"]})
    else:
        return [(_said(options), game)]
    boards = []
    for changed in sets:
        try:
            boards.append((_said(changed), make_game(path, **{**options, **changed})))
        except OptionError:
            continue  # a size that the rules do not have
    return boards if len(boards) <= MAX_BOARDS else [*boards[: MAX_BOARDS - 1], boards[-1]]


def _said(options: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in options.items()) or "the board"
