import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from arena.analysis.measures.game_statistics import Score, cross_check, game_statistics
from arena.analysis.measures.result_table import CountedEncounter, ResultTable
from arena.analysis.measures.standings import Standing, Standings, standings
from arena.analysis.text.standings_columns import standings_columns
from arena.analysis.text.standings_table import crosstable_table, flat_standings_table, standings_table
from arena.analysis.text.statistics_tables import stats_sentences, stats_tables
from arena.analysis.text.tables import render_table
from arena.analysis.text.verdict import ranking_verdict, standings_footer, verdict
from arena.base.errors import StoreError
from arena.base.records import TimeControl
from arena.ratings import Rating
from arena.ratings.consistency import Consistency
from arena.ratings.field_fit import FittedEncounters
from arena.site.pages.standings import findings
from arena.tournament.formats.format import Placing
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "reference" / "columns.md").read_text(encoding="utf-8")


WON = ResultTable.of([CountedEncounter("plaid", ((("a", "b"), (1, 2)),), 3)])


def test_the_reference_explains_every_column_and_matches_of_three_have_one_for_each_rank():
    section = PAGE[PAGE.index("| column | in JSON and CSV | meaning |") :]
    rows = section[: section.index("\n\n")].splitlines()[2:]
    assert rows == [f"| {column.title} | `{column.key}` | {column.meaning} |" for column in standings_columns(2)]
    results = ResultTable.of([CountedEncounter("multiplication", ((("a", "b", "c"), (1, 2, 2)),), 5)])
    columns, rows = standings_table(standings(results, {}))
    assert [column.title for column in columns if column.key.startswith("place_")] == ["1st", "2nd", "3rd"]
    finishes = {row["bot"]: [row[f"place_{rank}"] for rank in (1, 2, 3)] for row in rows}
    assert finishes == {"a": [5, 0, 0], "b": [0, 5, 0], "c": [0, 5, 0]}


def test_values_have_json_types_unless_they_are_formatted_and_a_crosstable_of_points_writes_halves():
    table = standings(WON, {"b": {"timeout": 3}})
    formatted, plain = (standings_table(table, formatted=is_formatted)[1][1] for is_formatted in (True, False))
    assert (formatted["faults"], plain["faults"]) == ("3 timeout", {"timeout": 3})
    assert (formatted["same_as_next"], plain["same_as_next"]) == ("", False)
    points = {("a", "b"): 1.5, ("b", "a"): 0.5, ("a", "c"): 2.0, ("c", "a"): 0.0}
    scores = {pair: Score(one, 2) for pair, one in points.items()}
    names = {name: name for name in "abc"}
    cells = [[row[f"against_{k}"] for k in (1, 2, 3)] for row in crosstable_table(scores, names, points_only=True)[1]]
    assert cells == [["-", "1½", "2"], ["½", "-", ""], ["0", "", "-"]]


def test_csv_is_flat_with_sensible_digits_and_empty_cells():
    table = standings(WON, {"b": {"timeout": 3}})
    table = replace(table, lines=(replace(table.lines[0], author="Ada, Inc."), table.lines[1]))
    text = render_table(*flat_standings_table(table), "csv")
    first, second = csv.DictReader(io.StringIO(text))
    assert [first["author"], second["author"]] == ["Ada, Inc.", ""]
    assert {key: value for key, value in second.items() if key.startswith(("rank", "faults"))} == {
        "rank": "2", "rank_low": "2", "rank_high": "2",
        "faults_start": "0", "faults_exit": "0", "faults_timeout": "3", "faults_protocol": "0", "faults_illegal": "0",
        "faults_limit": "0",
    }  # fmt: skip
    assert (second["better_than_next"], second["same_as_next"]) == ("", "false")
    assert float(first["mu"]) == round(table.lines[0].rating.mu, 4)
    assert not set("[{") & set(text)
    table = standings(ResultTable.of(()), {}, everybody=["a@1"])
    (row,) = csv.DictReader(io.StringIO(render_table(*flat_standings_table(table), "csv")))
    assert [row[key] for key in ("bot", "rank_low", "rank_high", "margin_95")] == ["a@1", "", "", ""]
    assert standings_table(table, formatted=False)[1][0]["author"] == ""
    assert "author" not in standings_table(table)[1][0]


