"""Plays at two to the sixty-four minus one."""

from _wire import play_with

play_with(action=[2**64 - 1, 2**64 - 1])
