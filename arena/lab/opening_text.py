"""What the openings of a tournament are worth, as text."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

from arena.base.definition import Definition
from arena.base.enums import OpeningChoice
from arena.base.text import counted
from arena.games.kernels.playouts import BATCHES, PLAYOUTS, PlayoutMargin
from arena.lab.opening_worth import OpeningBalance
from arena.ratings.distributions import t_quantile

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


def judged_sentence(definition: Definition, game: int, openings: int, margins: Sequence[PlayoutMargin]) -> str:
    """Return what random playouts say of openings that were chosen by them.

    Args:
        definition: of the tournament.
        game: its number.
        openings: how many there are.
        margins: of the first of them, for which there was time.
    """
    where = f" in {definition.games[game].game}" if len(definition.games) > 1 else ""
    chosen = f"openings{where}: chosen by random playouts, as too many states follow them to be solved"
    if not margins:
        return f"{chosen}; how far those end apart is not found out in time (--within)"
    mean = sum(one.mean for one in margins) / len(margins)
    error = hypot(*(one.error for one in margins)) / len(margins)
    lowest, highest = (find(margins, key=lambda one: one.mean) for find in (min, max))
    of_all = f" of {openings:,}" if len(margins) < openings else ""
    return (
        f"{chosen}; in {PLAYOUTS:,} playouts from each (n = {len(margins):,}{of_all}) seat 0 is ahead by"
        f" {_margin(mean, error)} points in the mean, from single openings by {_margin(lowest.mean, lowest.error)} to"
        f" {_margin(highest.mean, highest.error)}; this is judged, and not what they are worth with best play"
    )


def _margin(mean: float, error: float) -> str:
    return f"{mean:+.2f} (± {t_quantile(BATCHES - 1, 0.975) * error:.2f})"
