"""The system calls by which a new process confines itself and executes a bot.

The steps, in this order: the three pipes, session, niceness, control groups, mount namespace, Landlock ruleset,
resource limits, uid, no_new_privs, Landlock, seccomp filter. Standard library only.
"""

from __future__ import annotations

import fcntl
import functools
import operator
import os
import signal
import stat
import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING

from arena.sandbox.isolation.call_list import AT_WORKING_DIRECTORY, LAST_DESCRIPTOR, CallList, can_close_files

if TYPE_CHECKING:
    from arena.sandbox.isolation.launch_spec import LandlockRules, LaunchSpec, MountSpec

_CLONE_NEWNS, _CLONE_NEWIPC, _CLONE_NEWUSER = 0x00020000, 0x08000000, 0x10000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_REMOUNT = 1, 2, 4, 32
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_AT_RECURSIVE, _MOUNT_ATTR_RDONLY = 0x8000, 1
_CLOSE_RANGE_CLOEXEC = 4
_FIRST_DESCRIPTOR = 3
"""The first descriptor after standard input, output and error."""
_RESOLVE_NO_SYMLINKS = 4
_MAYBE_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP)
_WRITE = os.O_WRONLY | os.O_CLOEXEC
_SIGNAL_SET_BYTES = 8
_LANDLOCK_RULE_PATH_BENEATH = 1
_FILE_ACCESS = 0b111 | 1 << 14 | 1 << 15
"""The Landlock rights that a file can carry: execute, write, read, truncate, ioctl on devices."""

_BOT_UMASK, _USUAL_UMASK = 0o077, 0o022

BOT_NICENESS = 5
"""Where both compete for a core, a bot gets a third of what the arena gets, so that many bots can't delay the arena."""

BOT_SLICE_NANOSECONDS = 500_000
"""How long a bot runs before others get the core. From Linux 6.12 on, a process that wakes up interrupts one that has a
longer slice, as the arena has: so a bot on its core answers while its question is written, and is not waited for."""
_SCHED_ATTR = struct.Struct("=IIQiI3Q")
_SCHED_FLAG_KEEP_POLICY = 8


def add_files(
    calls: CallList, spec: LaunchSpec, pipes: Iterable[int], ruleset: int | None
) -> tuple[int | None, int | None]:
    """Add opening the pipes as the standard files, and closing all others but those that the confinement needs.

    Return the numbers that these have then: of the file with the filter of system calls, and of a Landlock ruleset.
    """
    filter_file = _make_filter_file(calls, spec)  # before the numbers of later files are known
    for number, descriptor in enumerate(pipes):
        calls.add("dup3", descriptor, number, 0)
    if can_close_files():
        return _close_files(calls, filter_file, ruleset)
    # none should be inheritable anyway
    calls.add("close_range", _FIRST_DESCRIPTOR, LAST_DESCRIPTOR, _CLOSE_RANGE_CLOEXEC, skipped=0)
    return filter_file, ruleset


def add_confinement(
    calls: CallList,
    spec: LaunchSpec,
    uid: int | None,
    niceness: int,
    *,
    ruleset: int | None = None,
    filter_file: int | None = None,
) -> None:
    """Add the calls that give up every right that the bot must not have. Until the last step, the next ones need some.

    ``niceness`` is that of the launcher. A Landlock ruleset that is given has the lasting rules already; without one it
    is created.
    """
    calls.add("setsid")
    _add_niceness(calls, niceness)
    for group in filter(operator.itemgetter("join_file"), spec["control_groups"]):
        _write_file(calls, os.path.join(group["directory"], group["join_file"]), "0", step="control group")
    if spec["mounts"] is not None:
        _add_mounts(calls, spec["mounts"], uid)
    if spec["landlock"] is not None:
        ruleset = add_landlock_rules(calls, spec["landlock"], ruleset)
    for number, soft, hard in spec["rlimits"]:
        calls.add("prlimit64", 0, number, struct.pack("=2q", soft, hard), 0, step="resource limit", subject=str(number))
    add_user(calls, uid)
    if spec["no_new_privs"]:
        calls.add("prctl", _PR_SET_NO_NEW_PRIVS, 1, step="no_new_privs")
    _add_signals(calls)
    calls.add("umask", _BOT_UMASK)
    calls.add("chdir", spec["directory"], subject=spec["directory"])
    if spec["landlock"] is not None and ruleset is not None:
        calls.add("landlock_restrict_self", ruleset, 0, step="landlock")
    _add_filter(calls, spec, filter_file)


