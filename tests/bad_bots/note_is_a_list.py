"""Sends a list for a note."""

from _wire import play_with

play_with(note=[1, 2])
