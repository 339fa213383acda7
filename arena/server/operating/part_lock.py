"""One of each part works on a home: locks that the system releases when a process ends, however it ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from arena.base.names import as_file_name
from arena.store.results.lock import FileLock


def lock_path(directory: Path, name: str) -> Path:
    """Return the file of a lock."""
    return directory / "parts" / f"{as_file_name(name)}.lock"


@contextmanager
def locked_parts(directory: Path, names: Iterable[str]) -> Iterator[None]:
    """Hold the locks of parts, and of the ladders that are played.

    Args:
        directory: the home.
        names: of the locks.

    Raises:
        StoreError: if another process holds one of them, or they can't be written.
    """
    with ExitStack() as locks:
        for name in names:
            locks.enter_context(
                FileLock(lock_path(directory, name), f"{directory}: another arena serve runs its {name}")
            )
        yield
