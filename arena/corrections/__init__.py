"""Corrections of a tournament after matches have been recorded: each with a reason, in a log, and undoable."""

from arena.corrections.absence import disqualify, withdraw
from arena.corrections.bots import enter_late, replace_bot
from arena.corrections.undoing import undo_correction
from arena.corrections.void_matches import void_matches

__all__ = ["disqualify", "enter_late", "replace_bot", "undo_correction", "void_matches", "withdraw"]
