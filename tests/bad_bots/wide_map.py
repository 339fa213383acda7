"""Sends a map of ten thousand keys."""

from _wire import play_with

play_with(extra={f"k{number}": 0 for number in range(10_000)})
