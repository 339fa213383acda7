"""The ``arena`` command: ``arena …`` or ``python -m arena …``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from arena.cli.group import WRONG_USE, run
    from arena.cli.streams import fill_closed_streams, watch_output

    if not fill_closed_streams():
        sys.stderr.write("arena: the standard output is closed; expected one that can be written\n")
        sys.exit(WRONG_USE)
    watch_output()
    sys.exit(run())


if __name__ == "__main__":
    main()
