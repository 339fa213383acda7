"""Formats: who meets whom, from the field and the results so far. See ``format.py``."""

from __future__ import annotations

from arena.tournament.formats.format import (
    Field,
    Format,
    Meeting,
    Pairing,
    Placing,
    Round,
)
from arena.tournament.formats.sprt import Comparison
from arena.tournament.formats.table import FORMATS, KINDS, field_of, formats_of, kind_of

__all__ = [
    "FORMATS",
    "KINDS",
    "Comparison",
    "Field",
    "Format",
    "Meeting",
    "Pairing",
    "Placing",
    "Round",
    "field_of",
    "formats_of",
    "kind_of",
]
