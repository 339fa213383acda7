"""The names for programs of one expression in zoo.toml."""
# ruff: noqa: F401, F403

import ctypes
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
