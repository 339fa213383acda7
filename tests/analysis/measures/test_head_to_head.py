import pytest

from arena.analysis.measures.bot_profile import head_to_head, meetings
from arena.base.results import StoredResult


def played(encounter, bots, ranks, opening="o", actions="x", tournament=1, game="g"):
    return StoredResult(tournament, encounter, game, tuple(bots), tuple(ranks), opening, actions)


RESULTS = [
    played(1, ["a", "b"], [1, 2], "o1", "m1"),
    played(1, ["b", "a"], [1, 2], "o1", "m2"),
    played(2, ["a", "b"], [1, 2], "o2", "m3"),
    played(2, ["b", "a"], [2, 1], "o2", "m4"),
    played(3, ["a", "b"], [1, 2], "o2", "m3"),  # the same match again
    played(3, ["b", "a"], [2, 1], "o2", "m4"),
]


def test_matches_are_counted_encounters_are_scored_and_several_versions_are_one_side():
    """Encounters 0.5 and 1: mean 0.75, variance 0.125, error sqrt((0.125 + 0.25) / 4), 1.96 of it 0.6001."""
    found = head_to_head(meetings(RESULTS, ["a"], ["b"]))
    assert (found.wins, found.draws, found.losses, found.matches) == (5, 0, 1, 6)
    assert (found.encounters, found.score) == (2, 0.75)
    assert found.margin == pytest.approx(0.600114, abs=1e-5)
    assert not found.is_clear
    results = [played(1, ["a@1", "a@2"], [1, 2], "o1", "m1"), played(2, ["a@2", "b", "a@1"], [1, 2, 2], "o2", "m2")]
    found = head_to_head(meetings(results, ["a@1", "a@2"]))
    assert (found.wins, found.draws, found.losses, found.encounters, found.score) == (1, 1, 0, 1, 0.75)
    versions = head_to_head(meetings(results, ["a@1", "a@2"], ["a@1"]))
    assert (versions.wins, versions.losses, versions.score) == (1, 1, 0.5)
    found = head_to_head(meetings([played(1, ["a", "a"], [1, 2])], ["a"], ["a"]))
    assert (found.matches, found.encounters, found.score, found.margin) == (2, 0, None, None)
