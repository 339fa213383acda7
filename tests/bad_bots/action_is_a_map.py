"""Sends a map for a square."""

from _wire import play_with

play_with(action={"x": 0, "y": 0})
