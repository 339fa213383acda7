"""What a report answers: the three questions of a designer, and how two variations of a game differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

from arena.base.errors import ArenaError
from arena.base.text import all_of, counted
from arena.games import make_game
from arena.lab.measures.measure import (
    Cluster,
    Estimate,
    Kind,
    Row,
    Unit,
    bounds_text,
    difference,
    estimate_text,
    number_text,
    share_of,
)
from arena.lab.measures.report import QualityReport, estimate_json
from arena.store.people.answers import Enjoyed, Vote

# Votes of people who have played two variations of a game: which one they enjoyed more.

SHARE, POWER, LEVEL = 0.6, 0.8, 0.05
"""If ``SHARE`` of people prefer one, enough votes show it with probability ``POWER``; if half do, with ``LEVEL``."""


def needed_votes() -> int:
    """Return how many votes a test against one half needs for its power to be ``POWER``.

    >>> needed_votes()
    194
    """
    at_chance = NormalDist().inv_cdf(1 - LEVEL / 2) * 0.5
    at_share = NormalDist().inv_cdf(POWER) * sqrt(SHARE * (1 - SHARE))
    return ceil(((at_chance + at_share) / (SHARE - 0.5)) ** 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteCount:
    """How often each of two variations was preferred, and how often neither; ``earlier``: the one played first."""

    preferred: tuple[int, int]
    alike: int
    earlier: int

    @property
    def share(self) -> Estimate | None:
        """The share of the second variation among those with a preference; None without any."""
        first_votes, second_votes = self.preferred
        return share_of([Cluster(1.0)] * second_votes + [Cluster(0.0)] * first_votes)

    def sentence(self, other: str) -> str:
        """Return what is known; ``other`` is the second variation."""
        decided, share = sum(self.preferred), self.share
        if share is None:
            return f"not known: of {counted(self.alike, 'vote')}, none prefers one."
        is_clear = share.lies_above(0.5) or share.lies_below(0.5)
        return (
            f"{self.preferred[1]} of {decided} who played both preferred {other}: {estimate_text(share, Unit.SHARE)},"
            f" {'more' if is_clear else 'no more'} than chance. {self.earlier} of the {decided} preferred what they had"
            f" played first; {self.alike} enjoyed both alike."
            f" {needed_votes()} votes would show a preference of 60 to 40."
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as an object for programs."""
        return {
            "preferred": list(self.preferred),
            "alike": self.alike,
            "preferred_the_earlier": self.earlier,
            "share": None if (share := self.share) is None else estimate_json(share),
            "needed": needed_votes(),
        }


def count_votes(votes: Iterable[Vote], game: str, both: tuple[Mapping[str, Any], ...]) -> VoteCount | None:
    """Count the votes between two sets of options of a game; None without any."""
    preferred, alike, earlier = [0, 0], 0, 0
    for vote in votes:
        try:
            played = [make_game(game, **json.loads(text)).options for text in (vote.first_options, vote.second_options)]
        except ArenaError:  # by rules that have changed since
            continue
        if played not in ([*both], [*both[::-1]]):
            continue
        if vote.choice is Enjoyed.ALIKE:
            alike += 1
            continue
        preferred[both.index(played[vote.choice is Enjoyed.SECOND])] += 1
        earlier += vote.choice is Enjoyed.FIRST
    first, second = preferred
    return VoteCount(preferred=(first, second), alike=alike, earlier=earlier) if alike + first + second else None


