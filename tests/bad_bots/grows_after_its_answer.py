import os
import time

from _hidden_work import OffTurn, burn
from _wire import play

off_turn = OffTurn()
has_begun = False


def grow():
    """Take 8 MiB and start another child every tenth of a second."""
    kept = bytearray()
    while True:
        burn(0, 0.1)
        kept += bytes(range(256)) * 32768
        if len(kept) < 1 << 28 and os.fork() == 0:
            kept = bytearray()


def act(message):
    global has_begun
    off_turn.answer(message)
    if not has_begun:
        has_begun = True
        if os.fork() == 0:
            time.sleep(0.05)  # by then it is off turn
            grow()


play(act)
