import random
from itertools import groupby

import pytest

from arena.analysis.measures.bot_profile import head_to_head, meetings
from arena.base.results import StoredResult
from arena.ratings.consistency import pair_scores
from arena.ratings.result_arrays import EncounterArrays, counting


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


def test_matches_are_counted_and_encounters_are_scored():
    """Encounters 0.5 and 1: mean 0.75, variance 0.125, error sqrt((0.125 + 0.25) / 4), 1.96 of it 0.6001."""
    found = head_to_head(meetings(RESULTS, ["a"], ["b"]))
    assert (found.wins, found.draws, found.losses, found.matches) == (5, 0, 1, 6)
    assert (found.encounters, found.score) == (2, 0.75)
    assert found.margin == pytest.approx(0.600114, abs=1e-5)
    assert not found.is_clear


def test_several_versions_are_one_side_and_never_their_own_rival():
    results = [played(1, ["a@1", "a@2"], [1, 2], "o1", "m1"), played(2, ["a@2", "b", "a@1"], [1, 2, 2], "o2", "m2")]
    found = head_to_head(meetings(results, ["a@1", "a@2"]))
    assert (found.wins, found.draws, found.losses, found.encounters, found.score) == (1, 1, 0, 1, 0.75)
    versions = head_to_head(meetings(results, ["a@1", "a@2"], ["a@1"]))
    assert (versions.wins, versions.losses, versions.score) == (1, 1, 0.5)


def test_who_plays_itself_shows_nothing():
    found = head_to_head(meetings([played(1, ["a", "a"], [1, 2])], ["a"], ["a"]))
    assert (found.matches, found.encounters, found.score, found.margin) == (2, 0, None, None)


def test_scores_are_those_of_the_test_of_consistency():
    rng = random.Random(7)
    results = []
    for encounter in range(60):
        bots = rng.sample("abcd", 3)
        for turn in range(3):
            ranks = rng.choice([[1, 2, 3], [1, 1, 3], [2, 1, 2], [1, 1, 1]])
            seated = bots[turn:] + bots[:turn]
            results.append(played(encounter, seated, ranks, f"o{rng.randrange(40)}", f"m{rng.randrange(3)}"))
    counts = counting([f"{one.opening_hash} {one.bots}" for one in results], [one.actions_hash for one in results])
    rated = [one for one, is_rated in zip(results, counts, strict=True) if is_rated]
    encounters = [
        (tuple((one.bots, one.ranks) for one in group), 1) for _, group in groupby(rated, key=lambda one: one.encounter)
    ]
    wanted = pair_scores(EncounterArrays.of(encounters))
    for (bot, rival), pair in wanted.items():
        found = head_to_head(meetings(results, [bot], [rival]))
        assert (found.encounters, found.score) == (pair.encounters, pytest.approx(pair.score))
        assert found.margin == pytest.approx(1.959964 * pair.error)
