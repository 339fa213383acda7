"""Bubblewrap: the command line that gives a bot namespaces of its own (bwrap(1), github.com/containers/bubblewrap)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from arena.isolation.readable_paths import READ_ONLY_SYSTEM
from arena.records import Limits

SECCOMP_DESCRIPTOR = 3

_LINKED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")


def find_bubblewrap() -> str | None:
    """Return the path of ``bwrap``."""
    return shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")


def wrapped(
    program: str,
    command: Sequence[str],
    directory: str,
    readable: Sequence[str],
    scratch: str,
    limits: Limits,
    groups: bool,
) -> list[str]:
    """Return the command line of ``bwrap`` for a bot.

    Args:
        program: ``bwrap`` itself.
        command: the bot's.
        directory: its working directory.
        readable: what it may read beyond the system.
        scratch: where it may write; an empty file system of limited size is put there.
        limits: for that size.
        groups: whether a control group counts memory; if not, ``/dev/zero``, whose mappings nothing else counts, is
            replaced by ``/dev/full``, which gives zeros and can't be mapped.
    """
    line = [program, "--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--hostname", "bot"]
    line += ["--proc", "/proc", "--dev", "/dev"]
    if not groups:
        line += ["--dev-bind", "/dev/full", "/dev/zero"]
    for path in READ_ONLY_SYSTEM:
        if path.startswith("/proc"):
            continue
        if path in _LINKED and os.path.islink(path):
            line += ["--symlink", os.readlink(path), path]
        else:
            line += ["--ro-bind-try", path, path]
    for path in readable:
        line += ["--ro-bind-try", path, path]
    size = str(limits.scratch_bytes)
    line += ["--size", size, "--tmpfs", "/dev/shm", "--size", size, "--perms", "0700", "--tmpfs", scratch]
    line += ["--chdir", directory, "--seccomp", str(SECCOMP_DESCRIPTOR), "--remount-ro", "/dev", "--remount-ro", "/"]
    return [*line, "--", *command]
