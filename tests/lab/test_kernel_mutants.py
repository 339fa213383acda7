"""Every small mistake in a C source is caught by the self-test, without which no build is used."""

import pytest

from arena.games.kernels.kernel import KERNEL_NAMES
from tests import needs
from tests.lab.mutants import complaint_of, seeded_mutants

pytestmark = [pytest.mark.slow, needs.program("cc", "gcc", "clang")]

FILES = [(f"{name}.c", name) for name in KERNEL_NAMES]
HEADERS = [
    ("share_coprimality.h", "coprimality"),
    ("sharing.h", "coprimality"),
    ("share_plaid.h", "plaid"),
    ("sheets.h", "plaid"),
    ("batches.h", "multiplication"),
    ("play_plaid.h", "plaid"),
    ("play_coprimality.h", "coprimality"),
]
SOLVERS = [
    ("solve_coprimality.h", "coprimality"),
    ("solve_plaid.h", "plaid"),
    ("solve_plusminus.h", "plusminus"),
    ("solve_multiplication.h", "multiplication"),
    ("solve_integers.h", "multiplication"),
    ("marking.h", "multiplication"),
    ("byte_marking.h", "differences"),
    ("levels.h", "plusminus"),
    ("lattice.h", "plusminus"),
]
"""What finds the value of best play of two, and a game that is solved by it. The small boards of differences are draws,
which says little."""

MUTANTS, SOLVER_MUTANTS, HEADER_MUTANTS = 30, 20, 4


@pytest.mark.parametrize(
    ("file", "game", "of"),
    [
        ("coprimality.c", "coprimality", MUTANTS),
        ("lattice.h", "plusminus", SOLVER_MUTANTS),
        ("share_plaid.h", "plaid", HEADER_MUTANTS),
    ],
)
def test_a_mutant_is_caught(file, game, of, tmp_path):
    """Of each kind; long runs have many of each file."""
    check(seeded_mutants(file, of)[:1], game, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("file", "game", "count"),
    [
        *((*file, MUTANTS) for file in FILES),
        *((*file, SOLVER_MUTANTS) for file in SOLVERS),
        *((*file, HEADER_MUTANTS) for file in HEADERS),
    ],
)
def test_many_mutants_of_each_file_are_caught(file, game, count, tmp_path):
    """Short files have fewer."""
    mutants = seeded_mutants(file, count)
    assert len(mutants) == count or file in ("solve_integers.h", "byte_marking.h")
    check(mutants, game, tmp_path)


def check(mutants, game, directory):
    survivors = []
    for number, mutant in enumerate(mutants):
        place = directory / str(number)
        place.mkdir()
        if complaint_of(mutant, game, place) is None:
            survivors.append(f"{mutant.file}: {mutant.line}")
    assert not survivors
