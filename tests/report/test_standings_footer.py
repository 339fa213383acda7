"""The sentences under standings: where a statistic can't be given, they say what there is and what it takes."""

from dataclasses import replace

import pytest

from arena.analysis.encounters import CountedEncounter, CountedMatch
from arena.analysis.game_statistics import cross_check, game_statistics
from arena.analysis.standings import standings
from arena.report.standings_footer import standings_footer
from arena.report.statistics_tables import stats_sentences, stats_tables


def met(times, *pairs):
    """Encounters of two matches of each pair, which the first and the second bot win in turn."""
    return [
        CountedEncounter("plaid", (CountedMatch((a, b), (1, 2)), CountedMatch((b, a), ranks)), count)
        for a, b in pairs
        for ranks, count in (((1, 2), times - times // 2), ((2, 1), times // 2))
        if count
    ]


CASES = {
    "two bots": (met(20, ("a", "b")), "that takes 4 bots or more."),
    "three bots": (met(40, ("a", "b"), ("b", "c"), ("a", "c")), "that takes 4 bots or more."),
    "four encounters": (
        met(4, ("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("a", "d")),
        "no two bots have met in more than 4 encounters, and it takes 5.",
    ),
    "one encounter": (
        met(1, ("a", "b"), ("b", "c"), ("c", "d")),
        "no two bots have met in more than 1 encounter, and it takes 5.",
    ),
    "a ring": (
        met(20, ("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")),
        "4 pairs of bots have met in 5 encounters or more, and with 4 bots it takes 5 such pairs.",
    ),
    "one pair of four": (
        met(20, ("a", "b")) + met(1, ("b", "c"), ("c", "d")),
        "1 pair of bots has met in 5 encounters or more, and with 4 bots it takes 5 such pairs.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_why_there_is_no_test_of_the_fit_and_what_it_takes(case):
    encounters, why = CASES[case]
    table = standings(encounters, {})
    expected = f"Whether a single rating per bot fits can't be tested: {why}"
    assert table.consistency.phi is None
    assert f"(estimated). {expected}" in standings_footer(table)
    assert stats_sentences(table, cross_check(encounters, table))[0] == expected


def test_with_that_much_there_is_a_test():
    table = standings(met(20, ("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("a", "d")), {})
    assert table.consistency.phi is not None
    assert "Overdispersion" in standings_footer(table)


def test_thousands_are_separated_in_both_numbers():
    table = standings(met(2, ("a", "b")), {})
    footer = standings_footer(replace(table, matches=1234, rated=1234, scheduled=2000))
    assert footer.startswith("1,234 of 2,000 matches: the tournament is not complete. ")


@pytest.mark.parametrize(("times", "has_interval"), [(1, False), (2, True)])
def test_an_interval_takes_two_encounters(times, has_interval):
    encounters = met(times, ("a", "b"))
    table = standings(encounters, {})
    (row,) = stats_tables(table, game_statistics(encounters), cross_check(encounters, table), [])["games"][1]
    assert (" [" in row["seat_0"]) == has_interval
