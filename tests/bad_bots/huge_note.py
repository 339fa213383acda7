"""Sends a note of ten thousand characters."""

from _wire import play_with

play_with(note="x" * 10_000)
