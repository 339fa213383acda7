"""Sends an empty list for a square."""

from _wire import play_with

play_with(action=[])
