"""Formats: pure functions from entrants to pairings."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from arena.tournament.formats.round_robin import Pairing, round_robin

FORMATS: Mapping[str, Callable[[int, int], list[Pairing]]] = {"round-robin": round_robin}

__all__ = ["FORMATS", "Pairing", "round_robin"]
