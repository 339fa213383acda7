"""The directory with the builds of kernels: only files that this user or root wrote, whole, are ever loaded."""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.cache_directory import KERNELS, cache_directory
from arena.errors import KernelError

_DIGEST_CHARACTERS = 32
_MAX_BUILD_BYTES = 16 << 20


def base_directory() -> Path:
    """Return the directory of all that the arena can compute again.

    Raises:
        KernelError: if this user has no home.
    """
    directory = cache_directory()
    if directory is None:
        raise KernelError("there is no cache directory: this user has no home directory")
    return directory


def directory_path() -> Path:
    """Return where builds are kept.

    Raises:
        KernelError: if this user has no home.
    """
    return base_directory() / KERNELS


def checked_directory(*, must_exist: bool = True) -> Path:
    """Return the directory, made if need be, if nobody else can write to it.

    Args:
        must_exist: False to return its path even if it does not exist, and make nothing.

    Raises:
        KernelError: naming the directory and what is wrong with it.
    """
    path = directory_path()
    try:
        if not must_exist and not path.exists():
            return path
        path.mkdir(mode=0o755, parents=True, exist_ok=True)
        about = path.stat()
    except OSError as error:
        raise KernelError(f"the cache directory {path} can't be made: {error.strerror}") from error
    if about.st_uid not in (0, os.geteuid()):
        raise KernelError(f"the cache directory {path} belongs to another user (uid {about.st_uid})")
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise KernelError(f"other users can write to the cache directory {path}: chmod go-w")
    if not os.access(path, os.W_OK | os.X_OK) and not any(path.glob("*.so")):
        raise KernelError(f"the cache directory {path} can't be written")
    return path


def digest_of(data: bytes) -> str:
    """Return the digest that a build has in its name."""
    return hashlib.sha256(data).hexdigest()[:_DIGEST_CHARACTERS]


def find_whole(directory: Path, pattern: str) -> Path | None:
    """Return a build whose name fits, and whose bytes have the digest in its name."""
    for path in sorted(directory.glob(pattern)):
        data = _read_own(path)
        if data is not None and path.stem.rpartition("-")[2] == digest_of(data):
            return path
    return None


def _read_own(path: Path) -> bytes | None:
    """Return the bytes of a regular file of this user or of root that nobody else can write; None for any other."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        is_own = about.st_uid in (0, os.geteuid()) and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if not is_own or not stat.S_ISREG(about.st_mode) or about.st_size > _MAX_BUILD_BYTES:
            return None
        return file.read(_MAX_BUILD_BYTES)


@contextmanager
def one_at_a_time(directory: Path, name: str) -> Iterator[None]:
    """Hold the lock of a game's builds, which the system releases when the process ends.

    Raises:
        KernelError: if there can be no lock.
    """
    path = directory / f".{name}.lock"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise KernelError(f"the cache directory {directory} can't be written: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    except OSError as error:
        raise KernelError(f"the cache directory {directory} can't be used: {error}") from error
    finally:
        os.close(descriptor)
