"""Removing what bots have made, whatever it is.

Bots nest directories thousands deep, close them, and put links where the arena cleans up. So nothing here recurses,
follows a link, leaves the file system it began in, or works beyond a deadline. Standard library only, for the launcher.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import time
import uuid

REMOVAL_SECONDS = 5.0
"""For one bot's scratch directory. What is left then keeps its name, and the next sweep goes on with it."""

_BATCH = 4096
_DIRECTORY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: str, seconds: float = REMOVAL_SECONDS) -> bool:
    """Remove a file, a link, or a directory with all that is in it; return whether it is gone."""
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
    """Remove an entry of an open directory, with all that is in it.

    Args:
        parent: the directory's descriptor.
        name: the entry.
        deadline: when to stop, as ``time.monotonic`` tells.

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
    """Empty a directory without recursion: what is nested is moved up into it, and there it is emptied in turn."""
    while time.monotonic() < deadline:
        names = _some_names(root)
        if not sum(_take_apart(root, name, deadline) for name in names):
            return


def _take_apart(root: int, name: str, deadline: float) -> bool:
    """Remove an entry of ``root``, or move the directories in it up into ``root``; return whether anything was done."""
    if _remove(root, name):
        return True
    directory = _open(root, name)
    if directory is None:
        return False
    done = False
    try:
        while time.monotonic() < deadline:
            names = _some_names(directory)
            if not sum(_remove(directory, inner) or _move_up(directory, inner, root) for inner in names):
                break
            done = True
    finally:
        os.close(directory)
    return _remove(root, name) or done


def _some_names(directory: int) -> list[str]:
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
    """Move a directory into ``root``, under a name that nobody has guessed."""
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
    """Open a directory, which its owner may have closed; None if that fails or it belongs to another file system."""
    with contextlib.suppress(OSError):
        place = os.open(name, os.O_PATH | _DIRECTORY, dir_fd=parent)
        try:
            if os.fstat(place).st_dev == os.fstat(parent).st_dev:
                with contextlib.suppress(OSError):
                    os.chmod(f"/proc/self/fd/{place}", 0o700)
                return os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        finally:
            os.close(place)
    return None
