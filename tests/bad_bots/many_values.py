"""Sends a list of twenty thousand values."""

from _wire import play_with

play_with(action=[0] * 20_000)
