"""Files that commands write: refused before anything is computed, if they can't be written."""

from __future__ import annotations

from pathlib import Path

from arena.base.errors import UsageError


def check_directories(*files: Path | None) -> None:
    """Refuse what can't be written before anything is computed.

    Raises:
        UsageError: if a file is a directory, or in none that exists.
    """
    for file in files:
        if file is not None and (file.is_dir() or not file.parent.is_dir()):
            raise UsageError(f"{str(file)!r} can't be written: expected a file in a directory that exists")


def write_file(file: Path, text: str) -> None:
    """Write a file.

    Raises:
        UsageError: if it can't be written.
    """
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{str(file)!r} can't be written: {error.strerror}") from error
