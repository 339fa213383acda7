"""The seccomp filter of a bot, assembled by hand: classic BPF over the number and arguments of a system call.

The filter is a list of what is refused, not of what is allowed: bots are written in any language, and a runtime that
meets an unexpected refusal breaks in ways that its author can't see. Everything that reaches beyond the bot is
rejected: the network, other processes, the kernel's rarely used and frequently attacked interfaces, objects that
outlive a process (System V IPC, message queues), what other bots can observe (locks, directory changes), what the next
match of the same bot could (which of its pages are in memory), and what would evade accounting. A refusal is an
ordinary error, which programs take for "not available on this system".

Only for ``ioctl`` the allowed commands are listed: a bot can open pipes, plain files and socket pairs, which have few
commands, and programs expect ENOTTY.

All functions are pure; sources: seccomp(2), bpf_filter.h, and the kernel's tables of system calls.
"""

from __future__ import annotations

import errno
import functools
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.sandbox.isolation.system_calls import SYSTEM_CALLS

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""AUDIT_ARCH_* (linux/audit.h)."""

_KILL_PROCESS, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_LOAD, _AND, _JUMP_EQUAL, _JUMP_NOT_BELOW, _JUMP_ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32_BIT = 0x40000000
_LINEAR_SEARCH = 3
"""The most runs that are compared one after another."""
_MAX_JUMP = 255

_SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
_HIDE_MEMORY = ("memfd_create", "mmap", "splice", "tee", "vmsplice", "sendfile", "landlock_create_ruleset")
"""They create memory that is attributed to no process: files without a name, shared mappings with no resident pages,
pages that only a pipe holds, Landlock rules."""
_HIDE_DISK = ("fallocate", "sendmsg", "sendmmsg")
"""They make a file use more than its size, or keep one open that no process has open, with its descriptor in transit in
a socket."""

_MODES = ("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat")
_TIMES = ("utime", "utimes", "futimesat", "utimensat")
_SET_ATTRIBUTES = ("setxattr", "lsetxattr", "fsetxattr", "setxattrat", "file_setattr")
_REMOVE_ATTRIBUTES = ("removexattr", "lremovexattr", "fremovexattr", "removexattrat")
_READ_ATTRIBUTES = ("getxattr", "lgetxattr", "getxattrat", "listxattr", "llistxattr", "listxattrat")
_CHANGE_FILES = (*_MODES, *_TIMES, *_REMOVE_ATTRIBUTES, "truncate", "open", "openat", "openat2")
"""Landlock restricts none of them, except truncation from its third version on (landlock(7), "Filesystem actions").

