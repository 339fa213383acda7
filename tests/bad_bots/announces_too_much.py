"""Announces a message of four gigabytes."""

import time

from _wire import play, write


def huge(message):
    write(b"\xff\xff\xff\xff")
    time.sleep(1000)


play(huge)
