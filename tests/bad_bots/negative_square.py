"""Plays at minus one."""

from _wire import play_with

play_with(action=[-1, 0])