Setting attributes is always refused: in a file system in memory, access control lists are memory that not even a
control group counts."""

_CLOCKS = ("clock_gettime", "clock_getres", "clock_nanosleep", "timer_create")
_PRETENDED = ("flock", "sync", "syncfs", "fadvise64", "setrlimit", *_MODES, *_TIMES)
_ERRNOS = {
    **dict.fromkeys(("socket", "bind", "connect", "socketpair"), errno.EACCES),
    **dict.fromkeys(("clone3", "memfd_create", "memfd_secret"), errno.ENOSYS),
    **dict.fromkeys(("io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_submit"), errno.ENOSYS),
    **dict.fromkeys(("inotify_init", "inotify_init1", "inotify_add_watch"), errno.ENOSYS),
    **dict.fromkeys(("cachestat", "mincore", "pidfd_open"), errno.ENOSYS),
    **dict.fromkeys(("preadv2", "pwritev2"), errno.EOPNOTSUPP),
    **dict.fromkeys((*_CLOCKS, "madvise"), errno.EINVAL),
    **dict.fromkeys((*_SET_ATTRIBUTES, *_REMOVE_ATTRIBUTES, *_READ_ATTRIBUTES), errno.EOPNOTSUPP),
    **dict.fromkeys(("open", "openat", "truncate"), errno.EACCES),
    "openat2": errno.ENOSYS,
    **dict.fromkeys(("statmount", "listmount", "open_tree_attr", "listns"), errno.ENOSYS),
    **dict.fromkeys(("splice", "tee", "vmsplice", "sendfile"), errno.EINVAL),  # callers fall back to read and write
    "fallocate": errno.EOPNOTSUPP,  # posix_fallocate falls back to writing
    "ioctl": errno.ENOTTY,
}
"""The error of a refusal, where it is not EPERM."""

_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
_CLONE_FILES, _CLONE_PARENT, _CLONE_THREAD = 0x400, 0x8000, 0x10000
_CLOSE_RANGE_UNSHARE = 2

_PR_SET_DUMPABLE = 4
_PRCTL_REFUSED = (35, 36, 62)
"""PR_SET_MM, which changes what /proc shows; PR_SET_CHILD_SUBREAPER; PR_SCHED_CORE, which keeps a sibling core idle."""

_IOCTL_KIND, _TERMINALS = 0xFF00, 0x5400
"""The byte with the kind of a command; "T" for terminals, and also for FIONREAD, FIONBIO and FIOCLEX."""
_TIOCSTI, _TIOCLINUX, _FIOASYNC = 0x5412, 0x541C, 0x5452

_SET_LOCK = (6, 7, 37, 38)
"""F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW."""
_FCNTL_REFUSED = (8, 10, 15, 1024, 1026, 1036, 1038)
"""F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY, F_SET_RW_HINT, F_SET_FILE_RW_HINT."""

_ACCESS_MODE_AND_TRUNCATE, _TRUNCATE = 0o1003, 0o1000

_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20  # MAP_SHARED_VALIDATE, which is 3, has the bit as well

_RLIMIT_CORE = 4
"""It is 1: only that keeps a crash from the program that ``core_pattern`` may name (core(5))."""
_RWF_NOWAIT = 0x8
"""Read only what is in memory."""
_POSIX_FADV_DONTNEED = 4
_MADV_COLD, _MADV_PAGEOUT, _MADV_COLLAPSE = 20, 21, 25
"""They change which pages of a file are in memory, and how they are joined."""

_DYNAMIC_CLOCK, _THREAD_CLOCK, _OWN_CLOCKS = 0x80000000, 0x4, 0xFFFFFFF8
"""The bit of clocks of processes, threads and devices; that of threads, which the kernel confines to those of the same
process; and the first of those with process 0, which is the caller (posix-timers_types.h)."""

_AF_UNIX, _SOCKET_KIND, _SOCK_STREAM, _SOCK_SEQPACKET = 1, 0xF, 1, 5
_SOL_SOCKET, _SOCKET_OPTIONS_REFUSED = 1, (7, 32, 26, 50, 51, 52)
"""SO_SNDBUF, SO_SNDBUFFORCE, and the options that attach a filter."""
_SECCOMP_LISTENER = 8

Instruction = tuple[int, int, int, int]
_LET = (_RETURN, 0, 0, _ALLOW)
_PRETEND = (_RETURN, 0, 0, _ERRNO)
"""The call has no effect and returns 0."""


@functools.cache
def assemble_filter(
    machine: str, *, may_signal: bool, may_change_files: bool, counts_memory: bool, counts_disk: bool
) -> bytes:
    """Return the program, eight bytes an instruction (``struct sock_filter``).

    Args:
        machine: as ``os.uname().machine`` has it; a key of ``ARCHITECTURES``.
        may_signal: allow signals, because something else (Landlock, another uid) restricts them; otherwise a bot can
            signal only its own process group with ``kill(0, …)``, and ``abort`` ends in SIGSEGV.
        may_change_files: allow changes of mode, owner, times, length and attributes of files that are not open for
            writing, because all but the scratch directory is read-only.
        counts_memory: allow creating memory that belongs to no process, because a control group counts it.
        counts_disk: allow creating files that can't be counted, because the scratch directory is a file system of its
            own, whose size is the limit.
    """
    column = list(ARCHITECTURES).index(machine)
    allowed = {
        *(_SIGNALS if may_signal else ()),
        *(_CHANGE_FILES if may_change_files else ()),
        *(_HIDE_MEMORY if counts_memory else ()),
        *(_HIDE_DISK if counts_disk else ()),
    }
    checks = _argument_checks()
    refused = sorted(
        (number, checks.get(name, [_refuse(name)]))
        for name, numbers in SYSTEM_CALLS.items()
        if (number := numbers[column]) is not None and name not in allowed
    )
    head: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    if machine == "x86_64":
        head += [(_JUMP_NOT_BELOW, 0, 1, _X32_BIT), (_RETURN, 0, 0, _KILL_PROCESS)]
    return b"".join(struct.pack("=HBBI", *step) for step in [*head, *_search(_runs(refused))])


@dataclass(frozen=True, slots=True)
class _Run:
    """System calls with consecutive numbers, and what decides them all."""

    first: int
    last: int
    check: list[Instruction]

    @property
    def steps(self) -> list[Instruction]:
        length = len(self.check)
        if self.first == self.last:
            return [(_JUMP_EQUAL, 0, length, self.first), *self.check]
        return [
            *((_JUMP_NOT_BELOW, 0, length + 1, self.first), (_JUMP_NOT_BELOW, length, 0, self.last + 1)),
            *self.check,
        ]


def _runs(calls: Iterable[tuple[int, list[Instruction]]]) -> list[_Run]:
    runs: list[_Run] = []
    for number, check in calls:
        if runs and runs[-1].last == number - 1 and runs[-1].check == check:
            runs[-1] = _Run(runs[-1].first, number, check)
        else:
            runs.append(_Run(number, number, check))
    return runs


def _search(calls: Sequence[_Run]) -> list[Instruction]:
    """Return a binary search for the loaded number among runs of calls in ascending order.

    For every filter of a process the kernel works out which of its system calls are always allowed, so the length of
    the path to a decision, and not only that of the program, is a part of what starting a bot costs.
    """
    if len(calls) <= _LINEAR_SEARCH:
        return [*(step for run in calls for step in run.steps), _LET]
    middle = len(calls) // 2
    while len(below := _search(calls[:middle])) > _MAX_JUMP:
        middle -= 1
    return [(_JUMP_NOT_BELOW, len(below), 0, calls[middle].first), *below, *_search(calls[middle:])]


def _refuse(name: str) -> Instruction:
    if name in _PRETENDED:
        return _PRETEND
    return (_RETURN, 0, 0, _ERRNO | _ERRNOS.get(name, errno.EPERM))


def _low(argument: int) -> Instruction:
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument)


def _high(argument: int) -> Instruction:
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument + 4)


def _if_equal(values: Iterable[int], verdict: Instruction) -> list[Instruction]:
    return [step for value in values for step in ((_JUMP_EQUAL, 0, 1, value), verdict)]


def _argument_checks() -> dict[str, list[Instruction]]:
    """Return by name the instructions that decide a call by its arguments. The last one of each is a return."""
    return {
        "clone": [
            *(_low(0), (_JUMP_ANY_BIT, 0, 1, _NEW_NAMESPACES | _CLONE_PARENT), _refuse("clone")),
            *((_JUMP_ANY_BIT, 0, 2, _CLONE_THREAD), (_JUMP_ANY_BIT, 1, 0, _CLONE_FILES), _refuse("clone"), _LET),
        ],
        # threads share one table of files, in which everything open is visible
        "close_range": [_low(2), (_JUMP_ANY_BIT, 0, 1, _CLOSE_RANGE_UNSHARE), _refuse("close_range"), _LET],
        **{  # a process's own only
            name: [_low(0), *_if_equal([0], _LET), _refuse(name)]
            for name in ("move_pages", "migrate_pages", "getsid", "getpgid", "get_robust_list")
        },
        **{
            name: [
                *(_low(0), (_JUMP_ANY_BIT, 0, 3, _DYNAMIC_CLOCK), (_JUMP_ANY_BIT, 2, 0, _THREAD_CLOCK)),
                *((_JUMP_NOT_BELOW, 1, 0, _OWN_CLOCKS), _refuse(name), _LET),
            ]
            for name in _CLOCKS
        },
        **{
            name: [_low(5), (_JUMP_ANY_BIT, 0, 1, _RWF_NOWAIT), _refuse(name), _LET] for name in ("preadv2", "pwritev2")
        },
        "fadvise64": [_low(3), *_if_equal([_POSIX_FADV_DONTNEED], _PRETEND), _LET],
        "madvise": [
            *(_low(2), *_if_equal((_MADV_COLD, _MADV_PAGEOUT), _PRETEND)),
            *(*_if_equal([_MADV_COLLAPSE], _refuse("madvise")), _LET),
        ],
        "prlimit64": [
            *(_low(0), (_JUMP_EQUAL, 1, 0, 0), _refuse("prlimit64"), _low(1), (_JUMP_EQUAL, 1, 0, _RLIMIT_CORE), _LET),
            *(_low(2), (_JUMP_EQUAL, 1, 0, 0), _PRETEND, _high(2), (_JUMP_EQUAL, 1, 0, 0), _PRETEND, _LET),
        ],
        "setrlimit": [_low(0), *_if_equal([_RLIMIT_CORE], _PRETEND), _LET],
        "prctl": [
            *(_low(0), *_if_equal(_PRCTL_REFUSED, _refuse("prctl")), (_JUMP_EQUAL, 1, 0, _PR_SET_DUMPABLE), _LET),
            *(_low(1), *_if_equal([0], _refuse("prctl")), _LET),
        ],
        "ioctl": [
            *(_low(1), (_AND, 0, 0, _IOCTL_KIND), (_JUMP_EQUAL, 1, 0, _TERMINALS), _refuse("ioctl")),
            *(_low(1), *_if_equal((_TIOCSTI, _TIOCLINUX, _FIOASYNC), (_RETURN, 0, 0, _ERRNO | errno.EPERM)), _LET),
        ],
        "fcntl": [_low(1), *_if_equal(_SET_LOCK, _PRETEND), *_if_equal(_FCNTL_REFUSED, _refuse("fcntl")), _LET],
        **{  # truncation without the right to write
            name: [_low(flags), (_AND, 0, 0, _ACCESS_MODE_AND_TRUNCATE), *_if_equal([_TRUNCATE], _refuse(name)), _LET]
            for name, flags in (("open", 1), ("openat", 2))
        },
        "socketpair": [  # from a pair of datagram sockets, datagrams can be sent to any name
            *(_low(0), (_JUMP_EQUAL, 1, 0, _AF_UNIX), _refuse("socketpair"), _low(1), (_AND, 0, 0, _SOCKET_KIND)),
            *(*_if_equal((_SOCK_STREAM, _SOCK_SEQPACKET), _LET), _refuse("socketpair")),
        ],
        "setsockopt": [
            *(_low(1), (_JUMP_EQUAL, 1, 0, _SOL_SOCKET), _LET),
            *(_low(2), *_if_equal(_SOCKET_OPTIONS_REFUSED, _refuse("setsockopt")), _LET),
        ],
        "mmap": [
            *(_low(3), (_JUMP_ANY_BIT, 0, 2, _MAP_SHARED), (_JUMP_ANY_BIT, 0, 1, _MAP_ANONYMOUS)),
            *(_refuse("mmap"), _LET),
        ],
        "seccomp": [_low(1), (_JUMP_ANY_BIT, 0, 1, _SECCOMP_LISTENER), _refuse("seccomp"), _LET],
        "personality": [_low(0), *_if_equal([0xFFFFFFFF], _LET), _refuse("personality")],  # reading it is allowed
        "kill": [_low(0), *_if_equal([0], _LET), _refuse("kill")],  # the own group
    }
