"""The last section of the report: where its numbers come from, and what each column means."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from arena.report.column_meanings import meaning_of
from arena.report.html_table import meaning_anchor
from arena.report.markup import text
from arena.report.tables import Column
from arena.store.values import StoredTournament

_METHOD = (
    "Ratings are TrueSkill, fitted to all results at once: mu is the mean of what is believed about a bot's strength,"
    " sigma its standard deviation. Bots are ranked by exposure, mu − 3 sigma. Intervals are at 95 %, by a bootstrap"
    " over encounters: an encounter is the matches of one pairing from one opening, with the seats rotated. Two bots"
    " can be told apart when one is better than the other with a probability of at least 97.5 %."
)


def method_section(tournament: StoredTournament, sentences: Sequence[str], columns: Iterable[Column]) -> str:
    """Return the section.

    Args:
        tournament: the tournament.
        sentences: what tests of the results have found.
        columns: of all tables in the page.
    """
    definition = tournament.definition
    facts = [
        ("isolation", definition.isolation),
        ("seed of random numbers", definition.rng_seed),
        ("random actions at the beginning", definition.opening_plies),
        ("plies in a match, at most", f"{definition.ply_limit:,}"),
        ("bots start", "for every match" if definition.fresh_bots else "once for each worker"),
        ("to check every result", f"arena verify {shlex.quote(tournament.name)}"),
    ]
    return (
        f"<p>{text(_METHOD)}</p><p>{text(' '.join(sentences))}</p>"
        f'<dl class="facts">{"".join(f"<dt>{text(term)}</dt><dd>{text(value)}</dd>" for term, value in facts)}</dl>'
        f'<h3 id="columns">Columns</h3><dl class="columns">{_columns(columns)}</dl>'
    )


def _columns(columns: Iterable[Column]) -> str:
    explained: dict[str, tuple[str, str]] = {}
    for column in columns:
        if meaning := meaning_of(column.key):
            title = "1, 2, …" if column.title == "1" else column.title
            explained.setdefault(meaning_anchor(column.key), (title, meaning))
    return "".join(
        f'<div><dt>{text(title)}</dt><dd id="{anchor}">{text(meaning)}</dd></div>'
        for anchor, (title, meaning) in explained.items()
    )
