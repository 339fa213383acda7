"""How many system calls a launch takes: where times say little, a count shows what costs more than before."""

from pathlib import Path

import pytest

from benchmarks.launch_calls import count
from tests import needs

MOUNTING_A_BOT = 30
"""Below a directory that others may not enter, each bot's files are mounted where it can reach them."""


@pytest.mark.slow
@needs.program("strace")
@needs.program("cc")
@pytest.mark.parametrize(("level", "a_match", "a_launch"), [("none", 400, 150), ("landlock", 500, 200)])
def test_a_match_whose_bots_are_launched_takes_no_more_system_calls_than_is_said(level, a_match, a_launch):
    """Of 31 plies and two launches, as a worker plays it that has played such matches before."""
    needs.isolation(level)
    counted = count(level)
    if not all(place.stat().st_mode & 0o001 for place in Path(__file__).parents):
        a_match += 2 * MOUNTING_A_BOT
    assert counted.match.total() <= a_match, counted.match
    assert counted.launch <= a_launch, counted
