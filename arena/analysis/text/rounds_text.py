"""Rounds and round cards as text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from arena.analysis.measures.bracket import CardRound, RoundCard
from arena.analysis.measures.rounds_played import PlayedMeeting, PlayedRound
from arena.analysis.text.tables import printable
from arena.analysis.text.text_layout import cell_count, shortened, wrapped
from arena.base.text import counted

MIN_NAME_WIDTH = 6
"""Names are not shortened further."""

MIN_CARD_ROUNDS = 3
"""Names on round cards are shortened until a line has room for this many rounds."""

FRACTIONS = {0.25: "¼", 0.5: "½", 0.75: "¾"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """What a text is drawn with.

    Attributes:
        width: the maximum cells of a line; None for as many as it needs.
        is_ascii: whether the output has no other characters than ASCII.
    """

    width: int | None = None
    is_ascii: bool = False

    @property
    def room(self) -> int:
        """The maximum cells of a line."""
        return sys.maxsize if self.width is None else self.width

    @property
    def dash(self) -> str:
        """What stands between two numbers or names."""
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

    A cell is the rival's number and the score against it; the score after the round is below it.

    Args:
        cards: in the order of the table.
        style: what it is drawn with.
        departed: a word for how entrants have left, by name; it is below the name.
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
    """Return rounds with the points of each meeting.

    Args:
        rounds: in order.
        style: what it is drawn with.
        has_several_games: whether the tournament has; then rounds of one game name it.
    """
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
                mine, yours = _points(meeting, style)
                score = f"{mine.rjust(points_width)} {style.dash} {yours.ljust(points_width)}"
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
