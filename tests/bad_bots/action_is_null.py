"""Sends nil for an action."""

from _wire import play_with

play_with(action=None)
