"""Answers with a message of another type."""

from _wire import play_with

play_with(type="ready")