# the sentences below: where a statistic can't be given, what there is and what it takes


def met(times, *pairs):
    """Encounters of two matches of each pair, which the first and the second bot win in turn."""
    return [
        CountedEncounter("plaid", (((a, b), (1, 2)), ((b, a), ranks)), count)
        for a, b in pairs
        for ranks, count in (((1, 2), times - times // 2), ((2, 1), times // 2))
        if count
    ]


CASES = {
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


def test_a_table_from_a_cache_that_lacks_a_bot_of_the_results_is_named():
    """In a home from elsewhere, the cache may contradict the database."""
    results = ResultTable.of(met(3, ("a", "b"), ("b", "c")))
    table = standings(ResultTable.of(met(3, ("a", "b"))), {})
    with pytest.raises(StoreError, match="c has results, but no rating: remove the folder cache"):
        cross_check(results, table)


@pytest.mark.parametrize("case", CASES)
def test_why_there_is_no_test_of_the_fit_and_what_it_takes(case):
    encounters, reason = CASES[case]
    results = ResultTable.of(encounters)
    table = standings(results, {})
    expected = f"Whether a single rating per bot fits can't be tested: {reason}"
    assert table.consistency.phi is None
    assert f"(estimated). {expected}" in standings_footer(table)
    assert stats_sentences(table, cross_check(results, table))[0] == expected


def test_with_that_much_there_is_a_test_and_odds_and_cores_are_said_wherever_standings_are():
    table = standings(ResultTable.of(met(20, ("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("a", "d"))), {})
    assert table.consistency.phi is not None
    assert "Overdispersion" in standings_footer(table)
    footer = standings_footer(replace(table, matches=1234, rated=1234, scheduled=2000))
    assert footer.startswith("1,234 of 2,000 matches: the tournament is not complete. ")
    table = standings(ResultTable.of(met(2, ("a", "b"))), {})
    assert "time_control" not in standings_table(table, formatted=False)[1][0]
    table = replace(table, odds={"b": TimeControl(per_action_seconds=2.5)}, cores=4)
    said = "b has a time of its own: 2.5 s an action (wall time). Each match has 4 cores."
    assert said in standings_footer(table) and " ".join(findings(table)).startswith(said)
    times = {row["bot"]: row["time_control"] for row in standings_table(table, formatted=False)[1]}
    assert (times["a"], times["b"]["per_action_seconds"]) == (None, 2.5)


@pytest.mark.parametrize(("times", "has_interval"), [(1, False), (2, True)])
def test_an_interval_takes_two_encounters(times, has_interval):
    results = ResultTable.of(met(times, ("a", "b")))
    table = standings(results, {})
    (row,) = stats_tables(table, game_statistics(results), cross_check(results, table), [])["games"][1]
    assert (" [" in row["seat_0"]) == has_interval


class DrawnLos(FittedEncounters):
    __slots__ = ("matrix",)

    def los(self, bots=None):
        return self.matrix if bots is None else self.matrix[np.ix_(bots, bots)]


def field(drawing, **fields):
    """Standings with these probabilities; bots are called a, b, c, …"""
    rows = [list(map(float, line.split())) for line in drawing.strip().splitlines()]
    los = np.full((len(rows) + 1,) * 2, 0.5)
    for a, row in enumerate(rows):
        for b, percent in enumerate(row, a + 1):
            los[a, b], los[b, a] = percent / 100, 1 - percent / 100
    return table_of(los, [chr(ord("a") + number) for number in range(len(los))], **fields)


def table_of(los, names, scheduled=6, matches=6, unrated=(), draws=0, is_flagged=False):
    fitted = DrawnLos(
        names=tuple(names), ratings=(Rating(25.0, 1.0),) * len(los), draw_probability=0.1, prior_width=8.0,
        draws=np.zeros((2, len(los))), encounters=matches,
    )  # fmt: skip
    object.__setattr__(fitted, "matrix", los)
    lines = tuple(Standing(label=name, bot=name, matches=matches, draws=draws) for name in (*names, *unrated))
    return Standings(
        lines=lines, players=2, matches=matches, rated=matches, fitted=fitted, first_seat_share=0.5,
        consistency=Consistency(phi=1.0, p_value=0.001 if is_flagged else 0.5, cycles=()), scheduled=scheduled,
    )  # fmt: skip


FIELDS = {
    "99": "a is clearly better than b.",
    "97.4": "a and b can't be told apart.",
    "2": "a has the highest exposure, but b is clearly better.",
    """
    99 99 99
       99 99
          90""": "a is clearly best; c and d can't be told apart.",
    """
    60 99 99
       99 99
          99""": "a and b are clearly ahead of the others, but can't be told apart; all others can be told apart.",
    # a and c, which is uncertain, can't be told apart, although a and b can
    """
    99 90
       60""": "a leads, but can't be told apart from c; b and c can't be told apart.",
    # b and d can be told apart, c neither from b nor from d
    """
    99 99 99
       90 99
          90""": "a is clearly best; not all of b, c and d can be told apart.",
    """
    99 99 99 99 99 99
       90 99 99 99 99
          99 99 99 99
             90 99 99
                99 99
                   90""": "a is clearly best; not all of the other 6 can be told apart.",
    # five alike, and the last behind them
    """
    60 60 60 60 99
       60 60 60 99
          60 60 99
             60 99
                99""": "The 5 bots from a to e are clearly ahead of the others, but can't be told apart.",
    """
    60 60 60 60 60 60
       60 60 60 60 60
          60 60 60 60
             60 60 60
                60 60
                   99""": "a leads, but can't be told apart from 6 other bots; not all of the 6 bots from b to g can be"
    " told apart.",
}  # fmt: skip


@pytest.mark.parametrize("drawing", FIELDS)
def test_a_field_is_described_as_far_as_it_is_known(drawing):
    assert verdict(field(drawing)) == FIELDS[drawing]


NOTHING = ResultTable.of(())
ALONE = ResultTable.of([CountedEncounter("plaid", ((("a", "a"), (1, 2)),), 3)])
TABLES = (
    (field("99", scheduled=8), "So far, a is clearly better than b."),
    (field("99", scheduled=None), "a is clearly better than b."),
    (field("50 50\n   50", draws=6), "a, b and c can't be told apart: every match was drawn."),
    (field("50 50\n   50", draws=5), "a, b and c can't be told apart."),
    (field("99", is_flagged=True), "a is clearly better than b. But a single rating per bot does not fit the results."),
    (field("99", unrated=["x"]), "a is clearly better than b; x has no rated match yet."),
    (
        field("99", unrated=[f"x{number}" for number in range(5)]),
        "a is clearly better than b; 5 bots have no rated match yet.",
    ),
    (standings(NOTHING, {}), "No match has been recorded yet."),
    (standings(NOTHING, {}, everybody=["a@1", "b@1"]), "No match has been recorded yet."),
    (standings(ALONE, {}), "No bot has a rating yet: that takes a match of two different bots."),
    (field("\n".join(" ".join(["50"] * count) for count in range(23, 0, -1))), "The 24 bots can't be told apart."),
)


@pytest.mark.parametrize(("table", "sentence"), TABLES)
def test_draws_unrated_bots_and_tables_without_matches_are_named(table, sentence):
    assert verdict(table) == sentence


def test_a_thousand_bots_take_no_time():
    los = np.full((1000, 1000), 0.5)
    los[0, 1:], los[1:, 0] = 1.0, 0.0
    assert verdict(table_of(los, [f"b{k:04}" for k in range(1000)])) == (
        "b0000 is clearly best; the 999 bots from b0001 to b0999 can't be told apart."
    )


def placings(*ranks):
    return [(f"bot {k}", Placing(rank, k, {})) for k, rank in enumerate(ranks)]


def test_the_ranking_of_a_format_says_who_has_won():
    assert ranking_verdict(placings(1, 2, 3, 3), is_finished=True) == "bot 0 wins the tournament."
    decided = [("a", Placing(1, 0, {}, "by a walkover in the final")), ("b", Placing(2, 1, {}))]
    assert ranking_verdict(decided, is_finished=True) == "a wins the tournament, by a walkover in the final."
    assert ranking_verdict(placings(1, 1, 3), is_finished=True) == "bot 0 and bot 1 share the first rank."
    assert ranking_verdict(placings(1, 2), is_finished=False) == "So far, bot 0 leads."
    assert ranking_verdict(placings(*[1] * 8), is_finished=False) == "So far, 8 bots share the first rank."
