"""Between clone and exec: a child of the fork server confines itself and executes the bot.

The steps, in this order: session, control groups, the three pipes, mount namespace, Landlock ruleset, resource limits,
uid, no_new_privs, Landlock, seccomp filter. Standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import resource
import signal
import stat
import struct
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from arena.isolation.launch_spec import LandlockRules, LaunchSpec, MountSpec

_CLONE_NEWNS, _CLONE_NEWIPC, _CLONE_NEWUSER = 0x00020000, 0x08000000, 0x10000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_REMOUNT = 1, 2, 4, 32
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_SYS_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
_SYS_LANDLOCK_CREATE_RULESET, _SYS_LANDLOCK_ADD_RULE, _SYS_LANDLOCK_RESTRICT_SELF = 444, 445, 446
_LANDLOCK_RULE_PATH_BENEATH = 1
_FILE_ACCESS = 0b111 | 1 << 14 | 1 << 15
"""The Landlock rights that a file can carry: execute, write, read, truncate, ioctl on devices."""

BOT_NICENESS = 5
"""Where both compete for a core, a bot gets a third of what the arena gets, so that many bots can't delay the arena."""

libc = ctypes.PyDLL(None, use_errno=True)
"""PyDLL keeps the interpreter's lock, so a cloned child holds it."""


class StepError(Exception):
    """A step between clone and exec failed."""

    def __init__(self, step: str, number: int, subject: str = "") -> None:
        super().__init__(step)
        self.report = {"step": step, "errno": number, "subject": subject}


def require_success(step: str, result: int, subject: str = "") -> int:
    """Return the result of a C function, or raise with its errno."""
    if result < 0:
        raise StepError(step, ctypes.get_errno(), subject)
    return result


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Call mount(2)."""
    encoded = [None if text is None else text.encode() for text in (source, target, kind, data)]
    result = libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])
    require_success("mount", result, target)


def write_kernel_file(path: str, value: str) -> None:
    """Write a setting into a file of /proc or of a control group."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)


def exec_bot(spec: LaunchSpec, descriptors: list[int], uid: int | None) -> NoReturn:
    """Confine this process and replace it by the bot. Never returns; a failure is reported on the last descriptor."""
    report_to = descriptors[-1]
    try:
        os.setsid()
        os.nice(BOT_NICENESS)
        for group in spec["control_groups"]:
            write_kernel_file(os.path.join(group["directory"], "cgroup.procs"), "0")
        report_to = arrange_descriptors(descriptors, spec["seccomp_at"])
        confine(spec, uid)
        exec_program(spec["command"], spec["environment"])
    except StepError as error:
        report = error.report
    except OSError as error:
        report = {"step": "preparing", "errno": error.errno, "subject": str(error.filename or "")}
    except BaseException as error:
        report = {"step": f"{type(error).__name__}: {error}", "errno": 0, "subject": ""}
    with contextlib.suppress(OSError):
        os.write(report_to, json.dumps(report).encode())
    os._exit(127)


