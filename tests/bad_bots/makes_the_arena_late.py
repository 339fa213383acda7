"""Starts chains of processes when it has to answer, never does, and hopes that the arena will be too late to judge."""

import time

from _hidden_work import start_chains
from _wire import play


def act(message):
    for _ in range(6):
        start_chains(30)
    time.sleep(1000)


play(act)
