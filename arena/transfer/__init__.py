"""Tournaments from elsewhere: another home is merged, an export is imported, and nothing is taken unchecked."""

from arena.transfer.merging import merge_home
from arena.transfer.results import MergedTournament

__all__ = ["MergedTournament", "merge_home"]
