"""Fits that begin with an earlier one end where a fit from nothing ends."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings

from arena.ratings.field_fit import fit_encounters
from arena.ratings.result_arrays import EncounterArrays
from arena.ratings.set_fit import SetFit
from arena.ratings.settled_fit import Start, estimated_width
from benchmarks.coverage import SimulatedField, free_for_all
from tests.ratings.test_field_fit import field
from tests.ratings.test_set_fit import RESULTS


def counted(encounters):
    return list(Counter(encounters).items())


def start_of(fitted):
    means, sigmas = np.array(fitted.ratings).T
    return Start(fitted.names, means, sigmas**-2, fitted.draw_probability, fitted.prior_width)


def assert_equal_to_nine_digits(fitted, other):
    assert fitted.names == other.names
    assert np.array(fitted.ratings) == pytest.approx(np.array(other.ratings), rel=1e-9)
    assert (fitted.draw_probability, fitted.prior_width) == pytest.approx(
        (other.draw_probability, other.prior_width), rel=1e-9
    )
    scale = np.abs(other.draws).max()
    assert fitted.draws / scale == pytest.approx(other.draws / scale, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(RESULTS, RESULTS, RESULTS)
def test_where_a_fit_begins_makes_no_difference_to_nine_digits(both, before, after):
    """Some results are new, and some are there no more, as after a correction."""
    results, earlier = [(one,) for one in both + after], [(one,) for one in both + before]
    afresh = fit_encounters(counted(results))
    begun = fit_encounters(counted(earlier))
    assume(afresh.is_settled and begun.is_settled)
    assert_equal_to_nine_digits(fit_encounters(counted(results), start=start_of(begun)), afresh)


LARGER = {
    "two players": lambda rng: field(1, bots=130, encounters=2)[1],
    "four players": lambda rng: free_for_all(SimulatedField(rng, bots=30), 4, 200),
    "twelve": lambda rng: field(1, bots=12, encounters=60)[1],
}


@pytest.mark.slow(sample=("twelve",))
@pytest.mark.parametrize("kind", LARGER)
def test_a_larger_field_that_grows(kind, monkeypatch):
    encounters = LARGER[kind](random.Random(1))
    begun = fit_encounters(counted(encounters[: len(encounters) * 95 // 100]))
    sweeps, sweep = [], SetFit.sweep
    monkeypatch.setattr(SetFit, "sweep", lambda *arguments: sweeps.append(1) or sweep(*arguments))
    afresh = fit_encounters(counted(encounters))
    of_afresh = len(sweeps)
    continued = fit_encounters(counted(encounters), start=start_of(begun))
    if kind == "two players":  # in fields that are not small the width is right from the first sweep on
        assert of_afresh <= 15
    assert afresh.is_settled and continued.is_settled
    assert len(sweeps) - of_afresh < of_afresh
    assert_equal_to_nine_digits(continued, afresh)
    assert continued.rank_intervals() == afresh.rank_intervals()
    assert continued.margins() == pytest.approx(afresh.margins(), rel=1e-8)


def test_draw_probability_and_width_are_those_that_the_fit_itself_gives():
    arrays = EncounterArrays.of(counted(field(1, bots=5, encounters=3)[1]))
    fitted = fit_encounters(arrays)
    fit = SetFit(arrays.names, arrays.results)
    fit.run(fitted.draw_probability, fitted.prior_width, 1e-12)
    assert fit.matching_draw_probability() == pytest.approx(fitted.draw_probability, rel=1e-9)
    trace = np.trace(np.linalg.inv(fit.joint().precision))
    assert estimated_width(fit, trace) == pytest.approx(fitted.prior_width, rel=1e-9)


def test_a_start_that_leads_nowhere_is_given_up():
    encounters = counted(field(2, bots=6)[1])
    afresh = fit_encounters(encounters)
    far = Start(afresh.names, np.array([-9e3, 9e3] * 3), np.full(6, 1e8), 0.9, 1e4)
    assert_equal_to_nine_digits(fit_encounters(encounters, start=far), afresh)
