"""A bracket as text, drawn with lines, or as a list of its duels where it is too wide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.analysis.measures.bracket import Bracket, BracketDuel
from arena.analysis.text.rounds_text import MIN_NAME_WIDTH, Style, padded
from arena.analysis.text.tables import printable
from arena.analysis.text.text_layout import cell_count, wrapped
from arena.tournament.formats.knockout import DecidedBy

UNKNOWN = "?"
"""An entrant that is not known yet, as a duel before is open."""

STAGES = ("final", "semifinals", "quarterfinals")
"""The last stages of a bracket, from the end."""


def stage_name(stages_left: int) -> str:
    """Return the name of a stage.

    >>> stage_name(1), stage_name(2), stage_name(5)
    ('final', 'semifinals', 'last 32')
    """
    return STAGES[stages_left - 1] if stages_left <= len(STAGES) else f"last {2**stages_left}"


def bracket_text(bracket: Bracket, style: Style) -> str:
    """Return a bracket drawn from left to right, or as a list of its duels if it is too wide; with notes below."""
    drawing = _drawing(bracket, style)
    if drawing is None:
        return _duel_list(bracket, style)
    notes = [
        line
        for stage in bracket.stages
        for duel in stage
        if is_decided_otherwise(duel)
        for line in wrapped(f"{_duel(duel, style, style.room)}: {reason(duel, style)}", style.room)
    ]
    return "\n".join([*drawing, *([""] if notes else []), *notes])


@dataclass(frozen=True, slots=True)
class _Cell:
    """An entrant's place in a drawn bracket."""

    row: int
    seed: str
    name: str
    score: str = ""


def _drawing(bracket: Bracket, style: Style) -> list[str] | None:
    """Return the lines of a drawn bracket with names as long as possible; None if it is too wide."""
    columns = _columns(bracket, style)
    names = list(dict.fromkeys(cell.name for column in columns for cell in column))
    titles = [*(stage_name(left) for left in range(len(bracket.stages), 0, -1)), "winner"]
    least = [*(len(title) - 2 for title in titles[:-1]), len(titles[-1])]  # a title may end above the line to its right
    for longest in range(max(MIN_NAME_WIDTH, *(cell_count(printable(name)) for name in names)), MIN_NAME_WIDTH - 1, -1):
        shown = style.names(names, longest)
        widths = [
            max([low, *map(cell_count, _labels(column, shown))]) for low, column in zip(least, columns, strict=True)
        ]
        if sum(widths) + 4 * len(bracket.stages) <= style.room:
            return [_head(titles, widths), *_lines(bracket, columns, shown, widths, style)]
    return None


def _columns(bracket: Bracket, style: Style) -> list[list[_Cell]]:
    """Return the entrants of each stage, and the winner, each in its row: halfway between those it is drawn from."""
    seen: set[str] = set()
    columns = []
    for number, stage in enumerate(bracket.stages):
        column = []
        for place, (duel, side) in enumerate((duel, side) for duel in stage for side in (0, 1)):
            bot, seed = duel.bots[side], duel.seeds[side]
            if duel.decided_by is DecidedBy.BYE:
                continue  # the entrant is drawn in the next stage only
            shown_seed = f"{seed} " if bot is not None and bot not in seen else ""
            seen.add(bot or "")
            score = style.number(duel.score[side]) if duel.has_begun else ""
            column.append(_Cell(_row(number, place), shown_seed, bot or UNKNOWN, score))
        columns.append(column)
    return [*columns, [_Cell(_row(len(bracket.stages), 0), "", bracket.winner or UNKNOWN)]]


def _row(stage: int, place: int) -> int:
    return ((2 * place + 1) << stage) - 1


def _labels(column: Iterable[_Cell], shown: dict[str, str]) -> list[str]:
    return [f"{cell.seed}{shown[cell.name]}{' ' + cell.score if cell.score else ''}" for cell in column]


def _head(titles: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(title.ljust(width + 4) for title, width in zip(titles, widths, strict=True)).rstrip()


def _lines(
    bracket: Bracket, columns: Sequence[list[_Cell]], shown: dict[str, str], widths: Sequence[int], style: Style
) -> list[str]:
    cells = [{cell.row: cell for cell in column} for column in columns]
    joints = [_joints(stage, number, style) for number, stage in enumerate(bracket.stages)]
    lines = []
    for row in sorted(set().union(*cells)):
        parts = []
        for column, width in enumerate(widths):
            cell = cells[column].get(row)
            label = "" if cell is None else f"{cell.seed}{shown[cell.name]}"
            score = "" if cell is None else cell.score
            parts.append(padded(label, width - len(score)) + score)
            if column < len(joints):
                parts.append(joints[column].get(row, "    "))
        lines.append("".join(parts).rstrip())
    return lines


def _joints(stage: Sequence[BracketDuel], number: int, style: Style) -> dict[int, str]:
    """Return what is drawn to the right of a stage, by row."""
    top, middle, bottom, bar = (" -+ ", "  + ", " -+ ", "  | ") if style.is_ascii else (" ─┐ ", "  ├ ", " ─┘ ", "  │ ")
    found: dict[int, str] = {}
    for place, duel in enumerate(stage):
        if duel.decided_by is not DecidedBy.BYE:
            upper, lower = _row(number, 2 * place), _row(number, 2 * place + 1)
            found |= dict.fromkeys(range(upper, lower), bar)
            found |= {upper: top, (upper + lower) // 2: middle, lower: bottom}
    return found


def is_decided_otherwise(duel: BracketDuel) -> bool:
    """Return whether something else than the encounters won has decided a duel that was to be played."""
    return duel.decided_by not in (None, DecidedBy.BYE, DecidedBy.ENCOUNTERS)


def reason(duel: BracketDuel, style: Style) -> str:
    """Return what decided a duel that encounters did not decide."""
    if duel.decided_by is DecidedBy.POINTS:
        return f"decided by points, {_pair(duel.points, style)}"
    if duel.decided_by is DecidedBy.WALKOVER:
        return "walkover"
    return "the better seed advances"


def _pair(numbers: tuple[float, float], style: Style) -> str:
    return style.dash.join(map(style.number, numbers))


def _duel(duel: BracketDuel, style: Style, room: int) -> str:
    """Return a duel in a line of at most this many cells."""
    score = f" {_pair(duel.score, style)} " if duel.has_begun else f" {style.dash} "
    upper, lower = (bot or UNKNOWN for bot in duel.bots)
    names = style.names((upper, lower), (room - len(score)) // 2)
    return f"{names[upper]}{score}{names[lower]}"


def _duel_list(bracket: Bracket, style: Style) -> str:
    """Return a bracket as a list of its duels, stage by stage."""
    lines = []
    for number, stage in enumerate(bracket.stages):
        lines += ["", stage_name(len(bracket.stages) - number)]
        for duel in stage:
            if duel.decided_by is DecidedBy.BYE:
                lines += style.lines(printable(f"{duel.winner}: bye"))
            else:
                lines.append(f"  {_duel(duel, style, style.room - 2)}")
            if is_decided_otherwise(duel):
                lines.append(f"    {reason(duel, style)}")
    return "\n".join(lines[1:])
