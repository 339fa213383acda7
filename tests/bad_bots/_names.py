"""The names for programs of one expression in zoo.toml."""
# ruff: noqa: F401

import ctypes
import os
import resource
import signal
import socket
import sys
import time
from functools import reduce
from pathlib import Path

import msgpack
from _wire import answer, by_machine, commit, frame, must, play, play_with, play_with_body, send, write

libc = ctypes.CDLL(None, use_errno=True)
