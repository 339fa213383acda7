"""The table that is kept for a game with its options: its kernel's, or one by the rules in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena.base.errors import KernelError
from arena.games import Game
from arena.games.kernels.loading import has_solver
from arena.games.kernels.solver import TablePlan
from arena.lab.solving.kernel_tables import KernelTableFile, kernel_table_path, kernel_table_plan, save_kernel_table
from arena.lab.solving.limits import Limits, count_states
from arena.lab.solving.tables import Table, TableFile, table_path

FEW_STATES = 20_000
"""Of so few, a table by the rules in Python is done before a kernel would be built."""


def saved_table(game: Game[Any], path: str) -> Table | None:
    """Return the table that was saved, if any; TableError if it is invalid."""
    try:
        if has_solver(game) and kernel_table_path(game).exists():
            return KernelTableFile(game, kernel_table_path(game))
    except (FileNotFoundError, KernelError):
        pass
    try:
        return TableFile(game, path, table_path(game, path))
    except FileNotFoundError:
        return None


def saved_path(game: Game[Any], path: str) -> Path:
    """Return the file of the table that was saved."""
    by_kernel = kernel_table_path(game) if has_solver(game) else None
    return by_kernel if by_kernel is not None and by_kernel.exists() else table_path(game, path)


def plan_of_kernel_table(game: Game[Any], path: str) -> TablePlan | None:
    """Return what the table takes, if the kernel is to make it."""
    states = count_states(game, path) if has_solver(game) else 0
    return kernel_table_plan(game) if states is None or states > FEW_STATES else None


def make_kernel_table(game: Game[Any], limits: Limits) -> tuple[Path, Table]:
    """Save the table of a game's kernel; return its file, and the table in it.

    Raises:
        KernelError: if there is no memory or no lock.
        TableError: if it can't be written.
        TimeIsUpError: at the deadline.
        TooLargeError: if it takes more memory than it may.
    """
    file = kernel_table_path(game)
    save_kernel_table(game, file, limits)
    return file, KernelTableFile(game, file)
