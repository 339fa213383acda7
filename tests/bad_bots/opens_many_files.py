import os

from _wire import play_hog


def hog():
    for _ in range(2000):
        os.open("/dev/null", os.O_RDONLY)


play_hog(hog, 0.6)
