import os
import time

from _wire import play


def hog(message):
    for _ in range(10):
        if os.fork() == 0:
            kept = bytearray(b"x" * 60_000_000)
            time.sleep(1000 if kept else 0)
    time.sleep(1.2)
    raise SystemExit("enough: nobody held me")


play(hog)
