import os
import signal
import time

from _hidden_work import OffTurn, burn
from _wire import play

group = os.getpgid(0)
if os.fork() == 0:
    try:
        os.setsid()
    except OSError:
        time.sleep(1000)
    while True:
        burn(0, 0.004)
        os.killpg(group, signal.SIGCONT)
play(OffTurn().answer)
