"""The names for programs of one expression in zoo.toml."""
# ruff: noqa: F401, F403

import ctypes
import mmap
import os
import resource
import signal
import socket
import sys
import threading
import time
from functools import reduce
from pathlib import Path

import msgpack
from _wire import *

libc = ctypes.CDLL(None, use_errno=True)
kept = []


def map_much(descriptor):
    """Write into shared mappings, once, and have none of their pages here any more: they are still somewhere."""
    for _ in range(0 if kept else 40):
        mapping = mmap.mmap(descriptor, 16_000_000)
        for at in range(0, 16_000_000, 4096):
            mapping[at] = 1
        mapping.madvise(mmap.MADV_DONTNEED)
        kept.append(mapping)
