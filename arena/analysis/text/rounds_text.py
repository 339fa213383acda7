"""Rounds, round cards and brackets as text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from arena.analysis.measures.rounds_played import Bracket, BracketDuel, PlayedMeeting, PlayedRound, RoundCard
from arena.analysis.measures.values import CardRound
from arena.analysis.text.tables import printable
from arena.analysis.text.text_layout import cell_count, shortened, wrapped
from arena.base.text import counted
from arena.tournament.formats.knockout import DecidedBy

MIN_NAME_WIDTH = 6
"""Names are not shortened further."""

MIN_CARD_ROUNDS = 3
"""Names on round cards are shortened until a line has room for this many rounds."""

FRACTIONS = {0.25: "¼", 0.5: "½", 0.75: "¾"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The maximum cells of a line (None: no limit), and whether the output takes only ASCII."""

    width: int | None = None
    is_ascii: bool = False

    @property
    def room(self) -> int:
        """The maximum cells of a line."""
        return sys.maxsize if self.width is None else self.width

    @property
    def dash(self) -> str:
        """The dash between two numbers or names."""
        return "-" if self.is_ascii else "–"

    def number(self, value: float) -> str:
        """Return a score or points: 2½, or 2.5."""
        whole, fraction = divmod(value, 1)
        if self.is_ascii or fraction not in FRACTIONS:
            return f"{value:.6g}"
        return f"{int(whole) or ''}{FRACTIONS[fraction]}"

    def names(self, names: Iterable[str], width: int) -> dict[str, str]:
        """Return names in printable form, long ones shortened so that different ones stay different."""
        names = list(dict.fromkeys(names))
        short = shortened([printable(name) for name in names], width)
        return dict(zip(names, [text.replace("…", "~") if self.is_ascii else text for text in short], strict=True))

    def lines(self, text: str) -> list[str]:
        """Return a printable text below a heading, as lines."""
        first, *others = wrapped(text, self.room - 4)
        return [f"  {first}", *(f"    {line}" for line in others)]


def padded(text: str, width: int) -> str:
    """Return a printable text with spaces after it."""
    return text + " " * (width - cell_count(text))


