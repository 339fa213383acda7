"""What the checker has found out about this machine, for a web process that can't try it out itself."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from arena.base.errors import UsageError

MAX_CHARACTERS = 2000
NO_CHECKER = "nothing is taken before the checker has begun its work: arena serve --only work"


def note_containment(directory: str | os.PathLike[str], refusal: str) -> None:
    """Keep why no uploads are checked here.

    Args:
        directory: the home.
        refusal: a sentence; "" if uploads are checked.

    Raises:
        UsageError: if it can't be written.
    """
    path = _path(directory)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
            file.write(refusal)
        Path(file.name).replace(path)
    except OSError as error:
        raise UsageError(f"{path}: can't be written: {error.strerror}") from error


def noted_refusal(directory: str | os.PathLike[str]) -> str:
    """Return why the checker of a home checks nothing; "" if it does."""
    with contextlib.suppress(OSError), _path(directory).open(encoding="utf-8", errors="replace") as file:
        return file.read(MAX_CHARACTERS)
    return NO_CHECKER


def _path(directory: str | os.PathLike[str]) -> Path:
    return Path(directory) / "parts" / "containment"
