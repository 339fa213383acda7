"""The three questions that a designer asks first, answered from the measures in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from arena.lab.quality.comparison import Comparison
from arena.lab.quality.estimate import Kind
from arena.lab.quality.measure import Row
from arena.lab.quality.report import QualityReport
from arena.lab.quality.text import bounds_text, estimate_text, number_text
from arena.text import all_of

EVEN = 0.5


class Answer(NamedTuple):
    """A question and what is known of it."""

    question: str
    text: str


def answers_of(report: QualityReport) -> list[Answer]:
    """Return the answers for one set of options."""
    return [
        Answer("Is it fair?", " ".join(filter(None, (_value_sentence(report), *_seat_sentences(report))))),
        Answer("At which size?", _size_sentence(report)),
        Answer("Which variation?", "Not compared here: --compare NAME=A,B puts two values of an option side by side."),
    ]


def answers_of_comparison(comparison: Comparison) -> list[Answer]:
    """Return the answers for two sets of options."""
    answers = []
    for place, question in enumerate(("Is it fair?", "At which size?")):
        said = [
            f"{comparison.option} = {value}: {answers_of(report)[place].text}"
            for value, report in zip(comparison.values, comparison.reports, strict=True)
        ]
        answers.append(Answer(question, " ".join(said)))
    return [*answers, Answer("Which variation?", variation_sentences(comparison))]


def variation_sentences(comparison: Comparison) -> str:
    """Return what the second variation means to a player, and what is not known."""
    meanings = dict.fromkeys(one.meaning() for one in comparison.differences() if one.meaning())
    clear = sum(one.is_clear for one in comparison.differences())
    other = f"With {comparison.option} = {comparison.values[1]}"
    if not meanings:
        return f"{other}, no difference that a player would notice is more than chance. {comparison.conclusion()}"
    shown = "; ".join(meanings)
    return f"{other}: {shown} ({clear} of {len(comparison.differences())} numbers differ). {comparison.conclusion()}"


def _value_sentence(report: QualityReport) -> str:
    """Return what the board is worth."""
    margins = [row for row in report.measure("value").rows if row.name == "margin of seat 0"]
    board = margins[-1] if margins and _is_whole_board(report, margins[-1]) else None
    if board is None:
        return ""
    margin = board.estimate.value
    if margin is None:
        return f"With best play the margin of seat 0 is {bounds_text(board.estimate)} ({board.known})."
    return f"With best play {_result(margin)} ({board.known})."


def _is_whole_board(report: QualityReport, row: Row) -> bool:
    """Return whether a row is about the board that was asked for, and not about a smaller one."""
    words = row.at.replace(",", "").split()
    options = dict(zip(words[::2], words[1::2], strict=False))
    return all(str(report.options.get(name, value)) == value for name, value in options.items())


def _result(margin: float) -> str:
    if not margin:
        return "it is a draw"
    winner, loser = (0, 1) if margin > 0 else (1, 0)
    return f"seat {winner} wins by {abs(margin):g}, so that a komi of {abs(margin):g} for seat {loser} would be fair"


def _seat_sentences(report: QualityReport) -> list[str]:
    """Return what the seats take between equals of the strongest search, and with best play."""
    rows = report.measure("first_seat").rows
    searches = [row for row in rows if row.at.startswith("search")]
    strongest = searches[-1].at if searches else ""
    sentences = []
    for strength in (strongest, "best play"):
        said = [
            f"seat {row.name.split()[-1]} takes {estimate_text(row.estimate, row.unit)}"
            for row in rows
            if row.at == strength and row.at
        ]
        if said:
            sentences.append(f"Between equals ({strength}) {all_of(said)} of the points{_verdict(rows, strength)}.")
    return sentences


def _verdict(rows: Sequence[Row], strength: str) -> str:
    found = [row for row in rows if row.at == strength]
    above = [row.name.split()[-1] for row in found if row.estimate.lies_above(EVEN)]
    below = [row.name.split()[-1] for row in found if row.estimate.lies_below(EVEN)]
    if above or below:
        more = f"more than half for seat {all_of(above)}" if above else ""
        less = f"less than half for seat {all_of(below)}" if below else ""
        return f": {' and '.join(filter(None, (more, less)))}"
    return ": no advantage beyond chance"


def _size_sentence(report: QualityReport) -> str:
    """Return on which boards best play is even, and who wins on the others."""
    rows = [row for row in report.measure("value").rows if row.name == "margin of seat 0"]
    exact = [row for row in rows if row.estimate.kind is Kind.EXACT]
    if not exact:
        return "Not known: no board was solved."
    by_winner: dict[int, list[tuple[str, str]]] = {0: [], 1: [], -1: []}
    for row in exact:
        margin = row.estimate.value or 0.0
        by = f" (by {number_text(row).lstrip('-')})" if margin else ""
        by_winner[(margin > 0) - (margin < 0)].append((row.at, by))
    said = {0: "Best play is a draw at {}.", 1: "Seat 0 wins at {}.", -1: "Seat 1 wins at {}."}
    sentences = [said[sign].format(boards_text(boards)) for sign, boards in by_winner.items() if boards]
    unknown = [(row.at, "") for row in rows if row.estimate.kind is not Kind.EXACT]
    if unknown:
        sentences.append(f"Only bounds are known at {boards_text(unknown)}.")
    return " ".join(filter(None, sentences))


def boards_text(boards: Sequence[tuple[str, str]]) -> str:
    """Return boards as a list, each with what is said of it.

    >>> boards_text([("size 7", " (by 12)"), ("size 9", "")]), boards_text([("width 4, height 4", "")])
    ('sizes 7 (by 12) and 9', 'width 4, height 4')
    """
    if len(boards) > 1 and all(board.startswith("size ") for board, _ in boards):
        return f"sizes {all_of([board.removeprefix('size ') + by for board, by in boards])}"
    return "; ".join(f"{board}{by}" for board, by in boards)