# Two variations of a game side by side: which differences are more than chance, and what each means to a player.


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How much larger a number of the second variation is; no change where one has bounds alone."""

    key: str
    row: Row
    other: Row
    change: Estimate | None

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the difference does not contain zero."""
        return self.change is not None and (self.change.lies_above(0) or self.change.lies_below(0))

    def meaning(self) -> str:
        """Return what a clear difference means to a player; empty without one, or where nothing is known of it."""
        if not self.is_clear or self.change is None:
            return ""
        return MEANINGS.get(self.row.name, ("", ""))[self.change.lies_above(0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two values of an option, the report of each, and the votes between them; None without any."""

    option: str
    values: tuple[Any, Any]
    reports: tuple[QualityReport, QualityReport]
    votes: VoteCount | None = None

    def differences(self) -> list[Difference]:
        """Return the numbers that both have, in order."""
        return list(_pairs(*self.reports))

    def conclusion(self) -> str:
        """Return what is known, and what only votes would show."""
        changes = [row_difference.change for row_difference in self.differences()]
        sampled = [change for change in changes if change is not None and change.kind is Kind.SAMPLED]
        fun = f"not known without votes ({needed_votes()} for {100 * POWER:.0f} % power at 60:40)."
        if self.votes is not None:
            fun = self.votes.sentence(f"{self.option} = {self.values[1]}")
        return (
            f"Of {len(sampled)} sampled differences about {ceil(0.05 * len(sampled))} would be marked by chance alone."
            f" Which is more fun: {fun}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as an object for programs."""
        return {
            "option": self.option,
            "values": list(self.values),
            "profiles": [report.to_json() for report in self.reports],
            "differences": [
                {
                    "measure": difference.key,
                    "name": difference.row.name,
                    "at": difference.row.at,
                    "change": None if difference.change is None else estimate_json(difference.change),
                    "is_clear": difference.is_clear,
                    "meaning": difference.meaning(),
                }
                for difference in self.differences()
            ],
            "votes": None if self.votes is None else self.votes.to_json(),
            "conclusion": self.conclusion(),
        }


def _pairs(report: QualityReport, other_report: QualityReport) -> Iterator[Difference]:
    for measure, other_measure in zip(report.measures, other_report.measures, strict=True):
        for row in measure.rows:
            other_row = other_measure.row(row.name, row.at)
            if other_row is not None:
                change = difference(row.estimate, other_row.estimate)
                yield Difference(key=measure.key, row=row, other=other_row, change=change)


MEANINGS = {
    "margin of seat 0": ("best play is better for seat 1", "best play is better for seat 0"),
    "points of seat 0": ("seat 0 gets less between equals", "seat 0 gets more between equals"),
    "draws": ("fewer matches end in a draw", "more matches end in a draw"),
    "margin of the first": ("matches are closer", "matches are less close"),
    "won by seat 0": ("fewer openings are won for seat 0", "more openings are won for seat 0"),
    "drawn": ("fewer openings are still open", "more openings are still open"),
    "lost by seat 0": ("fewer openings are lost for seat 0", "more openings are lost for seat 0"),
    "actions that keep the outcome": ("one has to choose with more care", "more actions are good enough"),
    "only one action keeps it": (
        "one action alone saves less often",
        "one action alone saves more often",
    ),
    "margin that a random action loses": ("mistakes cost less", "mistakes cost more"),
    "part of a match before it is decided": ("matches are decided earlier", "matches stay open for longer"),
    "open after half of it": ("matches are decided earlier", "matches stay open for longer"),
    "decided before it begins": ("fewer matches go as best play would", "more matches go as best play would"),
    "won matches that were lost once": ("fewer comebacks", "more comebacks"),
    "changes of the visible lead": ("the lead changes less often", "the lead changes more often"),
    "winners behind at half time, if scores differ": (
        "who leads at half time wins more often",
        "who leads at half time wins less often",
    ),
    "points of the stronger": ("skill counts less", "skill counts more"),
    "doublings that take 55 % or more": ("there is less to learn", "there is more to learn"),
    "of these keep the outcome": ("fewer good ways to begin", "more good ways to begin"),
    "of these keep the margin": ("fewer good ways to begin", "more good ways to begin"),
    "two matches begin differently": ("matches begin more alike", "matches begin more differently"),
    "actions in a match": ("matches are shorter", "matches are longer"),
    "legal actions": ("there is less to look at", "there is more to look at"),
    "forced actions": ("one has a choice more often", "one has a choice less often"),
}
"""By the name of a number: what it means to a player if it is smaller, and if it is larger."""


# The three questions that a designer asks first, answered from the measures in a few sentences.

EVEN = 0.5

_ERROR = 1e-9
"""The largest rounding error of a sum of two means."""


class Answer(NamedTuple):
    """A question and what is known of it; of two sets of options a paragraph each, where they differ."""

    question: str
    paragraphs: tuple[str, ...]


def answers_of(report: QualityReport) -> list[Answer]:
    """Return the answers for one set of options."""
    return [
        Answer("Is it fair?", (" ".join(filter(None, (_value_sentence(report), _seat_sentence(report)))),)),
        Answer("At which size?", (_size_sentence(report),)),
        Answer(
            "Which variation?", ("Not compared here: --compare NAME=A,B puts two values of an option side by side.",)
        ),
    ]


def answers_of_comparison(comparison: Comparison) -> list[Answer]:
    """Return the answers for two sets of options."""
    answers = []
    for first, second in zip(*(answers_of(report)[:2] for report in comparison.reports), strict=True):
        if first == second:
            answers.append(Answer(first.question, (f"{first.paragraphs[0]} So it is with both.",)))
        else:
            both = zip(comparison.values, first.paragraphs + second.paragraphs, strict=True)
            answers.append(
                Answer(first.question, tuple(f"{comparison.option} = {value}: {text}" for value, text in both))
            )
    return [*answers, Answer("Which variation?", variation_sentences(comparison))]


def variation_sentences(comparison: Comparison) -> tuple[str, str]:
    """Return what the second variation means to a player, and what is not known."""
    by_name: dict[str, list[Difference]] = {}
    differences = comparison.differences()
    for row_difference in differences:
        if not row_difference.row.at.startswith("ply "):
            by_name.setdefault(row_difference.row.name, []).append(row_difference)
    meanings = dict.fromkeys(filter(None, map(_meaning, by_name.values())))
    variation = f"With {comparison.option} = {comparison.values[1]}"
    if not meanings:
        return f"{variation}, no difference that a player would notice is more than chance.", comparison.conclusion()
    clear, compared = sum(row_difference.is_clear for row_difference in differences), len(differences)
    sentence = f"{variation}: {'; '.join(meanings)} ({clear} of {compared} numbers differ by more than chance)."
    return sentence, comparison.conclusion()


def _meaning(differences: Sequence[Difference]) -> str:
    """Return what the differences of one number mean: nothing for all players if they contradict each other."""
    clear = [difference for difference in differences if difference.meaning()]
    if len({difference.meaning() for difference in clear}) != 1:
        return ""
    at = all_of([difference.row.at for difference in clear]) if len(clear) < len(differences) else ""
    return f"{clear[0].meaning()} ({at})" if at else clear[0].meaning()


def _value_sentence(report: QualityReport) -> str:
    board = _board(report)
    if board is None:
        return ""
    margin = board.estimate.value
    if margin is None:
        return f"With best play, not known: the margin of seat 0 is {bounds_text(board.estimate)} ({board.known})."
    if not margin:
        return f"With best play, yes: it is a draw ({board.known})."
    winner, loser = (0, 1) if margin > 0 else (1, 0)
    if _scores_give_only_the_winner(report):
        return f"With best play, no: seat {winner} wins ({board.known})."
    komi = f"{abs(margin):.2f}".rstrip("0").rstrip(".")
    return (
        f"With best play, no: seat {winner} wins by {komi} ({board.known});"
        f" a komi of {komi} for seat {loser} would make it a draw."
    )


def _scores_give_only_the_winner(report: QualityReport) -> bool:
    rows = report.measure("draws_and_margins").rows
    values = {(row.name, row.at): row.estimate.value for row in rows}
    drawn = {at: value for (name, at), value in values.items() if name == "draws" and value is not None}
    return bool(drawn) and all(
        abs((values.get(("margin of the first", at)) or 0.0) - (1 - share)) < _ERROR for at, share in drawn.items()
    )


def _board(report: QualityReport) -> Row | None:
    margins = [row for row in report.measure("value").rows if row.name == "margin of seat 0"]
    return margins[-1] if margins and _is_whole_board(report, margins[-1]) else None


def _is_whole_board(report: QualityReport, row: Row) -> bool:
    words = row.at.replace(",", "").split()
    options = dict(zip(words[::2], words[1::2], strict=False))
    return all(str(report.options.get(name, value)) == value for name, value in options.items())


def _seat_sentence(report: QualityReport) -> str:
    """Return what the seats take between equals of the strongest search; the value tells what best play gives them."""
    rows = report.measure("first_seat").rows
    searches = [row for row in rows if row.at.startswith("search")]
    if not searches:
        return ""
    strongest = [row for row in searches if row.at == searches[-1].at]
    points = [f"seat {row.name.split()[-1]} takes {estimate_text(row.estimate, row.unit)}" for row in strongest]
    return f"Between equals ({strongest[0].at}), {all_of(points)} of the points{_verdict(strongest)}."


def _verdict(rows: Sequence[Row]) -> str:
    above = [row.name.split()[-1] for row in rows if row.estimate.lies_above(EVEN)]
    below = [row.name.split()[-1] for row in rows if row.estimate.lies_below(EVEN)]
    if above or below:
        more = f"more than half for seat {all_of(above)}" if above else ""
        less = f"less than half for seat {all_of(below)}" if below else ""
        return f": {' and '.join(filter(None, (more, less)))}"
    return ": no more than chance shows an advantage"


def _size_sentence(report: QualityReport) -> str:
    if any(row.name == "share of seat 2" for row in report.measure("value").rows):
        return "For three and more no size has a single value: what each seat gets is said under the first measure."
    rows = [row for row in report.measure("value").rows if row.name == "margin of seat 0"]
    exact = [row for row in rows if row.estimate.kind is Kind.EXACT]
    if not exact:
        return "Not known: no board was solved."
    by_winner: dict[int, list[tuple[str, str]]] = {0: [], 1: [], -1: []}
    for row in exact:
        margin = row.estimate.value or 0.0
        by = f" (by {number_text(row).lstrip('-')})" if margin else ""
        by_winner[(margin > 0) - (margin < 0)].append((row.at, by))
    forms = {0: "Best play is a draw at {}.", 1: "Seat 0 wins at {}.", -1: "Seat 1 wins at {}."}
    sentences = [forms[sign].format(boards_text(boards)) for sign, boards in by_winner.items() if boards]
    unknown = [(row.at, "") for row in rows if row.estimate.kind is not Kind.EXACT]
    if unknown:
        sentences.append(f"Only bounds are known at {boards_text(unknown)}.")
    return " ".join(filter(None, sentences))


def boards_text(boards: Sequence[tuple[str, str]]) -> str:
    """Return boards, each with a remark, as a list.

    >>> boards_text([("size 7", " (by 12)"), ("size 9", "")]), boards_text([("width 4, height 4", "")])
    ('sizes 7 (by 12) and 9', 'width 4, height 4')
    >>> boards_text([("size 2", ""), ("size 3", ""), ("size 4", "")])
    'sizes 2 to 4'
    """
    if len(boards) > 1 and all(board.startswith("size ") for board, _ in boards):
        sizes = [board.removeprefix("size ") for board, _ in boards]
        gives_the_same = len({by for _, by in boards}) == 1
        if len(boards) > 2 and gives_the_same and int(sizes[-1]) - int(sizes[0]) == len(sizes) - 1:
            return f"sizes {sizes[0]} to {sizes[-1]}{boards[0][1]}"
        return f"sizes {all_of([board.removeprefix('size ') + by for board, by in boards])}"
    return "; ".join(f"{board}{by}" for board, by in boards)
