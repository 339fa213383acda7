from math import comb, factorial

import pytest

from arena.base.errors import KernelError
from arena.games import make_game
from arena.games.kernels import loading
from arena.games.kernels.build import FLAGS, compile_kernel, find_compiler
from arena.games.kernels.kernel import KERNEL_NAMES, Kernel
from arena.games.kernels.loading import kernel_of, load, share_solver_of, solver_of
from arena.games.kernels.playouts import Generator, lines_by_rules, playouts_by_rules, random_playouts, trace_by_rules
from arena.games.kernels.sameness import Effort, compare, compare_states
from arena.games.kernels.solver import KernelSolver, ShareSolver
from arena.lab.solving import kernel_values
from arena.lab.solving.kernel_values import KernelValues
from arena.lab.solving.limits import Limits
from tests import needs
from tests.lab.mutants import ASKS_OFTEN, complaint_of, seeded_mutants

pytestmark = needs.program("cc", "gcc", "clang")


def kernel(name, **options):
    found = kernel_of(make_game(name, **options))
    assert isinstance(found, Kernel), found
    return found


@pytest.mark.slow(sample=("plusminus",))
@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_a_kernel_is_the_same_game_as_the_rules(name):
    compared = compare(name, load(name), Effort(playouts=1000, large_playouts=2, lines=10_000), seed=2)
    assert compared.playouts >= 1000
    assert compared.states > 80


@pytest.mark.soak
@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_ten_million_playouts_are_the_same(name):
    compare(name, load(name), Effort(playouts=10_000_000, large_playouts=20, lines=1_000_000), seed=3)


def test_the_generator_is_splitmix64():
    """The first numbers of the generator's reference implementation for the state 1234567."""
    generator = Generator(0, 0)
    generator._state = 1234567
    assert [generator.next() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_marks_are_placed_in_as_many_orders_as_there_are_orders_of_partial_permutations(size):
    """OEIS A002720 counts partial permutations: C(n, k)^2 k! with k marks; each is reached in k! orders."""
    permutations = kernel("differences", size=size)
    for marks in range(1, size + 1):
        assert permutations.lines(marks) == comb(size, marks) ** 2 * factorial(marks) ** 2
    assert permutations.lines(size + 1) == 0


def test_an_illegal_action_is_refused_and_changes_nothing():
    found = kernel("differences", size=4)
    assert found.make((2, 3))
    before = found.numbers(), found.seat_to_act()
    assert not found.make((2, 1))
    assert not found.make((1, 3))
    assert (found.numbers(), found.seat_to_act()) == before == ([0, 3, 0, 0], 1)


def test_near_ties_of_plaid_are_decided_by_the_rules():
    """One upright line in the middle of the sheet: both seats have a rectangle of 1 by 3."""
    game = make_game("plaid", width=2, height=3, lines=1)
    state = game.apply(game.initial_state(), ("v", 1))
    found = kernel("plaid", width=2, height=3, lines=1)
    found.set_state(state)
    scores, ranks = found.result()
    assert scores == pytest.approx((10**0.5, 10**0.5))
    assert ranks is None
    assert game.ranks(state) == (1, 1)
    totals = found.playouts(1, 0, 1000)
    assert totals == random_playouts(game, 1, 0, 1000)
    assert totals.ranked == playouts_by_rules(game, 1, 0, 1000).ranked
    assert totals.ranked[0][0] + totals.ranked[1][0] > 1000  # ties among them


def test_playouts_are_the_same_in_parts_and_longer_than_the_first_buffer():
    found = kernel("coprimality", size=5)
    parts, whole = [found.playouts(9, first, 250) for first in range(0, 1000, 250)], found.playouts(9, 0, 1000)
    assert (whole.plies, whole.ranked[0][0]) == (
        sum(one.plies for one in parts),
        sum(one.ranked[0][0] for one in parts),
    )
    sheet = {"width": 150, "height": 150, "lines": 298}
    with_buffer, longer = kernel("plaid", **sheet), trace_by_rules(make_game("plaid", **sheet), 1, 1)
    with_buffer.first_plies = 20
    assert with_buffer.trace(1, 1).plies == longer.plies


def test_a_game_from_outside_has_no_kernel_and_is_played_by_its_rules():
    game = make_game("hex:Hex", size=3, swap="no")
    assert isinstance(kernel_of(game), KernelError)
    totals = random_playouts(game, 1, 0, 50)
    assert totals == playouts_by_rules(game, 1, 0, 50)
    assert totals.ranked[0][0] + totals.ranked[1][0] == 50  # hex has no ties
    assert lines_by_rules(game, game.initial_state(), 2) == 9 * 8


def test_a_difference_is_named_with_the_place():
    class Wrong(Kernel):
        def seat_to_act(self):
            seat = super().seat_to_act()
            return None if seat is None else 1 - seat

    wrong = Wrong(load("differences"), make_game("differences", size=2))
    with pytest.raises(KernelError) as error:
        compare_states(wrong)
    assert str(error.value) == (
        "the kernel of differences (size = 2, scoring = distinct) differs from the rules:"
        " the seat to act in DifferencesState(heights=(0, 0)): 1, not 0"
    )


@pytest.fixture(scope="module")
def asking_plaid(tmp_path_factory):
    path = tmp_path_factory.mktemp("asking") / "plaid.so"
    compile_kernel("plaid", path, find_compiler(), flags=(*FLAGS, ASKS_OFTEN))
    return loading.open_library(path)


@pytest.fixture
def asked(monkeypatch):
    found = []
    kind = type(make_game("plaid"))
    ranks = kind.ranks
    monkeypatch.setattr(kind, "ranks", lambda game, state: found.append((game, state)) or ranks(game, state))
    return found


@pytest.mark.slow(sample=True)
@pytest.mark.parametrize(
    ("sheet", "solver", "ask"),
    [
        ({"width": 6, "height": 4}, KernelSolver, lambda kernel: kernel.solve()),
        ({"players": 3, "width": 6, "height": 3}, ShareSolver, lambda kernel: kernel.after_actions()),
    ],
    ids=["values", "shares"],
)
def test_near_ties_are_decided_by_the_rules(asking_plaid, asked, sheet, solver, ask):
    for lines in range(1, 9 if solver is KernelSolver else 7):
        game = make_game("plaid", lines=lines, **sheet)
        expected = ask((solver_of if solver is KernelSolver else share_solver_of)(game))
        assert ask(solver(asking_plaid, game)) == expected
    assert len(asked) > 50
    assert all(len(set(game.scores(state))) > 1 for game, state in asked)  # equal ones are known to be ties


@pytest.mark.slow(sample=True)
def test_a_table_of_values_has_what_the_rules_say_of_them(asking_plaid, asked, monkeypatch):
    game = make_game("plaid", width=6, height=4, lines=5)
    expected = KernelValues(game, Limits()).after_actions(game.initial_state())
    asked.clear()
    monkeypatch.setattr(kernel_values, "solver_of", lambda game: KernelSolver(asking_plaid, game))
    assert KernelValues(game, Limits()).after_actions(game.initial_state()) == expected
    assert asked


@pytest.mark.slow(sample=True)
def test_a_mistake_of_the_rules_in_a_near_tie_is_not_lost(asking_plaid, monkeypatch):
    game = make_game("plaid", width=4, height=3, lines=2)
    monkeypatch.setattr(game, "ranks", lambda _state: {}["no ranks"])
    with pytest.raises(KeyError, match="no ranks"):
        KernelSolver(asking_plaid, game).solve()


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


@pytest.mark.slow
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


@pytest.mark.slow
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
