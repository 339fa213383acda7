import time

from _hidden_work import start_chains
from _wire import play


def act(message):
    for _ in range(6):
        start_chains(30)
    time.sleep(1000)


play(act)