def _add_niceness(calls: CallList, niceness: int) -> None:
    """Add the calls that give the bot the niceness of its launcher and a little more, and a slice of its own.

    Linux may share a core among sessions, whatever the niceness in them, and a bot has a session of its own. Then the
    session gets the launcher's niceness. The file may be missing, and only root may change more than ten a second.
    """
    calls.add("setpriority", os.PRIO_PROCESS, 0, niceness + BOT_NICENESS)
    attributes = (_SCHED_ATTR.size, 0, _SCHED_FLAG_KEEP_POLICY, niceness + BOT_NICENESS, 0, BOT_SLICE_NANOSECONDS, 0, 0)
    calls.add("sched_setattr", 0, _SCHED_ATTR.pack(*attributes), 0, skipped=0)
    if niceness > 0:
        _write_file(calls, "/proc/self/autogroup", str(niceness), step="autogroup", is_optional=True)


def add_user(calls: CallList, uid: int | None) -> None:
    """Add switching to another user, irrevocably."""
    if uid is not None:
        calls.add("setgroups", 0, 0)
        calls.add("setresgid", uid, uid, uid)
        calls.add("setresuid", uid, uid, uid)


def add_program(calls: CallList, command: list[str], environment: dict[str, str]) -> None:
    """Add executing the program, which is searched on PATH as a shell does."""
    program = command[0]
    paths = [program] if "/" in program else [f"{p}/{program}" for p in environment["PATH"].split(os.pathsep)]
    settings = [f"{name}={value}" for name, value in environment.items()]
    for path in paths:
        calls.add("execve", path, [*command, 0], [*settings, 0], subject=program, skipped=0)


def _close_files(calls: CallList, filter_file: int | None, ruleset: int | None) -> tuple[int | None, int | None]:
    """Add closing all files but one of these; return the numbers that they have then."""
    kept_file = ruleset if filter_file is None else filter_file
    calls.free_from = _FIRST_DESCRIPTOR
    if kept_file is not None:
        if kept_file != _FIRST_DESCRIPTOR:
            calls.add("dup3", kept_file, _FIRST_DESCRIPTOR, os.O_CLOEXEC)
        calls.free_from += 1
    calls.add("close_range", calls.free_from, LAST_DESCRIPTOR, 0)
    if kept_file is None:
        return None, None
    return (None, _FIRST_DESCRIPTOR) if filter_file is None else (_FIRST_DESCRIPTOR, None)


def _next_descriptors(calls: CallList, count: int) -> list[int]:
    """Return the numbers that the next files will have which the new process opens.

    They need not be consecutive: the descriptors of this process may have gaps.
    """
    if calls.free_from is not None:
        return [calls.free_from + number for number in range(count)]
    descriptors: list[int] = []
    try:
        for _ in range(count):
            descriptors.append(os.open("/", os.O_PATH))
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    return descriptors


def _write_file(calls: CallList, path: str, value: str, step: str, is_optional: bool = False) -> None:
    (descriptor,) = _next_descriptors(calls, 1)
    skipped_with_open, skipped_with_write = (2, 0) if is_optional else (None, None)
    calls.add("openat", AT_WORKING_DIRECTORY, path, _WRITE, step=step, subject=path, skipped=skipped_with_open)
    calls.add("write", descriptor, value, len(value), step=step, subject=path, skipped=skipped_with_write)
    if calls.free_from is None or is_optional:
        calls.add("close", descriptor)
    else:
        calls.free_from += 1


def _add_mounts(calls: CallList, mounts: MountSpec, uid: int | None) -> None:
    if mounts["user_namespace"]:
        _add_user_namespace(calls)
    calls.add("unshare", _CLONE_NEWNS | (_CLONE_NEWIPC if mounts["own_ipc"] else 0), step="mount namespace")
    _add_mount(calls, None, "/", None, _MS_REC | _MS_PRIVATE)
    if mounts["read_only"]:
        _add_read_only(calls, "/")
    for directory, paths in mounts["replace"].items():
        _add_replaced_directory(calls, directory, paths, mounts["named"])
    for directory, size_bytes in mounts["private"].items():
        owner = f",uid={uid},gid={uid}" if uid is not None else ""
        options = f"mode=700,size={size_bytes},nr_inodes=20000{owner}"
        _add_mount(calls, "arena", directory, "tmpfs", _MS_NOSUID | _MS_NODEV, options)


