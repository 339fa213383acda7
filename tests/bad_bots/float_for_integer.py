"""Sends 1.0 for 1."""

from _wire import play_with

play_with(action=[1.0, 1.0])
