"""Sends infinity."""

from _wire import play_with

play_with(action=[float("inf"), 1])
