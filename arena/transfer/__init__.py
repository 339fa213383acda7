"""Tournaments from elsewhere: another home is merged, an export is imported, and nothing is taken unchecked."""

from arena.transfer.export_writer import whole_export
from arena.transfer.importing import import_records
from arena.transfer.merging import merge_home
from arena.transfer.results import MergedTournament

__all__ = ["MergedTournament", "import_records", "merge_home", "whole_export"]
