"""Answers, but has started a daemon in a session of its own that keeps the pipes open."""

import os
import time

from _wire import answer, play, send

started = []


def daemon(message):
    if not started:
        started.append(True)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(1000)
            os._exit(0)
    send(answer(message))


play(daemon)
