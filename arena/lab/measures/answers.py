"""The three questions that a designer asks first, answered from the measures in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from arena.base.text import all_of
from arena.lab.measures.comparison import Comparison, Difference
from arena.lab.measures.estimate import Kind
from arena.lab.measures.measure import Row
from arena.lab.measures.report import QualityReport
from arena.lab.measures.text import bounds_text, estimate_text, number_text

EVEN = 0.5

_ERROR = 1e-9
"""Of a sum of two means."""


class Answer(NamedTuple):
    """A question and what is known of it.

    Attributes:
        question: what is asked.
        paragraphs: what is known; of two sets of options one for each, where they differ.
    """

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
    for one, other in zip(*(answers_of(report)[:2] for report in comparison.reports), strict=True):
        if one == other:
            answers.append(Answer(one.question, (f"{one.paragraphs[0]} So it is with both.",)))
        else:
            both = zip(comparison.values, one.paragraphs + other.paragraphs, strict=True)
            answers.append(
                Answer(one.question, tuple(f"{comparison.option} = {value}: {text}" for value, text in both))
            )
    return [*answers, Answer("Which variation?", variation_sentences(comparison))]


def variation_sentences(comparison: Comparison) -> tuple[str, str]:
    """Return what the second variation means to a player, and what is not known."""
    by_name: dict[str, list[Difference]] = {}
    for one in comparison.differences():
        if not one.row.at.startswith("ply "):
            by_name.setdefault(one.row.name, []).append(one)
    meanings = dict.fromkeys(filter(None, map(_meaning, by_name.values())))
    other = f"With {comparison.option} = {comparison.values[1]}"
    if not meanings:
        return f"{other}, no difference that a player would notice is more than chance.", comparison.conclusion()
    clear, compared = sum(one.is_clear for one in comparison.differences()), len(comparison.differences())
    said = f"{other}: {'; '.join(meanings)} ({clear} of {compared} numbers differ by more than chance)."
    return said, comparison.conclusion()


def _meaning(differences: Sequence[Difference]) -> str:
    """Return what the differences of one number mean, and at which strengths if not at all.

    A number that is larger at one strength and smaller at another means nothing that holds for all players.
    """
    clear = [one for one in differences if one.meaning()]
    if len({one.meaning() for one in clear}) != 1:
        return ""
    at = all_of([one.row.at for one in clear]) if len(clear) < len(differences) else ""
    return f"{clear[0].meaning()} ({at})" if at else clear[0].meaning()


def _value_sentence(report: QualityReport) -> str:
    """Return what the board is worth."""
    board = _board(report)
    if board is None:
        return ""
    margin = board.estimate.value
    if margin is None:
        return f"With best play, not known: the margin of seat 0 is {bounds_text(board.estimate)} ({board.known})."
    if not margin:
        return f"With best play, yes: it is a draw ({board.known})."
    winner, loser = (0, 1) if margin > 0 else (1, 0)
    if _scores_say_only_who_wins(report):
        return f"With best play, no: seat {winner} wins ({board.known})."
    komi = f"{abs(margin):.2f}".rstrip("0").rstrip(".")
    return (
        f"With best play, no: seat {winner} wins by {komi} ({board.known});"
        f" a komi of {komi} for seat {loser} would make it a draw."
    )


def _scores_say_only_who_wins(report: QualityReport) -> bool:
    """Return whether each match that was played was drawn or won by one, as where scores count rivals that are out."""
    rows = report.measure("draws_and_margins").rows
    values = {(row.name, row.at): row.estimate.value for row in rows}
    drawn = {at: value for (name, at), value in values.items() if name == "draws" and value is not None}
    return bool(drawn) and all(
        abs((values.get(("margin of the first", at)) or 0.0) - (1 - share)) < _ERROR for at, share in drawn.items()
    )


def _board(report: QualityReport) -> Row | None:
    """Return what the board that was asked for is worth, if that is known."""
    margins = [row for row in report.measure("value").rows if row.name == "margin of seat 0"]
    return margins[-1] if margins and _is_whole_board(report, margins[-1]) else None


def _is_whole_board(report: QualityReport, row: Row) -> bool:
    """Return whether a row is about the board that was asked for, and not about a smaller one."""
    words = row.at.replace(",", "").split()
    options = dict(zip(words[::2], words[1::2], strict=False))
    return all(str(report.options.get(name, value)) == value for name, value in options.items())


def _seat_sentence(report: QualityReport) -> str:
    """Return what the seats take between equals of the strongest search; what best play gives them, the value says."""
    rows = report.measure("first_seat").rows
    searches = [row for row in rows if row.at.startswith("search")]
    if not searches:
        return ""
    strongest = [row for row in searches if row.at == searches[-1].at]
    said = [f"seat {row.name.split()[-1]} takes {estimate_text(row.estimate, row.unit)}" for row in strongest]
    return f"Between equals ({strongest[0].at}), {all_of(said)} of the points{_verdict(strongest)}."


def _verdict(rows: Sequence[Row]) -> str:
    above = [row.name.split()[-1] for row in rows if row.estimate.lies_above(EVEN)]
    below = [row.name.split()[-1] for row in rows if row.estimate.lies_below(EVEN)]
    if above or below:
        more = f"more than half for seat {all_of(above)}" if above else ""
        less = f"less than half for seat {all_of(below)}" if below else ""
        return f": {' and '.join(filter(None, (more, less)))}"
    return ": no more than chance shows an advantage"


def _size_sentence(report: QualityReport) -> str:
    """Return on which boards best play is even, and who wins on the others."""
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
    >>> boards_text([("size 2", ""), ("size 3", ""), ("size 4", "")])
    'sizes 2 to 4'
    """
    if len(boards) > 1 and all(board.startswith("size ") for board, _ in boards):
        sizes = [board.removeprefix("size ") for board, _ in boards]
        says_the_same = len({by for _, by in boards}) == 1
        if len(boards) > 2 and says_the_same and int(sizes[-1]) - int(sizes[0]) == len(sizes) - 1:
            return f"sizes {sizes[0]} to {sizes[-1]}{boards[0][1]}"
        return f"sizes {all_of([board.removeprefix('size ') + by for board, by in boards])}"
    return "; ".join(f"{board}{by}" for board, by in boards)
