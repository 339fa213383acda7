import os
import time

from _wire import answer, play, send

started = []


def daemon(message):
    if not started:
        started.append(True)
        if os.fork() == 0:
            try:
                os.setsid()
            finally:
                if os.fork() == 0:
                    time.sleep(1000)
                os._exit(0)
    send(answer(message))


play(daemon)
