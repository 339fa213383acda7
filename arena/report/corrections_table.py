"""The log of corrections, as a table and as a line below other tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from arena.enums import CorrectionKind, DisqualifiedMatches
from arena.report.tables import Column, Row
from arena.store.correction import Correction, standing, undone_by
from arena.text import counted, shortened_text

COLUMNS = (
    Column("number", "#"),
    Column("made_at", "made (UTC)", is_number=False),
    Column("correction", "correction", is_number=False),
    Column("set_aside", "records set aside"),
    Column("reason", "reason", is_number=False),
)


def corrections_table(
    corrections: Sequence[Correction], set_aside: Mapping[int, Sequence[int]]
) -> tuple[Sequence[Column], list[Row]]:
    """Return the log as a table.

    Args:
        corrections: the oldest first.
        set_aside: the matches whose records each of them has set aside, by its number.
    """
    undone = undone_by(corrections)
    rows: list[Row] = []
    for c in corrections:
        text = correction_text(c)
        if c.number in undone:
            text += f" (undone by {undone[c.number].number})"
        rows.append(
            {
                "number": c.number,
                "made_at": c.made_at,
                "correction": text,
                "set_aside": len(set_aside[c.number]),
                "reason": c.reason,
            }
        )
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
    made = Counter({kind: 0 for kind in CorrectionKind})
    for c in standing(corrections):
        made[c.kind] += len(c.details.matches) if c.kind is CorrectionKind.VOID else 1
    texts = [counted(count, kind.shown) for kind, count in made.items() if count]
    return f"Corrected: {', '.join(texts)}." if texts else ""
