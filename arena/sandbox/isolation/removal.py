"""Removing what bots have left, whatever it is.

Bots nest directories thousands deep, take away permissions, and place links where the arena cleans up. So nothing here
recurses, follows a link, leaves the file system it started in, or works past its deadline. Standard library only, for
the fork server.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import time
import uuid

REMOVAL_SECONDS = 5.0
"""For one bot's scratch directory. Whatever remains keeps its name, and the next stale cleanup continues with it."""

_BATCH = 4096
_DIRECTORY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: str, seconds: float = REMOVAL_SECONDS) -> bool:
    """Remove a file, a link, or a directory with its contents; return whether it is gone."""
    parent, name = os.path.split(path)
    try:
        directory = os.open(parent or ".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return not os.path.lexists(path)
    try:
        return remove_entry(directory, name, time.monotonic() + seconds)
    finally:
        os.close(directory)


def remove_entry(parent: int, name: str, deadline: float) -> bool:
    """Remove an entry of an open directory, with its contents.

    Args:
        parent: the directory's descriptor.
        name: the entry.
        deadline: when to stop, in the seconds of ``time.monotonic``.

    Returns:
        Whether it is gone.
    """
    if _remove(parent, name):
        return True
    root = _open(parent, name)
    if root is None:
        return False
    try:
        _empty(root, deadline)
    finally:
        os.close(root)
    return _remove(parent, name)


def _empty(root: int, deadline: float) -> None:
    """Empty a directory without recursion: nested directories are moved up into it and emptied in turn."""
    while time.monotonic() < deadline:
        names = _first_names(root)
        if not sum(_remove_or_flatten(root, name, deadline) for name in names):
            return


def _remove_or_flatten(root: int, name: str, deadline: float) -> bool:
    """Remove an entry of ``root``, or move its directories up into ``root``; return whether anything has changed."""
    if _remove(root, name):
        return True
    directory = _open(root, name)
    if directory is None:
        return False
    has_changed = False
    try:
        while time.monotonic() < deadline:
            names = _first_names(directory)
            if not sum(_remove(directory, inner) or _move_up(directory, inner, root) for inner in names):
                break
            has_changed = True
    finally:
        os.close(directory)
    return _remove(root, name) or has_changed


def _first_names(directory: int) -> list[str]:
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        return [entry.name for entry in itertools.islice(entries, _BATCH)]
    return []


def _remove(parent: int, name: str) -> bool:
    """Remove a file, a link or an empty directory; return whether it is gone."""
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        return True
    except OSError as error:
        if error.errno not in (errno.EISDIR, errno.EPERM):  # it is a directory
            return False
        try:
            os.rmdir(name, dir_fd=parent)
        except OSError:
            return False
    return True


def _move_up(directory: int, name: str, root: int) -> bool:
    """Move a directory into ``root``, under a name that the bot can't have taken."""
    opened = _open(directory, name)
    if opened is None:
        return False
    os.close(opened)
    try:
        os.rename(name, uuid.uuid4().hex, src_dir_fd=directory, dst_dir_fd=root)
    except OSError:
        return False
    return True


def _open(parent: int, name: str) -> int | None:
    """Open a directory, restoring its owner's permissions; None if that fails or it is of another file system."""
    with contextlib.suppress(OSError):
        reference = os.open(name, os.O_PATH | _DIRECTORY, dir_fd=parent)
        try:
            if os.fstat(reference).st_dev == os.fstat(parent).st_dev:
                with contextlib.suppress(OSError):
                    os.chmod(f"/proc/self/fd/{reference}", 0o700)
                return os.open(f"/proc/self/fd/{reference}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        finally:
            os.close(reference)
    return None
