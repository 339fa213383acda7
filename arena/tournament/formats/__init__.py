"""Formats: who meets whom, from the field and the results so far. See ``format.py``."""

from __future__ import annotations

from arena.tournament.formats.format import Field, Format, Meeting, Pairing, Placing, Round, StopLimits
from arena.tournament.formats.table import DEFAULT_FORMAT, FORMATS, field_of, format_class, format_of, table_key

__all__ = [
    "DEFAULT_FORMAT",
    "FORMATS",
    "Field",
    "Format",
    "Meeting",
    "Pairing",
    "Placing",
    "Round",
    "StopLimits",
    "field_of",
    "format_class",
    "format_of",
    "table_key",
]