def confine(spec: LaunchSpec, uid: int | None) -> None:
    """Give up every right that the bot isn't to have. Until the last step, the next ones still need some."""
    if spec["mounts"] is not None:
        set_up_mounts(spec["mounts"], uid)
    ruleset = create_landlock_ruleset(spec["landlock"])
    for number, soft, hard in spec["rlimits"]:
        resource.setrlimit(number, (soft, hard))
    switch_user(uid)
    if spec["no_new_privs"]:
        require_success("no_new_privs", libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    restore_signals()
    os.umask(0o077)
    os.chdir(spec["directory"])
    if ruleset >= 0:
        require_success("landlock", libc.syscall(_SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0))
        os.close(ruleset)
    install_filter(spec)


def arrange_descriptors(descriptors: list[int], seccomp_at: int | None) -> int:
    """Move the three pipes to 0, 1 and 2 and close all others; return the descriptor for reporting errors."""
    report_to = 3 if seccomp_at != 3 else 4
    high = [os.dup2(descriptor, 100 + k, False) for k, descriptor in enumerate(descriptors)]
    for number, descriptor in enumerate(high[:3]):
        os.dup2(descriptor, number)
    os.dup2(high[3], report_to, False)
    os.closerange(report_to + 1, 1024)
    return report_to


def set_up_mounts(mounts: MountSpec, uid: int | None) -> None:
    """Give the bot its own view of the file system."""
    if mounts["user_namespace"]:
        enter_user_namespace()
    require_success("mount namespace", libc.unshare(_CLONE_NEWNS | (_CLONE_NEWIPC if mounts["own_ipc"] else 0)))
    mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    if mounts["read_only"]:
        make_read_only("/")
    for directory, paths in mounts["replace"].items():
        replace_directory(directory, paths, mounts["named"])
    for directory, size_bytes in mounts["private"].items():
        owner = f",uid={uid},gid={uid}" if uid is not None else ""
        mount("arena", directory, "tmpfs", _MS_NOSUID | _MS_NODEV, f"mode=700,size={size_bytes},nr_inodes=20000{owner}")


def replace_directory(directory: str, paths: list[str], named: list[str]) -> None:
    """Replace a directory that the bot's user may not enter by an empty one, with only what the bot needs in it."""
    opened = [(path, os.open(path, os.O_PATH)) for path in paths]
    opened = [(path, descriptor) for path, descriptor in opened if is_within(descriptor, named)]
    mount("arena", directory, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=755,size=64k")
    for path, descriptor in opened:
        bind_into(path, descriptor)
        os.close(descriptor)
    mount(None, directory, None, _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | _MS_NODEV)


def make_read_only(path: str) -> None:
    """Make a mount and all below it read-only: Landlock restricts writing, but not changes of mode, owner and times."""
    attributes = struct.pack("=4Q", _MOUNT_ATTR_RDONLY, 0, 0, 0)
    result = libc.syscall(
        _SYS_MOUNT_SETATTR, _AT_FDCWD, path.encode(), _AT_RECURSIVE, attributes, ctypes.c_size_t(len(attributes))
    )
    require_success("read-only", result, path)


def enter_user_namespace() -> None:
    """Gain the right to mount without being root. The exec of the bot drops it again, because its uid is not 0.

    The bot can't create a user namespace inside this one: there it could mount file systems that nothing counts.
    """
    uid, gid = os.geteuid(), os.getegid()
    require_success("user namespace", libc.unshare(_CLONE_NEWUSER))
    write_kernel_file("/proc/self/setgroups", "deny")
    write_kernel_file("/proc/self/uid_map", f"{uid} {uid} 1")
    write_kernel_file("/proc/self/gid_map", f"{gid} {gid} 1")
    with contextlib.suppress(OSError):  # /proc may be read-only
        write_kernel_file("/proc/sys/user/max_user_namespaces", "0")


def is_within(descriptor: int, named: list[str]) -> bool:
    """Return whether an opened file is, or lies below, one of the real paths that were named.

    The owner of a directory may have replaced it by a link after its path was resolved.
    """
    real = os.readlink(f"/proc/self/fd/{descriptor}")
    return any(real == path or real.startswith(f"{path}/") for path in named)


def bind_into(path: str, descriptor: int) -> None:
    """Create ``path`` in a fresh tmpfs and bind the file or directory behind ``descriptor`` there."""
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.makedirs(path, 0o755, exist_ok=True)
    elif os.path.lexists(path):
        return  # it came with its directory; opening it for writing would fail while it runs
    else:
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
    mount(f"/proc/self/fd/{descriptor}", path, None, _MS_BIND | _MS_REC)


def create_landlock_ruleset(landlock: LandlockRules | None) -> int:
    """Create a Landlock ruleset (landlock(7)) and return its descriptor; -1 if there are no rules.

    Paths that don't exist, or have been replaced by links to other places, are left out.
    """
    if landlock is None:
        return -1
    attributes = struct.pack(f"={len(landlock['handled'])}Q", *landlock["handled"])
    ruleset = libc.syscall(_SYS_LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    require_success("landlock", ruleset)
    named = [path for path, _ in landlock["rules"]]
    for path, access in landlock["rules"]:
        try:
            beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        if path in landlock["own"] and not is_within(beneath, named):
            os.close(beneath)
            continue
        if not stat.S_ISDIR(os.fstat(beneath).st_mode):
            access &= _FILE_ACCESS
        rule = struct.pack("=Qi", access, beneath)
        added = libc.syscall(_SYS_LANDLOCK_ADD_RULE, ruleset, _LANDLOCK_RULE_PATH_BENEATH, rule, 0)
        require_success("landlock", added, path)
        os.close(beneath)
    return int(ruleset)


def switch_user(uid: int | None) -> None:
    """Switch to another user, irrevocably."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def restore_signals() -> None:
    """Reset the signals that Python or the fork server ignores, and unblock all."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP):
        libc.signal(int(number), 0)  # signal.signal is twenty times as slow
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def install_filter(spec: LaunchSpec) -> None:
    """Install the seccomp filter, or leave it in a descriptor for the wrapping program to install."""
    if spec["seccomp"] is None:
        return
    program = bytes.fromhex(spec["seccomp"])
    if spec["seccomp_at"] is not None:
        descriptor = os.memfd_create("seccomp")
        os.write(descriptor, program)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.dup2(descriptor, spec["seccomp_at"], True)
        return
    buffer = ctypes.create_string_buffer(program)
    fprog = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    require_success("seccomp", libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, fprog, 0, 0))


def exec_program(command: list[str], environment: dict[str, str]) -> NoReturn:
    """Replace this process by the program, which is searched on PATH as a shell does."""
    program = command[0]
    paths = [program] if "/" in program else [f"{p}/{program}" for p in environment["PATH"].split(os.pathsep)]
    failure: OSError | None = None
    for path in paths:
        try:
            os.execve(path, command, environment)
        except OSError as error:
            failure = error if failure is None or error.errno != errno.ENOENT else failure
    raise StepError("exec", (failure.errno if failure else None) or errno.ENOENT, program)
