"""The sentence above standings claims no more than the probabilities that stand beside it here.

Each field is drawn as the matrix of LOS in percent, of which only the upper half is given.
"""

import numpy as np
import pytest

from arena.analysis.measures.result_table import CountedEncounter, ResultTable
from arena.analysis.measures.standings import Standing, Standings, standings
from arena.analysis.text.verdict import ranking_verdict, verdict
from arena.ratings import Rating
from arena.ratings.consistency import Consistency
from arena.ratings.field_fit import FittedEncounters
from arena.tournament.formats.format import Placing


class DrawnLos(FittedEncounters):
    """A fit with probabilities that a test has drawn."""

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
