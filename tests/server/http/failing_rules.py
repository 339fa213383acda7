"""Rules that never return, end their process, print, or use memory without end; as matches name them."""

import os
import sys

from tests.mistaken_games import Counting


class Hanging(Counting):
    name = "hanging"

    def apply(self, state, action):
        while True:
            pass


class HangingPicture(Counting):
    name = "hanging-picture"

    def drawing(self, state):
        while True:
            pass


class RaisingPicture(Counting):
    name = "raising-picture"

    def render(self, state):
        raise KeyError(state)

    def drawing(self, state):
        raise ZeroDivisionError


class Exiting(Counting):
    name = "exiting"

    def apply(self, state, action):
        os._exit(3)


class Orphaning(Counting):
    name = "orphaning"

    def apply(self, state, action):
        sys.exit()


class Hoarding(Counting):
    name = "hoarding"

    def apply(self, state, action):
        return ["x" * 2**33]


class Printing(Counting):
    name = "printing"

    def apply(self, state, action):
        os.write(1, b"\0\0\0\5hello")
        print(sys.stdin.read(), flush=True)
        return super().apply(state, action)
