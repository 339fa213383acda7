import ctypes
import os
import time

from _wire import play_hog

PR_SET_DUMPABLE = 4


def hog():
    for _ in range(10):
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
            kept = bytearray(b"x" * 60_000_000)
            time.sleep(1000 if kept else 0)


play_hog(hog, 1.2)
