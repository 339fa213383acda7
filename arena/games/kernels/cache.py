"""The directory with the builds of kernels: only complete files that this user or root wrote are ever loaded."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import grp
import hashlib
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from arena.base.errors import KernelError, failing_as
from arena.base.shipped import KERNELS, cache_directory

_DIGEST_CHARACTERS = 32
_MAX_BUILD_BYTES = 16 << 20
_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def base_directory() -> Path:
    """Return the directory of all that the arena can compute again; KernelError if this user has no home."""
    directory = cache_directory()
    if directory is None:
        raise KernelError("there is no cache directory: this user has no home directory")
    return directory


def directory_path() -> Path:
    """Return the directory of builds; KernelError if this user has no home."""
    return base_directory() / KERNELS


def checked_directory(*, must_exist: bool = True) -> Path:
    """Return the directory, made if it ``must_exist``; KernelError if others can write to it or replace it."""
    path = directory_path()
    with failing_as(KernelError, f"the cache directory {path} can't be made"):
        if not must_exist and not path.exists():
            return path
        make_directory(path)
        _check_owners(path)
    if path.stat().st_mode & _BY_OTHERS:
        raise _writable(path)
    if not os.access(path, os.W_OK | os.X_OK) and not any(path.glob("*.so")):
        raise KernelError(f"the cache directory {path} can't be written")
    return path


def make_directory(path: Path) -> None:
    """Make a directory and its parents so that only this user can write to them."""
    for directory in (*reversed(path.parents), path):
        if not directory.is_dir():
            with contextlib.suppress(FileExistsError):
                directory.mkdir(mode=0o755)
        if not directory.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(directory))


def _check_owners(path: Path) -> None:
    """Refuse a directory that others could replace: by way of a directory above it, or of a link."""
    trusted = {Path("/").stat().st_uid, *_trusted_owners(os.statvfs(path))}
    resolved = path.resolve()
    for directory in dict.fromkeys([path, *path.parents, resolved, *resolved.parents]):
        for status in (directory.lstat(), directory.stat()):
            if status.st_uid not in trusted:
                raise KernelError(f"the cache directory {directory} belongs to another user (uid {status.st_uid})")
        if status.st_mode & _BY_OTHERS and not status.st_mode & stat.S_ISVTX and not _is_only_ours(status):
            raise _writable(directory)


def _trusted_owners(system: os.statvfs_result) -> set[int]:
    """Return the users whose files are trusted: root and this one.

    In the user namespace of a sandbox there is no root: its files have the number of all who have none there. A
    read-only file system there was made by the arena.
    """
    trusted = {0, os.geteuid()}
    with contextlib.suppress(PermissionError):  # where Landlock hides /proc there is no user namespace of a sandbox
        if system.f_flag & os.ST_RDONLY and not _has_root(Path("/proc/self/uid_map").read_text()):
            trusted.add(int(Path("/proc/sys/kernel/overflowuid").read_text()))
    return trusted


def _has_root(uid_map: str) -> bool:
    """Return whether a user namespace has a root, by its map of lines "inside outside count"."""
    return any(int(inside) == 0 for inside, _, _ in map(str.split, uid_map.splitlines()))


def _is_only_ours(status: os.stat_result) -> bool:
    """Return whether only a group can write to it whose sole member is this user, as on systems with a umask of 002."""
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    is_private = user.pw_gid == group.gr_gid and user.pw_name == group.gr_name and {*group.gr_mem} <= {user.pw_name}
    return is_private and not status.st_mode & stat.S_IWOTH


def _writable(path: Path) -> KernelError:
    return KernelError(f"other users can write to the cache directory {path}: chmod go-w")


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
    try:
        with open_own(path) as file:
            data = file.read(_MAX_BUILD_BYTES + 1)
    except OSError:
        return None
    return data if len(data) <= _MAX_BUILD_BYTES else None


def open_own(path: Path) -> BinaryIO:
    """Open a regular file of this user or of root that nobody else can write and that is no link; OSError otherwise."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    file = os.fdopen(descriptor, "rb")
    status = os.fstat(descriptor)
    is_own = status.st_uid in _trusted_owners(os.fstatvfs(descriptor)) and not status.st_mode & _BY_OTHERS
    if not is_own or not stat.S_ISREG(status.st_mode):
        file.close()
        raise PermissionError(errno.EPERM, "it is no regular file that only you or root can write", str(path))
    return file


@contextlib.contextmanager
def one_at_a_time(directory: Path, name: str) -> Iterator[None]:
    """Hold the lock of a game's builds, which the system releases when the process ends; KernelError without one."""
    path = directory / f".{name}.lock"
    with failing_as(KernelError, f"the cache directory {directory} can't be written"):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    except OSError as error:
        raise KernelError(f"the cache directory {directory} can't be used: {error}") from error
    finally:
        os.close(descriptor)
