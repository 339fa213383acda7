"""The log of corrections, as a table and as a line below other tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from arena.analysis.text.tables import Column, Row, row_of
from arena.base.enums import CorrectionKind, DisqualifiedMatches
from arena.base.text import counted, shortened_text
from arena.store.results.values import Correction, in_force, undone_by

MAX_NAMED = 2
"""Up to this many bots are named below a table; more are only counted."""

COLUMNS = (
    Column("number", "#"),
    Column("kind", "kind", is_number=False, drop_order=5),
    Column("bot", "bot", is_number=False, drop_order=6),
    Column("correction", "correction", is_number=False, wraps=True),
    Column("reason", "reason", is_number=False, drop_order=1, wraps=True),
    Column("made_at", "made (UTC)", is_number=False, drop_order=3),
    Column("set_aside", "records set aside", drop_order=4),
    Column("undone_by", "undone by", drop_order=2),
)


def corrections_table(corrections: Sequence[Correction], set_aside: Counter[int]) -> tuple[Sequence[Column], list[Row]]:
    """Return the log as a table, the oldest first; ``set_aside`` counts the records set aside by correction number."""
    undone = undone_by(corrections)
    rows: list[Row] = [
        row_of(
            COLUMNS,
            c,
            kind=c.kind.value,
            bot=c.details.bot or None,
            correction=correction_text(c),
            set_aside=set_aside[c.number],
            undone_by=undone[c.number].number if c.number in undone else None,
        )
        for c in corrections
    ]
    return COLUMNS, rows


def correction_text(c: Correction) -> str:
    """Return what was corrected, as a sentence without its end."""
    bot = c.details.bot
    if c.kind is CorrectionKind.DISQUALIFY:
        is_annulled = c.details.disqualified_matches is DisqualifiedMatches.ANNUL
        return f"{bot} is disqualified; its matches {'count for nobody' if is_annulled else 'count for its rivals'}"
    if c.kind is CorrectionKind.VOID:
        numbers = shortened_text(", ".join(map(str, c.details.matches)))
        return f"{counted(len(c.details.matches), 'match')} void: {numbers}"
    texts = {
        CorrectionKind.WITHDRAW: f"{bot} has withdrawn",
        CorrectionKind.REPLACE: f"{bot} has new files",
        CorrectionKind.ENTER: f"{bot} has entered late",
        CorrectionKind.UNDO: f"correction {c.details.undoes} is undone",
    }
    return texts[c.kind]


def corrections_line(corrections: Sequence[Correction]) -> str:
    """Return the line below a table that says what was corrected; an empty text if nothing was."""
    bots: dict[CorrectionKind, list[str]] = {}
    for c in in_force(corrections):
        if c.kind is not CorrectionKind.VOID:
            bots.setdefault(c.kind, []).append(c.details.bot)
    texts = [
        f"{kind.shown} of {' and '.join(names)}" if len(names) <= MAX_NAMED else counted(len(names), kind.shown)
        for kind, names in bots.items()
    ]
    void = {match for c in in_force(corrections) for match in c.details.matches}
    texts += [counted(len(void), CorrectionKind.VOID.shown)] if void else []
    return f"Corrected: {', '.join(texts)} (see arena correct list)." if texts else ""
