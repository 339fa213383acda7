"""``python -m arena.games.kernels.self_test GAME FILE``: compares a build with the rules before anybody uses it."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from arena.base.errors import KernelError
from arena.games.kernels.loading import open_library
from arena.games.kernels.sameness import SELF_TEST, Compared, Effort, check_refusals, compare, compare_slips
from arena.games.kernels.solver_sameness import compare_shares, compare_solutions


def main(arguments: list[str]) -> int:
    """Return 0 if the build is the same game as the rules, else exit with the first difference."""
    name, path = arguments
    try:
        compare_all(name, open_library(Path(path)), SELF_TEST)
    except KernelError as error:
        sys.exit(str(error))
    return 0


def compare_all(name: str, library: ctypes.CDLL, effort: Effort) -> Compared:
    """Compare all that a kernel does with the rules; return how much was compared of the rules themselves."""
    compared = compare(name, library, effort)
    check_refusals(name, library)
    compare_solutions(name, library)
    compare_shares(name, library)
    compare_slips(name, library)
    return compared


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