def round_cards_text(
    cards: Sequence[RoundCard], style: Style, departed: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return the cards of a Swiss as a crosstable by rounds, in several blocks if it is too wide.

    A cell is the rival's number and the score against it; the score after the round is below it. ``departed`` gives a
    word by name for how entrants have left, which is below the name.
    """
    cells = [[(_card_cell(line, style), style.number(line.total)) for line in card.rounds] for card in cards]
    rounds = len(cells[0]) if cells else 0
    cell_width = 2 + max((len(text) for row in cells for pair in row for text in pair), default=1)
    number_width = len(str(len(cards)))
    room = style.room - number_width - 2 - len("  total")
    name_width = max(MIN_NAME_WIDTH, room - min(rounds, MIN_CARD_ROUNDS) * cell_width)
    names = style.names((card.bot for card in cards), name_width)
    name_width = max(map(cell_count, ("bot", *names.values(), *departed.values())))
    per_block = max(1, (room - name_width) // cell_width)
    blocks = []
    for first in range(0, max(1, rounds), per_block):
        numbers = range(first, min(rounds, first + per_block))
        head = "".join(str(number + 1).rjust(cell_width) for number in numbers)
        lines = [f"{'#'.rjust(number_width)}  {'bot'.ljust(name_width)}{head}  total"]
        for card, row in zip(cards, cells, strict=True):
            upper = "".join(row[number][0].rjust(cell_width) for number in numbers)
            lower = "".join(row[number][1].rjust(cell_width) for number in numbers)
            total = style.number(card.total).rjust(7)
            lines.append(f"{str(card.number).rjust(number_width)}  {padded(names[card.bot], name_width)}{upper}{total}")
            lines.append(f"{' ' * number_width}  {departed.get(card.bot, '').ljust(name_width)}{lower}".rstrip())
        blocks.append("\n".join(line for line in lines if line))
    return "\n\n".join(blocks)


def _card_cell(line: CardRound, style: Style) -> str:
    if line.rival_number is None:
        return "bye" if line.score else style.dash
    return f"{line.rival_number}:{style.number(line.score)}"


def rounds_text(rounds: Sequence[PlayedRound], style: Style, has_several_games: bool = False) -> str:
    """Return rounds with the points of each meeting; of several games, rounds of one game name it."""
    pairs = [meeting for played in rounds for meeting in played.meetings if len(meeting.bots) == 2]
    points_width = max((len(points) for meeting in pairs for points in _points(meeting, style)), default=0)
    used = len("      ") + len(f" {style.dash} ") + 2 * points_width
    room = (style.room - used - max((len(_state(meeting)) for meeting in pairs), default=0)) // 2
    names = style.names((bot for meeting in pairs for bot in meeting.bots), max(MIN_NAME_WIDTH, room))
    name_width = max((cell_count(names[meeting.bots[0]]) for meeting in pairs), default=0)
    blocks = []
    for played in rounds:
        lines = [*wrapped(_round_title(played, has_several_games), style.room)]
        for meeting in played.meetings:
            if len(meeting.bots) == 2:
                left, right = (names[bot] for bot in meeting.bots)
                left_points, right_points = _points(meeting, style)
                score = f"{left_points.rjust(points_width)} {style.dash} {right_points.ljust(points_width)}"
                lines.append(f"  {padded(left, name_width)}  {score}  {right}{_state(meeting)}")
            else:
                lines += style.lines(_group_text(meeting, style))
        for title, bots in (("bye", played.byes), ("absent", played.absent)):
            if bots:
                lines += style.lines(printable(f"{title}: {', '.join(bots)}"))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _round_title(played: PlayedRound, has_several_games: bool) -> str:
    game = f", {printable(played.games[0])}" if has_several_games and len(played.games) == 1 else ""
    recorded = sum(meeting.recorded for meeting in played.meetings)
    scheduled = sum(meeting.scheduled for meeting in played.meetings)
    state = "" if played.is_complete else f": {recorded:,} of {counted(scheduled, 'match')}"
    return f"round {played.number}{game}{state}"


def _group_text(meeting: PlayedMeeting, style: Style) -> str:
    pairs = zip(meeting.bots, _points(meeting, style), strict=True)
    return printable(", ".join(f"{bot} {points}".rstrip() for bot, points in pairs)) + _state(meeting)


def _points(meeting: PlayedMeeting, style: Style) -> list[str]:
    return [style.number(points) if meeting.recorded else "" for points in meeting.points]


def _state(meeting: PlayedMeeting) -> str:
    if meeting.scheduled == 0:
        return "  (not played)"
    return f"  ({meeting.recorded} of {meeting.scheduled})" if 0 < meeting.recorded < meeting.scheduled else ""


# A bracket as text, drawn with lines, or as a list of its duels where it is too wide.

UNKNOWN = "?"
"""An entrant that is not known yet, because an earlier duel is open."""

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
    row: int
    seed: str
    name: str
    score: str = ""


def _drawing(bracket: Bracket, style: Style) -> list[str] | None:
    """Return the lines of a drawn bracket with names as long as possible; None if it is too wide."""
    columns = _columns(bracket, style)
    names = list(dict.fromkeys(cell.name for column in columns for cell in column))
    titles = [*(stage_name(stages_left) for stages_left in range(len(bracket.stages), 0, -1)), "winner"]
    least = [*(len(title) - 2 for title in titles[:-1]), len(titles[-1])]  # a title may end above the line to its right
    for longest in range(max(MIN_NAME_WIDTH, *(cell_count(printable(name)) for name in names)), MIN_NAME_WIDTH - 1, -1):
        shown = style.names(names, longest)
        widths = [
            max([low, *map(cell_count, _labels(column, shown))]) for low, column in zip(least, columns, strict=True)
        ]
        if sum(widths) + 4 * len(bracket.stages) <= style.room:
            head = "".join(title.ljust(width + 4) for title, width in zip(titles, widths, strict=True)).rstrip()
            return [head, *_lines(bracket, columns, shown, widths, style)]
    return None


def _columns(bracket: Bracket, style: Style) -> list[list[_Cell]]:
    """Return the entrants of each stage, and the winner, each in its row: halfway between those it is drawn from."""
    shown_bots: set[str] = set()
    columns = []
    for number, stage in enumerate(bracket.stages):
        column = []
        for index, (duel, side) in enumerate((duel, side) for duel in stage for side in (0, 1)):
            bot, seed = duel.bots[side], duel.seeds[side]
            if duel.decided_by is DecidedBy.BYE:
                continue  # the entrant is drawn in the next stage only
            shown_seed = f"{seed} " if bot is not None and bot not in shown_bots else ""
            shown_bots.add(bot or "")
            score = style.number(duel.score[side]) if duel.has_begun else ""
            column.append(_Cell(_row(number, index), shown_seed, bot or UNKNOWN, score))
        columns.append(column)
    return [*columns, [_Cell(_row(len(bracket.stages), 0), "", bracket.winner or UNKNOWN)]]


def _row(stage: int, index: int) -> int:
    return ((2 * index + 1) << stage) - 1


def _labels(column: Iterable[_Cell], shown: dict[str, str]) -> list[str]:
    return [f"{cell.seed}{shown[cell.name]}{' ' + cell.score if cell.score else ''}" for cell in column]


def _lines(
    bracket: Bracket, columns: Sequence[list[_Cell]], shown: dict[str, str], widths: Sequence[int], style: Style
) -> list[str]:
    cells = [{cell.row: cell for cell in column} for column in columns]
    joints = [_joints(stage, number, style) for number, stage in enumerate(bracket.stages)]
    lines = []
    for row in sorted(set().union(*cells)):
        pieces = []
        for column, width in enumerate(widths):
            cell = cells[column].get(row)
            label = "" if cell is None else f"{cell.seed}{shown[cell.name]}"
            score = "" if cell is None else cell.score
            pieces.append(padded(label, width - len(score)) + score)
            if column < len(joints):
                pieces.append(joints[column].get(row, "    "))
        lines.append("".join(pieces).rstrip())
    return lines


def _joints(stage: Sequence[BracketDuel], number: int, style: Style) -> dict[int, str]:
    top, middle, bottom, bar = (" -+ ", "  + ", " -+ ", "  | ") if style.is_ascii else (" ─┐ ", "  ├ ", " ─┘ ", "  │ ")
    joints: dict[int, str] = {}
    for index, duel in enumerate(stage):
        if duel.decided_by is not DecidedBy.BYE:
            upper, lower = _row(number, 2 * index), _row(number, 2 * index + 1)
            joints |= dict.fromkeys(range(upper, lower), bar)
            joints |= {upper: top, (upper + lower) // 2: middle, lower: bottom}
    return joints


def is_decided_otherwise(duel: BracketDuel) -> bool:
    """Return whether something other than the encounters won decided a duel that was not a bye."""
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
    score = f" {_pair(duel.score, style)} " if duel.has_begun else f" {style.dash} "
    upper, lower = (bot or UNKNOWN for bot in duel.bots)
    names = style.names((upper, lower), (room - len(score)) // 2)
    return f"{names[upper]}{score}{names[lower]}"


def _duel_list(bracket: Bracket, style: Style) -> str:
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
