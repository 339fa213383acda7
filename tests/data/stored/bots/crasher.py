"""Ends in the middle of its first match."""

import os

from arena.botkit import run


def choose(game, state, clock):
    os._exit(3)


run(choose)
