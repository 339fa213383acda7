"""Round robin: everybody meets everybody."""

from __future__ import annotations

from itertools import combinations

Pairing = tuple[int, ...]
"""The numbers of the entrants who meet, counted from 0."""


def round_robin(entrants: int, players: int) -> list[Pairing]:
    """Return every group of ``players`` entrants, in the order of the entrants."""
    return list(combinations(range(entrants), players))
