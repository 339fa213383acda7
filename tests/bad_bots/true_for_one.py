"""Sends True for 1."""

from _wire import play_with

play_with(action=[True, True])
