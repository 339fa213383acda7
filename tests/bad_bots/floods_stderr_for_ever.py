import os

from _wire import play


def flood(message):
    while True:
        os.write(2, b"x" * 65536)


play(flood)
