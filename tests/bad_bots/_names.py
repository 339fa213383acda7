"""The names for programs of one expression in zoo.toml."""
# ruff: noqa: F401, F403

import ctypes
import mmap
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import reduce
from pathlib import Path

import msgpack
from _wire import *

libc = ctypes.CDLL(None, use_errno=True)
PR_SET_DUMPABLE = 4
kept = []


def in_a_thread(function):
    threading.Thread(target=function, daemon=True).start()


def start_many(start):
    for _ in range(2000):
        try:
            start()
        except (OSError, RuntimeError):
            break
    time.sleep(1000)


def burn_cpu(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def write_shared_memory(megabytes):
    for number in range(20):
        with open(f"/dev/shm/arena-zoo-{number}", "wb") as file:
            for _ in range(megabytes):
                file.write(b"x" * 1_000_000)


def flood_stderr():
    while True:
        os.write(2, b"x" * 65536)


def hide_memory():
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def ignore_signals():
    for number in {*range(1, 32)} - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)


def map_much(descriptor):
    """Write into shared mappings, once, and have none of their pages here any more: they are still somewhere."""
    for _ in range(0 if kept else 40):
        mapping = mmap.mmap(descriptor, 16_000_000)
        for at in range(0, 16_000_000, 4096):
            mapping[at] = 1
        mapping.madvise(mmap.MADV_DONTNEED)
        kept.append(mapping)
