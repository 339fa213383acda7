"""How many system calls a launch takes: where times say little, a count shows what costs more than before."""

import pytest

from benchmarks.launch_calls import count
from tests import needs


@pytest.mark.slow
@needs.program("strace")
@needs.program("cc")
@pytest.mark.parametrize(("level", "a_match", "a_launch"), [("none", 400, 150), ("landlock", 500, 200)])
def test_a_match_whose_bots_are_launched_takes_no_more_system_calls_than_is_said(level, a_match, a_launch):
    """Of 31 plies and two launches, as a worker plays it that has played such matches before."""
    needs.isolation(level)
    counted = count(level)
    assert counted.match.total() <= a_match, counted.match
    assert counted.launch <= a_launch, counted
