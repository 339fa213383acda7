"""The report's section of a knockout's bracket, or of a Swiss's round cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from arena.analysis.bracket import Bracket, BracketDuel, CardRound, RoundCard
from arena.analysis.rounds_played import rounds_played
from arena.report.bracket_text import UNKNOWN, is_decided_otherwise, reason, stage_name
from arena.report.html_page import Section
from arena.report.markup import linked, text
from arena.report.rounds_text import Style
from arena.store.store import Store
from arena.store.values import StoredTournament
from arena.tournament.formats.knockout import DecidedBy

NO_ANCHORS: Mapping[str, str] = MappingProxyType({})

_STYLE = Style()


def rounds_sections(store: Store, tournament: StoredTournament, anchors: Mapping[str, str]) -> list[Section]:
    """Return the section of a knockout or a Swiss; nothing for other formats.

    Args:
        store: where the tournament is.
        tournament: the tournament.
        anchors: of the bots' sections, by the names that tables show.
    """
    found = rounds_played(store, tournament, first=0)
    if found.bracket is not None:
        bracket = bracket_html(found.bracket, anchors, found.departed)
        return [Section(anchor="bracket", title="Bracket", body=bracket)]
    if found.cards:
        cards = round_cards_html(found.cards, anchors, found.departed)
        return [Section(anchor="rounds", title="Round cards", body=cards)]
    return []


def bracket_html(
    bracket: Bracket, anchors: Mapping[str, str] = NO_ANCHORS, departed: Mapping[str, str] = NO_ANCHORS
) -> str:
    """Return a bracket as HTML: a list of duels for each stage, which the page draws beside each other.

    Args:
        bracket: the bracket.
        anchors: of the bots' sections, by name.
        departed: a word for how entrants have left, by name.
    """
    stages = []
    for number, stage in enumerate(bracket.stages):
        fed = [_has_line_from(bracket, number, place) for place in range(len(stage))]
        duels = "".join(_duel(duel, has_line, anchors, departed) for duel, has_line in zip(stage, fed, strict=True))
        title = text(stage_name(len(bracket.stages) - number))
        stages.append(f'<div class="stage"><h3>{title}</h3><ol>{duels}</ol></div>')
    card = '<div class="scroll" role="region" tabindex="0" aria-label="bracket, drawn">'
    return f'{card}<div class="bracket">{"".join(stages)}</div></div>'


def _has_line_from(bracket: Bracket, number: int, place: int) -> bool:
    """Return whether a duel before this one was played, or will be."""
    before = bracket.stages[number - 1][2 * place : 2 * place + 2] if number else ()
    return any(duel.decided_by is not DecidedBy.BYE for duel in before)


def _duel(duel: BracketDuel, has_line: bool, anchors: Mapping[str, str], departed: Mapping[str, str]) -> str:
    if duel.decided_by is DecidedBy.BYE:
        return '<li class="bye" aria-hidden="true"></li>'
    lines = []
    for bot, seed, score in zip(duel.bots, duel.seeds, duel.score, strict=True):
        who = text(UNKNOWN) if bot is None else linked(bot, anchors) + _departure(bot, departed, " ")
        shown_seed = "" if seed is None else f'<span class="soft">{seed}</span> '
        won = ' class="won"' if bot is not None and bot == duel.winner else ""
        shown_score = f"<b>{text(_STYLE.number(score))}</b>" if duel.has_begun else ""
        lines.append(f"<div{won}><span>{shown_seed}{who}</span>{shown_score}</div>")
    note = f"<small>{text(reason(duel, _STYLE))}</small>" if is_decided_otherwise(duel) else ""
    fed = ' class="fed"' if has_line else ""
    return f'<li{fed}><div class="duel">{"".join(lines)}{note}</div></li>'


def round_cards_html(
    cards: Sequence[RoundCard], anchors: Mapping[str, str] = NO_ANCHORS, departed: Mapping[str, str] = NO_ANCHORS
) -> str:
    """Return the cards of a Swiss as a table.

    Args:
        cards: in the order of the table.
        anchors: of the bots' sections, by name.
        departed: a word for how entrants have left, by name.
    """
    rounds = range(1, len(cards[0].rounds) + 1) if cards else ()
    head = "".join(f'<th class="number" scope="col">{number}</th>' for number in rounds)
    rows = "".join(_card(card, anchors, departed) for card in cards)
    return (
        '<p class="legend">In each round: the rival\'s number and the score against it; below, the score so far.</p>'
        '<div class="scroll" role="region" tabindex="0" aria-label="round cards, table">'
        '<table class="rounds"><thead><tr><th class="number" scope="col">#</th>'
        f'<th class="who" scope="col">bot</th>{head}<th class="number" scope="col">total</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _card(card: RoundCard, anchors: Mapping[str, str], departed: Mapping[str, str]) -> str:
    state = _departure(card.bot, departed, "<br>")
    cells = "".join(_cell(line) for line in card.rounds)
    return (
        f'<tr><td class="number">{card.number}</td><th class="who" scope="row">{linked(card.bot, anchors)}{state}</th>'
        f'{cells}<td class="number"><b>{text(_STYLE.number(card.total))}</b></td></tr>'
    )


def _departure(bot: str, departed: Mapping[str, str], before: str) -> str:
    return f'{before}<span class="soft">{text(departed[bot])}</span>' if bot in departed else ""


def _cell(line: CardRound) -> str:
    total = f"<br><small>{text(_STYLE.number(line.total))}</small>"
    if line.rival is None:
        return f'<td class="number">{"bye" if line.score else text(_STYLE.dash)}{total}</td>'
    points = _STYLE.dash.join(map(_STYLE.number, line.points or ()))
    about = text(f"against {line.rival}: {points} points")
    return f'<td class="number" title="{about}">{line.rival_number}:{text(_STYLE.number(line.score))}{total}</td>'
