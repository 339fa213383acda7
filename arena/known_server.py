"""On which servers the databases of a home are, without passwords.

It is noted when one is used, so that a command that is not given the URL takes no empty file for them.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

RESULTS, PEOPLE = "results", "people"
FILES = {RESULTS: "results-server", PEOPLE: "people-server"}
"""In the home."""
WAYS = {RESULTS: "--store or $ARENA_STORE", PEOPLE: "$ARENA_PEOPLE"}
MAX_CHARACTERS = 500
UNFINISHED = ".new"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


def note_server(directory: Path, what: str, shown: str) -> None:
    """Keep where a database is; where nothing can be written, nobody is reminded.

    Args:
        directory: the home; nothing is noted if it does not exist.
        what: ``RESULTS`` or ``PEOPLE``.
        shown: the URL, without a password.
    """
    if shown == noted_server(directory, what):
        return
    with contextlib.suppress(OSError):
        unfinished = directory / f"{FILES[what]}{UNFINISHED}"
        with os.fdopen(os.open(unfinished, _FLAGS, 0o600), "wb") as file:
            file.write(shown.encode("utf-8", "replace"))
        unfinished.replace(directory / FILES[what])


def noted_server(directory: Path, what: str) -> str:
    """Return where a database is, as it was noted; "" if it was never on a server."""
    with contextlib.suppress(OSError), (directory / FILES[what]).open(encoding="utf-8", errors="replace") as file:
        return "".join(letter for letter in file.read(MAX_CHARACTERS) if letter.isprintable())
    return ""


def reminder(directory: Path, what: str, shown: str) -> str:
    """Return the sentence for whoever has not given the URL."""
    return (
        f"{directory}: its {what} are on the server {shown}; give its URL by {WAYS[what]}, or remove"
        f" {directory / FILES[what]} if they are not there any more"
    )
