"""Distributions against scipy, printed tables and exact values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.alternatives import connected_components
from arena.ratings.distributions import chi_square_survival, hazard, mills_ratio, normal_cdf, t_quantile
from arena.ratings.result_arrays import counting
from tests import needs

needs_scipy = needs.package("scipy")

NUMBERS = np.concatenate([np.linspace(-37.0, 9.0, 4601), [-1e-300, 0.0, 1e-300]])


@needs_scipy
def test_the_normal_distribution_agrees_with_scipy_in_both_tails():
    from scipy import special

    assert normal_cdf(NUMBERS) == pytest.approx(special.ndtr(NUMBERS), rel=1e-12)
    assert normal_cdf(np.array([-np.inf, -50.0, 50.0, np.inf])).tolist() == [0.0, 0.0, 1.0, 1.0]


@needs_scipy
def test_the_hazard_agrees_with_scipy_and_with_its_limits():
    from scipy import special

    log_density = -0.5 * NUMBERS**2 - 0.5 * math.log(2 * math.pi)
    assert hazard(NUMBERS) == pytest.approx(np.exp(log_density - special.log_ndtr(NUMBERS)), rel=1e-12)
    assert hazard(np.array([-1e8, -1e300, 1e300])) == pytest.approx([1e8, 1e300, 0.0], rel=1e-15)


@needs_scipy
def test_mills_ratio_is_that_of_scipys_scaled_error_function():
    """(1 - cdf(x)) / pdf(x) = sqrt(pi / 2) erfcx(x / sqrt(2)); of more values than fit into one block."""
    from scipy import special

    x = np.concatenate([np.linspace(0.0, 30.0, 19_990), np.logspace(2, 12, 10)]).reshape(4, 5000)
    expected = math.sqrt(math.pi / 2) * special.erfcx(x / math.sqrt(2))
    assert mills_ratio(x).ravel().tolist() == pytest.approx(expected.ravel().tolist(), rel=2e-15)


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    # Abramowitz and Stegun, table 26.10, for a probability of 0.95 within
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (10, 2.228), (29, 2.045), (60, 2.000), (120, 1.980)],
)
def test_quantiles_of_t_are_those_of_the_table(freedom, quantile):
    assert t_quantile(freedom, 0.975) == pytest.approx(quantile, abs=5e-4)


@needs_scipy
@pytest.mark.parametrize("freedom", [1, 2, 3, 50, 199, 200, 100_000])
def test_quantiles_of_t_agree_with_scipy(freedom):
    from scipy import special

    for p in (0.6, 0.9, 0.975, 0.995):
        assert t_quantile(freedom, p) == pytest.approx(special.stdtrit(freedom, p), rel=1e-10)


@pytest.mark.parametrize(("freedom", "quantile"), [(1, 3.841), (2, 5.991), (10, 18.307), (30, 43.773), (100, 124.342)])
def test_five_percent_of_chi_square_are_beyond_the_value_of_the_table(freedom, quantile):
    """Abramowitz and Stegun, table 26.8."""
    assert chi_square_survival(freedom, quantile) == pytest.approx(0.05, abs=2e-5)


@needs_scipy
def test_chi_square_agrees_with_scipy():
    from scipy import special

    for freedom in (0.7, 1.0, 7.3, 30.0, 1234.5, 1e5):
        for x in (0.01, 1.0, 0.9 * freedom, freedom, freedom + 2 * math.sqrt(freedom), 1.3 * freedom):
            expected = special.chdtrc(freedom, x)
            assert chi_square_survival(freedom, x) == pytest.approx(expected, rel=1e-8, abs=1e-300)
    assert chi_square_survival(3.0, 0.0) == 1.0


@needs_scipy
def test_components_agree_with_scipy():
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components as components_of_scipy

    for seed in range(60):
        rng = np.random.default_rng(seed)
        size, edges = int(rng.integers(1, 50)), int(rng.integers(0, 50))
        first, second = rng.integers(0, size, (2, edges))
        found = connected_components(size, first, second)
        matrix = coo_matrix((np.ones(edges), (first, second)), shape=(size, size))
        _, expected = components_of_scipy(matrix, directed=False)
        assert found.tolist() == [int(np.flatnonzero(expected == label)[0]) for label in expected]


def test_a_long_chain_is_one_component_and_what_is_always_the_same_counts_once():
    chain = np.random.default_rng(0).permutation(5000)
    assert not connected_components(5000, chain[:-1], chain[1:]).any()
    assert counting("ABABAB", "111211") == [True, True, False, True, False, True]


# which matches count, against the rule written in another way


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2))))
def test_an_opening_counts_once_if_the_same_match_follows_and_always_otherwise(matches):
    counts = counting([opening for opening, _ in matches], [actions for _, actions in matches])
    for opening in {opening for opening, _ in matches}:
        own = [(actions, counted) for (of, actions), counted in zip(matches, counts, strict=True) if of == opening]
        if len({actions for actions, _ in own}) == 1:
            assert [counted for _, counted in own] == [True] + [False] * (len(own) - 1)
        else:
            assert all(counted for _, counted in own)
