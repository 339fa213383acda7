"""What each column of the report means, in half a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping

from arena.analysis.text.standings_columns import standings_columns
from arena.base.enums import FaultKind

_OF_OTHER_TABLES: Mapping[str, str] = {
    "place": "final rank by the rules of the format",
    "chart": "mu as a stroke, its 95 % interval as a bar, on one scale for all bots",
    "record": "matches won alone, with a shared first rank, and lost",
    "score": "points of the rounds",
    "bh": "Buchholz: the sum of the rivals' scores",
    "bh_c1": "Buchholz without the lowest of the rivals' scores",
    "sb": "Sonneborn-Berger: the scores of beaten rivals, and half of those drawn with",
    "de": "direct encounter: the score among those with equal points",
    "won": "rounds won against a rival",
    "seed": "place in the seeding",
    "won_stages": "stages that the entrant has won",
    "game": "the game",
    "encounters": "matches from one opening with the seats rotated, counted as one",
    "repeats": "duplicate matches, which their bots play the same from that opening; they are rated once",
    "decisive_percent": "matches with a single winner",
    "annotated": "matches of the bot that are annotated",
    "decisions": "actions of the bot where the values of all legal actions are known exactly and differ",
    "kept": "the share of value kept in a decision, with the 95 % interval: 100 % with perfect play",
    "mistakes": "actions that lose margin for certain",
    "blunders": "actions that change the outcome for certain",
    "earned": "points that the bot held all the way by its own play",
    "lucky": "points that the other bot had let slip",
    "draws": "matches whose first rank is shared, with the 95 % interval",
    "seat_n": "points per match in this seat, over all bots, with the 95 % interval",
    "seat_n_percent": "points per match of the bot in this seat",
    "group": "bots with the same letter can't be told apart from the first of them at 95 %",
    "bots": "the bots of the group",
    "than_n": "the probability that the bot of the row is better than the bot with this number",
    "against_n": "points per match against the bot with this number",
    "weight_percent": "how often the bot is played in the equilibrium",
    "payoff_percent": "points per match against the equilibrium",
    "rival": "the other bot",
    "margin_percent": "half the width of the 95 % interval of the score",
    "expected_points": "what both ratings expect",
    "influence": "how much lower the rating would be without these matches",
    "occurrences": "encounters with the same rivals and points",
    "probability": "of points at least as far from what was expected, on the same side",
    "actions": "the bot's own actions, without those of openings",
    "mean_ms": "mean time for an action",
    "p99_ms": "99 of 100 actions are faster",
    "longest_ms": "the longest action",
    "cpu_seconds": "CPU time on turn, with all that the bot has started",
    "off_turn_cpu_seconds": "CPU time while others were to act",
    "match": "the number of the match; it opens the match in the viewer",
    "result": "bot and score of each seat, in the order of seats; the winner is strong",
    "plies": "actions, those of the opening included",
    "ended": "how the match ended; a fault with its bot and kind",
    "least": "the smallest count",
    "most": "the largest count",
    "imbalance": "how far the worst count is from a fair one, in matches",
    "worst": "whose count is the worst",
    "correction": "what was corrected",
    "reason": "as the director gave it",
    "set_aside": "matches whose records do not count any more",
    "undone_by": "the number of the correction that undoes this one",
}


def meaning_of(key: str) -> str:
    """Return what a column means, by its key; empty if the heading explains it."""
    return _MEANINGS.get(key) or _MEANINGS.get(re.sub(r"_\d+(?=_|$)", "_n", key), "")


_MEANINGS: Mapping[str, str] = {
    **_OF_OTHER_TABLES,
    **{kind: f"forfeits because the bot {kind.meaning}" for kind in FaultKind},
    **{column.key: column.meaning for players in (2, 8) for column in standings_columns(players)},
}
