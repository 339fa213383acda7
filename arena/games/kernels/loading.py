"""Loads kernels with ctypes: from the cache, or built now, or not at all."""

from __future__ import annotations

import ctypes
import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.base.errors import KernelError
from arena.games import GAMES, Game
from arena.games.kernels import build, cache
from arena.games.kernels.kernel import KERNEL_NAMES, Kernel
from arena.games.kernels.solver import Job, KernelSolver, ShareSolver

_INT, _LONG = ctypes.c_int32, ctypes.c_int64
_HANDLE, _SEED = ctypes.c_void_p, ctypes.c_uint64
_BYTES, _JOB = ctypes.POINTER(ctypes.c_uint8), ctypes.POINTER(Job)
_INTS, _LONGS, _DOUBLES = ctypes.POINTER(_INT), ctypes.POINTER(_LONG), ctypes.POINTER(ctypes.c_double)

_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "kernel_new": (_HANDLE, (_INTS,)),
    "kernel_delete": (None, (_HANDLE,)),
    "kernel_max_packed": (_INT, ()),
    "kernel_start": (None, (_HANDLE,)),
    "kernel_pack": (_INT, (_HANDLE, _INTS)),
    "kernel_unpack": (None, (_HANDLE, _INTS, _INT)),
    "kernel_seat_to_act": (_INT, (_HANDLE,)),
    "kernel_count_actions": (_INT, (_HANDLE,)),
    "kernel_actions": (None, (_HANDLE, _INTS)),
    "kernel_make": (_INT, (_HANDLE, _INT)),
    "kernel_unmake": (None, (_HANDLE,)),
    "kernel_result": (_INT, (_HANDLE, _DOUBLES, _INTS)),
    "kernel_trace": (_LONG, (_HANDLE, _SEED, _SEED, _INTS, _LONG)),
    "kernel_playouts": (_LONG, (_HANDLE, _SEED, _SEED, _LONG, _LONGS, _DOUBLES, _LONGS)),
    "kernel_profile": (_LONG, (_HANDLE, _SEED, _SEED, _LONG, _DOUBLES, _DOUBLES, _DOUBLES)),
    "kernel_lines": (_LONG, (_HANDLE, _INT)),
    "slip_encounters": (_LONG, (_HANDLE, _LONG, _SEED, _SEED, _LONG, _INT, _INT, _LONGS, _LONGS)),
    "solver_needs": (_INT, (_HANDLE, _LONGS)),
    "solver_solve": (_INT, (_HANDLE, _JOB)),
    "table_needs": (_INT, (_HANDLE, _LONGS)),
    "table_fill": (_INT, (_HANDLE, _JOB, ctypes.c_void_p)),
    "shares_needs": (_INT, (_HANDLE, _LONGS)),
    "shares_look_up": (_INT, (_HANDLE, _JOB, _BYTES)),
    "table_look_up": (_INT, (_HANDLE, ctypes.c_void_p, _HANDLE, _JOB, _LONGS)),
}
"""What exports.h, slips.h and solve_exports.h export: the type of the result, and of the arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelStatus:
    """The build of a game in the cache, None before it is built; and why there can be none."""

    game: str
    path: Path | None
    problem: str


def open_library(path: Path) -> ctypes.CDLL:
    """Load a build that has been checked; KernelError if the system refuses."""
    try:
        library = ctypes.CDLL(str(path))
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, list(arguments)
    except (OSError, AttributeError) as error:
        raise KernelError(f"{path} can't be loaded: {error}") from error
    return library


@functools.cache
def load(name: str) -> ctypes.CDLL | KernelError:
    """Return a game's library, built if it is not in the cache, or what prevents it. Once in a process."""
    try:
        try:
            directory = cache.checked_directory()
        except KernelError:
            with tempfile.TemporaryDirectory(prefix="arena-kernel-") as private:
                return open_library(build.build(name, Path(private)))
        return open_library(build.find(name, directory) or build.build(name, directory))
    except KernelError as error:
        return error


def kernel_of(game: Game[Any]) -> Kernel | KernelError:
    """Return the kernel of a game with its options, or what prevents it: the caller uses the rules then."""
    library = _library_of(game)
    return library if isinstance(library, KernelError) else Kernel(library, game)


def solver_of(game: Game[Any]) -> KernelSolver:
    """Return the kernel that solves the first state of a game; KernelError with what prevents it."""
    return KernelSolver(_needed_library(game), game)


def share_solver_of(game: Game[Any]) -> ShareSolver:
    """Return the kernel that solves a game for three and more; KernelError with what prevents it."""
    return ShareSolver(_needed_library(game), game)


def has_solver(game: Game[Any]) -> bool:
    """Return whether a game is one for two whose kernel can be built here, or might be."""
    return game.players == 2 and has_kernel(game)


def has_kernel(game: Game[Any]) -> bool:
    """Return whether a game is one of the five, as they are in the package."""
    is_ours = type(game).__module__.startswith("arena.")  # a stranger may have taken the name, or the class
    return game.name in KERNEL_NAMES and is_ours and isinstance(game, GAMES[game.name])


def is_built(game: Game[Any]) -> bool:
    """Return whether the kernel of a game with one is there, so that loading it takes no time."""
    return kernel_status(game.name).path is not None


def _library_of(game: Game[Any]) -> ctypes.CDLL | KernelError:
    return load(game.name) if has_kernel(game) else KernelError(f"{game.name}, as it is here, has no kernel")


def _needed_library(game: Game[Any]) -> ctypes.CDLL:
    library = _library_of(game)
    if isinstance(library, KernelError):
        raise library
    return library


def kernels_sentence() -> str:
    """Return which kernels there are, or why there are none, in a sentence."""
    statuses = [kernel_status(name) for name in KERNEL_NAMES]
    built = [status for status in statuses if status.path is not None]
    problem = next((status.problem for status in statuses if status.problem), "")
    if built:
        return f"Kernels of the lab: {len(built)} of {len(statuses)} built, in {cache.directory_path()}."
    if problem:
        return f"No kernels of the lab: {problem}. Its commands use the rules in Python, slower."
    return "Kernels of the lab: not built yet; they are when they are first used, or by arena lab kernels --build."


def kernel_status(name: str) -> KernelStatus:
    """Return what there is, without building or making anything."""
    try:
        path = build.find(name, cache.checked_directory(must_exist=False))
    except KernelError as error:
        return KernelStatus(game=name, path=None, problem=str(error))
    compiler = build.find_compiler()
    problem = str(compiler) if path is None and isinstance(compiler, KernelError) else ""
    return KernelStatus(game=name, path=path, problem=problem)
