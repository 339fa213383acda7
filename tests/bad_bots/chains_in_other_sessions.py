import os
import signal
import time

from _hidden_work import OffTurn, burn
from _wire import play

group = os.getpgid(0)


def chain():
    while True:
        try:
            os.setsid()
        except OSError:
            time.sleep(1000)
        burn(0, 0.004)
        os.killpg(group, signal.SIGCONT)
        if os.fork():
            os._exit(0)


signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    chain()
play(OffTurn().answer)
