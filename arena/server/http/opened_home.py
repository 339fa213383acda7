"""The home of a running server: opened again when its database was replaced or has come back."""

from __future__ import annotations

import os
import threading

from arena.base.bot_text import Audience
from arena.base.errors import DatabaseError, NoHomeError, StoreError
from arena.store.home import DATABASE_FILE, ArenaHome

_Identity = tuple[int, int]


class OpenedHome:
    """A home that may be replaced while it is open. It is used by several threads."""

    def __init__(self, directory: str | os.PathLike[str] | None = None, store: str | None = None) -> None:
        """Open a home that exists, with the arguments of ``ArenaHome``; raise StoreError if it can't be opened."""
        self._lock = threading.Lock()
        self._store = store
        self._home = ArenaHome(directory, must_exist=True, store=store)
        self.directory = self._home.directory
        self.is_file = self._home.store.server is None
        self._identity = self._identity_now()

    def __call__(self) -> ArenaHome:
        """Return the home; raise StoreError if it can't be opened any more."""
        with self._lock:
            identity = self._identity_now()
            if identity != self._identity:
                self._home.close()
                self._home = self._reopened()
                self._identity = identity
            return self._home

    @property
    def audience(self) -> Audience:
        """Who reads the output of bots on its pages; known without the database."""
        return self._home.audience

    def _reopened(self) -> ArenaHome:
        try:
            return ArenaHome(self.directory, must_exist=True, store=self._store)
        except StoreError as error:
            raise DatabaseError(str(error)) from error

    def _identity_now(self) -> _Identity | None:
        """Return which file the database is; None for a server, which is asked at each query."""
        if not self.is_file:
            return None
        try:
            status = os.stat(self.directory / DATABASE_FILE)  # noqa: PTH116 - at every look at the home
        except OSError as error:
            raise NoHomeError(f"{self.directory}: the arena's home is gone ({error.strerror})") from error
        return status.st_dev, status.st_ino

    def close(self) -> None:
        """Close the home."""
        self._home.close()
