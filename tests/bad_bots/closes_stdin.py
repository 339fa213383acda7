"""Closes its stdin and lives on."""

import os
import time

from _wire import play


def close(message):
    os.close(0)
    time.sleep(1000)


play(close)
