"""Nests an answer forty levels deep."""

from functools import reduce

from _wire import play_with

play_with(action=reduce(lambda inner, _: [inner], range(40), 1))
