"""Whether the site of this container answers, as an exit code: ``python -m arena.server.operating.health_check``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

USUAL_PORT = "8000"
OPTION = "--port"
PATIENCE_SECONDS = 4.0
FIRST_PROCESS = Path("/proc/1/cmdline")
"""Of a container: ``arena serve``, or an init that was given its command line."""


def port_of(command_line: Sequence[str]) -> str:
    """Return the port of an ``arena serve`` that was started so.

    >>> port_of(["arena", "serve"]), port_of(["arena", "serve", "--port", "80"]), port_of(["arena", "--port=81"])
    ('8000', '80', '81')
    """
    port = USUAL_PORT
    for argument, after in zip(command_line, [*command_line[1:], ""], strict=True):
        if argument == OPTION:
            port = after
        elif argument.startswith(f"{OPTION}="):
            port = argument.removeprefix(f"{OPTION}=")
    return port


def main() -> int:
    """Return 0 if the site answers that it is well."""
    try:
        port = port_of(FIRST_PROCESS.read_text(errors="replace").split("\0"))
        urlopen(f"http://127.0.0.1:{port}/health", timeout=PATIENCE_SECONDS).close()
    except (OSError, HTTPException, ValueError, OverflowError):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
