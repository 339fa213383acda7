"""The tables of bots/README.md: shares of points by encounter, and their intervals."""

import importlib.util
from pathlib import Path

import pytest

BOTS = Path(__file__).parents[2] / "bots"


@pytest.fixture(scope="module")
def make_tables():
    spec = importlib.util.spec_from_file_location("make_tables", BOTS / "make_tables.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def record(encounter, bots, ranks):
    return {"encounter": encounter, "bots": [f"{bot}@1" for bot in bots], "ranks": ranks}


def test_an_encounter_is_one_share_for_each_ordered_pair(make_tables):
    records = [
        record(1, ["a", "b"], [1, 2]),
        record(1, ["b", "a"], [1, 1]),
        record(2, ["a", "b"], [2, 1]),
        record(2, ["b", "a"], [1, 2]),
        record(3, ["a", "b", "c"], [2, 1, 2]),
    ]
    shares = make_tables.shares_by_encounter(records)
    assert shares["a", "b"] == [0.75, 0.0, 0.0]
    assert shares["b", "a"] == [0.25, 1.0, 1.0]
    assert shares["a", "c"] == shares["c", "a"] == [0.5]


def test_the_interval_of_a_mean_share_is_as_by_hand(make_tables):
    """Of 1, 0.5, 0.5, 0: mean 0.5, s² = 0.5 / 3, 1.96 · √(0.1667 / 4) = 0.4001."""
    assert make_tables.share_with_interval([1.0, 0.5, 0.5, 0.0]) == pytest.approx((0.5, 0.4001), abs=1e-4)


def test_who_is_not_surely_better_is_not_told_apart(make_tables):
    shares = {("a", "b"): [1.0, 0.5, 0.5, 0.0], ("a", "c"): [1.0, 1.0, 1.0, 0.5]}
    assert make_tables.compared("a", "b", shares).endswith("50.0 ± 40.0 % of the points; not told apart")
    assert make_tables.compared("a", "c", shares) == "- `a` over `c`: 87.5 ± 24.5 % of the points"
