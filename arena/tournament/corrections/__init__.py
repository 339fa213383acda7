"""Corrections of a tournament after matches have been recorded: each with a reason, in a log, and undoable."""
