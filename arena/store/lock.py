"""One director per tournament: a lock the system releases when the director ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType

from arena.errors import StoreError


class DirectorLock:
    """Held by the director of a tournament for as long as it runs. A context manager."""

    def __init__(self, directory: Path, tournament: str) -> None:
        self._path = directory / f"{tournament}.lock"
        self._tournament = tournament
        self._descriptor = -1

    def __enter__(self) -> DirectorLock:
        """Take the lock.

        Raises:
            StoreError: if another director holds it, or the directory can't be written.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreError(f"{self._path}: can't be written: {error.strerror}") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._descriptor, 100).decode(errors="replace").strip()
            os.close(self._descriptor)
            raise StoreError(
                f"tournament {self._tournament!r} is being run by another director (process {holder});"
                " nothing was changed"
            ) from None
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, f"{os.getpid()}\n".encode())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._descriptor)
