"""Sends three numbers for a square."""

from _wire import play_with

play_with(action=[0, 0, 0])
