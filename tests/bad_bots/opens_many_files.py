import os
import time

from _wire import play


def hog(message):
    try:
        for _ in range(2000):
            os.open("/dev/null", os.O_RDONLY)
    except OSError:
        pass
    time.sleep(0.6)
    raise SystemExit("enough: nobody held me")


play(hog)
