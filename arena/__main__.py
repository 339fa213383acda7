"""The ``arena`` command: ``arena …`` or ``python -m arena …``."""

from __future__ import annotations

import gc
import os
import sys

OBJECTS_PER_COLLECTION = 200_000
"""More than most commands make: modules make many objects, of which none is garbage."""

BLAS_THREADS_VARIABLE = "OPENBLAS_NUM_THREADS"
"""Read by numpy's OpenBLAS when it is loaded. Its threads wait for each other by using their cores, which bots need:
beside other work, rating 116 bots took seven times the processor time with two threads.
"""

SAFE_PATH_VARIABLE = "PYTHONSAFEPATH"
"""Keeps the processes that are started from importing a ``random.py`` of the working directory in place of Python's."""


def main() -> None:
    """Run the command line and exit with its code."""
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    os.environ.setdefault(BLAS_THREADS_VARIABLE, "1")  # also for the programs that are started
    os.environ.setdefault(SAFE_PATH_VARIABLE, "1")
    from arena.cli.group import run
    from arena.cli.terminal.streams import WRONG_USE, fill_closed_streams, watch_output

    if not fill_closed_streams():
        sys.stderr.write("arena: the standard output is closed; expected one that can be written\n")
        sys.exit(WRONG_USE)
    watch_output()
    code = run()
    gc.freeze()  # the interpreter looks for garbage as it exits, in vain
    sys.exit(code)


if __name__ == "__main__":
    main()
