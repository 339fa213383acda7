"""Bubblewrap: the command that gives a bot its own namespaces (bwrap(1), github.com/containers/bubblewrap)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from arena.sandbox.isolation.landlock import DEVICES, ZERO
from arena.sandbox.isolation.readable_paths import READ_ONLY_SYSTEM

SECCOMP_DESCRIPTOR = 3

_USUALLY_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_DESCRIPTORS = {"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
"""Links that programs expect in ``/dev``."""
_MACHINES_FILES = "/proc/sys/fs"
"""How many files are open on the machine, exactly."""


def find_bubblewrap() -> str | None:
    """Return the path of ``bwrap``; None if it is not installed."""
    return shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")


def bubblewrap_command(
    command: Sequence[str], *, directory: str, readable: Sequence[str], scratch: str, scratch_bytes: int, groups: bool
) -> list[str]:
    """Return the command that runs a bot in ``bwrap``.

    Args:
        command: the bot's command.
        directory: its working directory.
        readable: the paths that it may read beyond the system.
        scratch: the directory that it may write to; an empty file system is mounted there.
        scratch_bytes: the size of that file system, and of the bot's ``/dev/shm``.
        groups: whether a control group counts memory. If not, ``/dev/zero``, whose mappings nothing else counts, is
            replaced by ``/dev/full``, which reads as zeros and can't be mapped.
    """
    program = find_bubblewrap() or "bwrap"
    line = [program, "--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--hostname", "bot"]
    line += ["--proc", "/proc", "--tmpfs", _MACHINES_FILES]
    line += ["--tmpfs", "/dev"]  # --dev would bring pseudo terminals, of which a machine has few
    for device in DEVICES:
        line += ["--dev-bind", device, device]
    line += ["--dev-bind", ZERO if groups else "/dev/full", ZERO]
    for name, target in _DESCRIPTORS.items():
        line += ["--symlink", f"/proc/self/{target}", f"/dev/{name}"]
    for path in READ_ONLY_SYSTEM:
        if path.startswith("/proc"):
            continue
        if path in _USUALLY_LINKS and os.path.islink(path):
            line += ["--symlink", os.readlink(path), path]
        else:
            line += ["--ro-bind-try", path, path]
    for path in readable:
        line += ["--ro-bind-try", path, path]
    size = str(scratch_bytes)
    line += ["--size", size, "--tmpfs", "/dev/shm", "--size", size, "--perms", "0700", "--tmpfs", scratch]
    line += ["--chdir", directory, "--seccomp", str(SECCOMP_DESCRIPTOR), "--remount-ro", _MACHINES_FILES]
    line += ["--remount-ro", "/dev", "--remount-ro", "/"]
    return [*line, "--", *command]
