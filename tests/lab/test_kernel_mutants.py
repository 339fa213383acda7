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
HEADER_MUTANTS = 4
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


def check(mutants, game, directory):
    survivors = []
    for number, mutant in enumerate(mutants):
        place = directory / str(number)
        place.mkdir()
        if complaint_of(mutant, game, place) is None:
            survivors.append(f"{mutant.file}: {mutant.line}")
    assert not survivors
