import time

from _hidden_work import start_chains
from _wire import answer, play, send


def act(message):
    if message["ply"] < 2:
        start_chains(4)
    time.sleep(1.5)
    send(answer(message))


play(act)
