"""What the openings of a tournament are worth, as text."""

from __future__ import annotations

from arena.definition import Definition
from arena.enums import OpeningChoice
from arena.lab.opening_worth import OpeningBalance
from arena.text import counted

_CHOSEN = {OpeningChoice.INFORMATION: " of those that tell most", OpeningChoice.BOOK: " of the book"}


def opening_sentence(definition: Definition, game: int, found: OpeningBalance) -> str:
    """Return how many of the openings of a game are decided before the bots begin."""
    where = f" in {definition.games[game].game}" if len(definition.games) > 1 else ""
    if not found.known:
        return f"openings{where}: who wins {counted(found.openings, 'opening')} is not found out in time (--within)"
    chosen = _CHOSEN[definition.openings[game].choose] if definition.openings else ""
    share = (found.won + found.lost) / found.known
    of_all = f" of {found.openings:,}" if found.known < found.openings else ""
    drawn = "1 is a draw" if found.drawn == 1 else f"{found.drawn:,} are draws"
    return (
        f"openings{where}: {100 * share:.0f} %{chosen} are won before the bots begin (n = {found.known:,}{of_all}:"
        f" {found.won:,} by seat 0, {found.lost:,} by seat 1; {drawn})"
    )
