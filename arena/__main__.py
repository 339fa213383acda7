"""The ``arena`` command: ``arena …`` or ``python -m arena …``."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from arena.cli.group import run

    code = run()
    sys.stdout.flush()
    if code == 141:  # the reader of our output has gone: leave without another word
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)


if __name__ == "__main__":
    main()
