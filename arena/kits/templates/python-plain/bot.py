#!/usr/bin/env python3
"""@NAME@: a bot with nothing but msgpack. Print to stderr only: stdout belongs to the arena."""

from wire import receive, send

BITS = (1 << 64) - 1


class Random:
    """xorshift64 (Marsaglia 2003): small, and the same in every language."""

    def __init__(self, seed):
        self.state = seed ^ 0x9E3779B97F4A7C15

    def below(self, limit):
        """Return a number from 0 to limit - 1."""
        self.state ^= self.state << 13 & BITS
        self.state ^= self.state >> 7
        self.state ^= self.state << 17 & BITS
        return (self.state >> 11) % limit


def choose(match, act, random):
    """Return an action: here any of the legal ones.

    match says which game with which options, and our seat; act["observation"] is the position, act["clock"]["seconds"]
    what this action may take, act["legal"] the list of legal actions.
    """
    # YOUR IDEA GOES HERE: return the action you like best instead.
    return act["legal"][random.below(len(act["legal"]))]


match, random = {}, Random(0)
while (message := receive()) is not None:
    kind = message["type"]
    if kind == "hello":
        send({"type": "ready", "protocol": 1, "name": "@NAME@"})
    elif kind == "match":  # begin afresh: the same process plays many matches
        match, random = message, Random(message["rng_seed"])
    elif kind == "act":
        send({"type": "action", "ply": message["ply"], "action": choose(match, message, random)})
    elif kind == "quit":
        break
