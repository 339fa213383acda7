import os
import time

from _wire import answer, play, send


def act(message):
    if os.fork() == 0:
        while time.process_time() < 0.06:
            pass
        os._exit(0)
    os.wait()
    send(answer(message))


play(act)
