"""Which servers have the databases of a home, without passwords; and the identity of the home.

A home notes a server, so that a command without the URL takes no empty file for the database. A server notes the home
whose site works on it, so that no other home does.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import tempfile
from pathlib import Path

from arena.base.errors import StoreError, failing_as
from arena.base.folder import read_note, replace_file

RESULTS, PEOPLE = "results", "people"
FILES = {RESULTS: "results-server", PEOPLE: "people-server"}
"""In the home."""
URL_OPTIONS = {RESULTS: "--store or $ARENA_STORE", PEOPLE: "$ARENA_PEOPLE"}
IDENTITY_FILE = "identity"
"""In the home: moved with it, and in no backup."""
LEFT_OUT_KEY_FILE = "keys/left_out_key"
"""In the home and its backups, and nowhere else."""
MAX_CHARACTERS = 500


def note_server(directory: Path, database: str, shown: str) -> None:
    """Note which server has a database (``RESULTS`` or ``PEOPLE``), if the home exists and can be written.

    ``shown`` is the URL without a password.
    """
    if shown != noted_server(directory, database) and directory.is_dir():
        with contextlib.suppress(OSError):
            replace_file(directory / FILES[database], shown.encode("utf-8", "replace"))


def noted_server(directory: Path, database: str) -> str:
    """Return the noted server of a database; "" if it was never on one."""
    with contextlib.suppress(OSError):
        text = read_note(directory / FILES[database], MAX_CHARACTERS)
        return "".join(letter for letter in text if letter.isprintable())
    return ""


def identity_of(directory: Path) -> str:
    """Return the identity of a home for servers, which the first call makes.

    Raises:
        StoreError: if it can't be read or written, or is not a home's identity.
    """
    return _digits_of_home(directory / IDENTITY_FILE, 32, "be known as a new home")


def left_out_key_of(directory: Path) -> bytes:
    """Return the key of a home for digests of what published records leave out, which the first call makes.

    Raises:
        StoreError: if it can't be read or written, or is no such key.
    """
    return bytes.fromhex(_digits_of_home(directory / LEFT_OUT_KEY_FILE, 64, "get a new key"))


def _digits_of_home(path: Path, length: int, purpose: str) -> str:
    with failing_as(StoreError, f"{path}: can't be read or written"):
        if not path.exists():
            path.parent.mkdir(0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=path.parent) as file, contextlib.suppress(FileExistsError):
                file.write(secrets.token_hex(length // 2))
                file.flush()
                path.hardlink_to(file.name)  # never half a file, and the first program wins
        text = read_note(path, MAX_CHARACTERS).strip()
    if re.fullmatch(f"[0-9a-f]{{{length}}}", text) is None:
        raise StoreError(f"{path}: it is not {length} hexadecimal digits; remove it to {purpose}")
    return text


def reminder(directory: Path, database: str, shown: str) -> str:
    """Return the message for a command that was not given the URL."""
    return (
        f"{directory}: its {database} are on the server {shown}; give its URL by {URL_OPTIONS[database]}, or remove"
        f" {directory / FILES[database]} if they are not there any more"
    )


def session_name(host: str) -> str:
    """Return the name of this machine's sessions at a server, short enough that the server does not cut it."""
    return f"arena on {host}"[:63]
