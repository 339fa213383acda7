"""What keeps a part of the site from its work, as a file in the home, where the page of the site's health reads it.

Not in a database, for that may be what is away.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from arena.base.names import as_file_name

DIRECTORY = "parts"
SUFFIX = ".trouble"
MAX_CHARACTERS = 500
MAX_NOTES = 50
"""That are read."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that is wrong with a part.

    Attributes:
        part: its name.
        sentence: what is wrong, and with what, for operators: it may name paths, hosts and users of databases.
        public: what everybody may know of it; "" for nothing.
    """

    part: str
    sentence: str
    public: str = ""


class TroubleNote:
    """The note about one thing that a part does."""

    def __init__(self, directory: str | os.PathLike[str], part: str, of: str = "") -> None:
        """Prepare.

        Args:
            directory: the home.
            part: the name of the part, in lower-case letters.
            of: which of the things that it does; "" if it does one.
        """
        name = f"{part}-{as_file_name(of)}" if of else part
        self._path = Path(directory, DIRECTORY, f"{name}{SUFFIX}")
        self._said: str | None = None

    def say(self, sentence: str) -> None:
        """Keep what is wrong; without room for it, the log alone has it."""
        if sentence == self._said:
            return
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = self._path.with_suffix(".new")
            unfinished.write_bytes(sentence.encode("utf-8", "replace"))
            unfinished.replace(self._path)
            self._said = sentence

    def clear(self) -> None:
        """Say that nothing is wrong, also with what an earlier process has noted."""
        if self._said != "":
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
                self._said = ""


def noted_troubles(directory: str | os.PathLike[str]) -> Iterator[Trouble]:
    """Yield what the parts of a home have noted, for operators."""
    for path in sorted(Path(directory, DIRECTORY).glob(f"*{SUFFIX}"))[:MAX_NOTES]:
        with contextlib.suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:
            yield Trouble(path.name.removesuffix(SUFFIX).partition("-")[0], file.read(MAX_CHARACTERS))
