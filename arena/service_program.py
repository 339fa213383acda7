"""A program that another process runs beside itself: it ends with that process, and quietly on SIGTERM."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_PR_SET_PDEATHSIG = 1


@contextmanager
def service_program(parent: int, niceness: int) -> Iterator[None]:
    """Prepare this process for its work, and end that work quietly on SIGTERM.

    Ctrl-C is left to the process that started this one. Warnings of the arena go to stderr.

    Args:
        parent: the process that started this one; if it has ended already, this one ends.
        niceness: how far this process stands back behind others.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger().handlers[0].setLevel(logging.WARNING)  # the log of a run has more, in its own file
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    end_with(parent, signal.SIGTERM)
    os.nice(niceness)
    with contextlib.suppress(KeyboardInterrupt):
        yield


def end_with(parent: int, number: signal.Signals) -> None:
    """Make the kernel send a signal to this process when its parent ends, also if that is killed."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):  # a C library without it
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)