def _add_mount(
    calls: CallList, source: str | None, target: str, kind: str | None, flags: int, options: str | None = None
) -> None:
    arguments = [0 if text is None else text for text in (source, target, kind)]
    calls.add("mount", *arguments, flags, 0 if options is None else options, subject=target)


def _add_replaced_directory(calls: CallList, directory: str, paths: list[str], named: list[str]) -> None:
    """Add replacing a directory that the bot's user may not enter by one with only what the bot needs in it."""
    calls.add("umask", _USUAL_UMASK)
    sources = [(path, real) for path in paths if (real := _real_path_within(path, named)) is not None]
    *opened, next_opened = _next_descriptors(calls, len(sources) + 1)
    for _, real in sources:
        _open_without_links(calls, real, step="mount")
    _add_mount(calls, "arena", directory, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=755,size=64k")
    bound: list[str] = []
    for number, (path, real) in enumerate(sources):
        is_directory = os.path.isdir(real)
        if not is_directory and any(path.startswith(f"{other}/") or path == other for other in bound):
            continue  # it came with its directory; opening it for writing would fail while it runs
        _add_place(calls, directory, path, is_directory, next_opened)
        _add_mount(calls, f"/proc/self/fd/{opened[number]}", path, None, _MS_BIND | _MS_REC)
        bound.append(path)
    _add_mount(calls, None, directory, None, _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | _MS_NODEV)
    for descriptor in opened:
        calls.add("close", descriptor)


def _real_path_within(path: str, named: list[str]) -> str | None:
    """Return the real path of a file, if that is, or lies below, one of the real paths that were named.

    The owner of a directory may have replaced it by a link after its path was resolved.
    """
    real = os.path.realpath(path, strict=True)
    return real if any(real == other or real.startswith(f"{other}/") for other in named) else None


def _open_without_links(calls: CallList, path: str, step: str, skipped: int | None = None) -> None:
    """Add opening a file as a place, or failing if there is a link on the way to it."""
    how = struct.pack("=3Q", os.O_PATH | os.O_CLOEXEC, 0, _RESOLVE_NO_SYMLINKS)
    calls.add("openat2", AT_WORKING_DIRECTORY, path, how, len(how), step=step, subject=path, skipped=skipped)


def _add_place(calls: CallList, top: str, path: str, is_directory: bool, descriptor: int) -> None:
    """Add creating an empty file or directory, in a file system that is mounted at ``top``."""
    steps = os.path.relpath(path, top).split("/")
    for count in range(1, len(steps) + is_directory):
        calls.add("mkdirat", AT_WORKING_DIRECTORY, os.path.join(top, *steps[:count]), 0o755, skipped=0)
    if not is_directory:
        flags = os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC
        calls.add("openat", AT_WORKING_DIRECTORY, path, flags, 0o644, step="mount", subject=path)
        calls.add("close", descriptor)


def _add_read_only(calls: CallList, path: str) -> None:
    """Add making a mount and all below it read-only.

    Landlock restricts writing, but not changes of mode, owner and times.
    """
    attributes = struct.pack("=4Q", _MOUNT_ATTR_RDONLY, 0, 0, 0)
    arguments = (AT_WORKING_DIRECTORY, path, _AT_RECURSIVE, attributes, len(attributes))
    calls.add("mount_setattr", *arguments, step="read-only", subject=path)


def _add_user_namespace(calls: CallList) -> None:
    """Add gaining the right to mount without being root. An exec drops it again, because the bot's uid is not 0.

    The bot can't create a user namespace inside this one: there it could mount file systems that nothing counts.
    """
    uid, gid = os.geteuid(), os.getegid()
    calls.add("unshare", _CLONE_NEWUSER, step="user namespace")
    _write_file(calls, "/proc/self/setgroups", "deny", step="user namespace")
    _write_file(calls, "/proc/self/uid_map", f"{uid} {uid} 1", step="user namespace")
    _write_file(calls, "/proc/self/gid_map", f"{gid} {gid} 1", step="user namespace")
    # /proc may be read-only
    _write_file(calls, "/proc/sys/user/max_user_namespaces", "0", step="user namespace", is_optional=True)


def add_landlock_rules(calls: CallList, landlock: LandlockRules, ruleset: int | None) -> int:
    """Add creating a Landlock ruleset (landlock(7)), and what it grants; return its descriptor.

    A ``ruleset`` that is given has the lasting rules already.
    """
    if ruleset is None:
        ruleset, opened = add_ruleset(calls, landlock)
    else:
        (opened,) = _next_descriptors(calls, 1)
    own = {*landlock["own"]}
    for path, access in landlock["rules"]:
        if path in own:
            _add_own_rule(calls, ruleset, opened, path, access, is_directory=True)
            continue
        is_directory = not path.startswith("/proc/self/") or _is_directory_of_process(path)
        if is_directory is None:
            continue
        calls.add("openat", AT_WORKING_DIRECTORY, path, os.O_PATH | os.O_CLOEXEC, step="landlock", subject=path)
        _add_rule(calls, ruleset, opened, path, access, is_directory=is_directory)
        if calls.free_from is None:
            calls.add("close", opened)
        else:
            calls.free_from = opened = opened + 1
    return ruleset


def add_ruleset(calls: CallList, landlock: LandlockRules) -> tuple[int, int]:
    """Add creating a ruleset with the lasting rules alone; return its descriptor, and that of the next file.

    Paths that don't exist are left out. So are those of the bot that have links in them, which their owner may have put
    there since they were resolved: the real paths behind links are among the rules too.
    """
    attributes = struct.pack(f"={len(landlock['handled'])}Q", *landlock["handled"])
    ruleset, opened = _next_descriptors(calls, 2)
    calls.add("landlock_create_ruleset", attributes, len(attributes), 0, step="landlock")
    if calls.free_from is not None:
        calls.free_from += 1
    own = {*landlock["own"]}
    for path, access in landlock["lasting"]:
        try:
            is_directory = stat.S_ISDIR(os.stat(path).st_mode)
        except OSError:
            continue
        if path in own:
            _add_own_rule(calls, ruleset, opened, path, access, is_directory=is_directory)
            continue
        calls.add("openat", AT_WORKING_DIRECTORY, path, os.O_PATH | os.O_CLOEXEC, skipped=2)
        _add_rule(calls, ruleset, opened, path, access, is_directory=is_directory)
        calls.add("close", opened)
    return ruleset, opened


def _add_own_rule(calls: CallList, ruleset: int, opened: int, path: str, access: int, *, is_directory: bool) -> None:
    """Add granting rights to a path of the bot, or leaving it out if there is a link on the way to it."""
    _open_without_links(calls, path, step="landlock", skipped=2)
    _add_rule(calls, ruleset, opened, path, access, is_directory=is_directory, skipped=0)
    calls.add("close", opened)


def _add_rule(
    calls: CallList,
    ruleset: int,
    opened: int,
    path: str,
    access: int,
    *,
    is_directory: bool,
    skipped: int | None = None,
) -> None:
    """Add granting rights to the path that is open under the number ``opened``."""
    rule = struct.pack("=Qi", access if is_directory else access & _FILE_ACCESS, opened)
    arguments = (ruleset, _LANDLOCK_RULE_PATH_BENEATH, rule, 0)
    calls.add("landlock_add_rule", *arguments, step="landlock", subject=path, skipped=skipped)


@functools.cache
def _is_directory_of_process(path: str) -> bool | None:
    """Return whether a path in the directory of every process is a directory; None where this kernel has none."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except OSError:
        return None


def _add_signals(calls: CallList) -> None:
    """Add resetting the signals that this process ignores, as Python does some, and unblocking all."""
    for number in _MAYBE_IGNORED:
        if signal.getsignal(number) == signal.SIG_IGN:
            calls.add("rt_sigaction", int(number), bytes(32), 0, _SIGNAL_SET_BYTES)  # SIG_DFL is 0
    calls.add("rt_sigprocmask", int(signal.SIG_SETMASK), bytes(_SIGNAL_SET_BYTES), 0, _SIGNAL_SET_BYTES)


def _make_filter_file(calls: CallList, spec: LaunchSpec) -> int | None:
    if spec["seccomp"] is None or spec["seccomp_at"] is None:
        return None
    descriptor = calls.keep_open(os.memfd_create("seccomp"))
    os.write(descriptor, bytes.fromhex(spec["seccomp"]))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _add_filter(calls: CallList, spec: LaunchSpec, file: int | None) -> None:
    """Add installing the seccomp filter, or leaving it in a descriptor for the wrapping program to install."""
    if spec["seccomp"] is None:
        return
    if file is None:
        program = bytes.fromhex(spec["seccomp"])
        calls.add("prctl", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, [len(program) // 8, program], step="seccomp")
    elif spec["seccomp_at"] is not None and file != spec["seccomp_at"]:
        calls.add("dup3", file, spec["seccomp_at"], 0)
    else:
        calls.add("fcntl", file, fcntl.F_SETFD, 0)
