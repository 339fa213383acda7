"""Sends a number that is none."""

from _wire import play_with

play_with(action=[float("nan"), 1])
