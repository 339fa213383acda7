"""Sends lists for numbers."""

from _wire import play_with

play_with(action=[[0], [0]])
