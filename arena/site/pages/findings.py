"""What a tournament's results rest on, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from arena.analysis.measures.standings import Standings
from arena.analysis.text.standings_columns import percent_text
from arena.analysis.text.verdict import cycle_text, untested_text
from arena.base.text import all_of, counted

MAX_CYCLES = 5
MAX_NAMES = 8


def findings(table: Standings) -> Iterator[str]:
    """Yield what was counted, and whether a single rating for each bot fits; nothing before the first match."""
    if not table.matches:
        return
    duplicates = table.matches - table.rated
    if duplicates:
        yield (
            f"{counted(duplicates, 'duplicate match')} {'is' if duplicates == 1 else 'are'} not rated:"
            " their bots always play the same match from that opening."
        )
    if table.adjudicated:
        yield f"{counted(table.adjudicated, 'match')} ended at the limit of plies, ranked by the scores as they stood."
    functions = [line.bot for line in table.lines if line.is_function]
    if functions:
        who = all_of(functions) if len(functions) <= MAX_NAMES else counted(len(functions), "bot")
        yield f"{who} {'is a Python function' if len(functions) == 1 else 'are Python functions'}, not isolated."
    if table.draw_probability is not None:
        yield f"Two equal bots draw with a probability of {percent_text(table.draw_probability)}."
    yield from _about_the_fit(table)


def _about_the_fit(table: Standings) -> Iterator[str]:
    tested = table.consistency
    if tested.phi is None:
        yield untested_text(table)
    elif tested.is_flagged:
        yield (
            "A single rating for each bot does not fit the results: see who beats whom. Their overdispersion is"
            f" φ = {tested.phi:.2f}, which by chance alone has a probability of {percent_text(tested.p_value)}."
        )
    else:
        yield f"A single rating for each bot fits the results: their overdispersion is φ = {tested.phi:.2f}."
    for cycle in tested.cycles[:MAX_CYCLES]:
        yield f"A cycle: {cycle_text(cycle, table.shown_names)}."
