"""Every small mistake in a C source is caught by the self-test, without which no build is used."""

import pytest

from arena.lab.kernels.encoding import KERNEL_NAMES
from tests import needs
from tests.lab.mutants import complaint_of, seeded_mutants

pytestmark = [pytest.mark.processes, needs.program("cc", "gcc", "clang")]

FILES = [(f"{name}.c", name) for name in KERNEL_NAMES]
HEADERS = [
    ("share_coprimality.h", "coprimality"),
    ("sharing.h", "coprimality"),
    ("share_plaid.h", "plaid"),
    ("sheets.h", "plaid"),
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

HEADER_MUTANTS = 4
SOLVER_MUTANTS = 20
QUICK_SOLVER_MUTANTS = 1
MUTANTS = 30
QUICK_MUTANTS = 4


@pytest.mark.parametrize(("file", "game"), FILES)
def test_a_few_mutants_are_caught(file, game, tmp_path):
    check(seeded_mutants(file, MUTANTS)[:QUICK_MUTANTS], game, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize(("file", "game"), FILES)
def test_thirty_mutants_of_each_game_are_caught(file, game, tmp_path):
    mutants = seeded_mutants(file, MUTANTS)
    assert len(mutants) == MUTANTS
    check(mutants, game, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize(("file", "game"), HEADERS)
def test_mutants_of_what_solves_for_three_and_more_are_caught(file, game, tmp_path):
    mutants = seeded_mutants(file, HEADER_MUTANTS)
    assert len(mutants) == HEADER_MUTANTS
    check(mutants, game, tmp_path)


def test_a_mutant_of_what_solves_for_three_and_more_is_caught(tmp_path):
    check(seeded_mutants("share_plaid.h", HEADER_MUTANTS)[:1], "plaid", tmp_path)


@pytest.mark.parametrize(("file", "game"), SOLVERS)
def test_a_mutant_of_a_solver_is_caught(file, game, tmp_path):
    check(seeded_mutants(file, SOLVER_MUTANTS)[:QUICK_SOLVER_MUTANTS], game, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize(("file", "game"), SOLVERS)
def test_twenty_mutants_of_each_solver_are_caught(file, game, tmp_path):
    """Short files have fewer."""
    mutants = seeded_mutants(file, SOLVER_MUTANTS)
    assert len(mutants) == SOLVER_MUTANTS or file in ("solve_integers.h", "byte_marking.h")
    check(mutants, game, tmp_path)


def check(mutants, game, directory):
    survivors = []
    for number, mutant in enumerate(mutants):
        place = directory / str(number)
        place.mkdir()
        if complaint_of(mutant, game, place) is None:
            survivors.append(f"{mutant.file}: {mutant.line}")
    assert not survivors
