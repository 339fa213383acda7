"""Formats: who meets whom, from the field and the results so far. See ``format.py``."""

from __future__ import annotations

from collections.abc import Mapping

from arena.tournament.formats.comparison import Comparison
from arena.tournament.formats.format import (
    AdaptiveFormat,
    Field,
    FixedFormat,
    Format,
    MatchResult,
    Meeting,
    Pairing,
    Place,
    Round,
    points_of,
)
from arena.tournament.formats.gauntlet import Gauntlet
from arena.tournament.formats.knockout import Knockout
from arena.tournament.formats.ladder import Ladder
from arena.tournament.formats.round_robin import RoundRobin
from arena.tournament.formats.swiss import Swiss

FORMATS: Mapping[str, type[Format]] = {
    "round-robin": RoundRobin,
    "gauntlet": Gauntlet,
    "swiss": Swiss,
    "knockout": Knockout,
    "ladder": Ladder,
}

KINDS: Mapping[str, type[Format]] = {**FORMATS, "comparison": Comparison}
"""The formats of tournament files, and that of ``arena compare``."""

__all__ = [
    "FORMATS",
    "KINDS",
    "AdaptiveFormat",
    "Comparison",
    "Field",
    "FixedFormat",
    "Format",
    "MatchResult",
    "Meeting",
    "Pairing",
    "Place",
    "Round",
    "points_of",
]
