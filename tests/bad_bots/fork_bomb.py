import os
import time

from _wire import play


def bomb(message):
    for _ in range(2000):
        try:
            if os.fork() == 0:
                time.sleep(1000)
        except OSError:
            break
    time.sleep(1000)


play(bomb)
