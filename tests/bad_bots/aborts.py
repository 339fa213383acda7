"""Calls abort."""

import os

from _wire import play

play(lambda message: os.abort())
