"""The seccomp filter of a bot, assembled by hand: classic BPF over the number and arguments of a system call.

A list of what is refused, not of what is allowed: bots are written in any language, and a runtime that meets an
unknown refusal breaks in ways its author can't see. Refused is what reaches beyond the bot: the network, other
processes, the kernel's rarely used and often attacked interfaces, what outlives a process (System V IPC, message
queues), what other bots can see (locks, directory changes), and what would keep use from being counted. A refusal is an
ordinary error, the one that programs take for "this system does not have it", so they cope.

Only ``ioctl`` is a list of what is allowed: what a bot can open are pipes, plain files and socket pairs, which know few
commands, and programs expect ENOTTY.

Everything here is a pure function; sources: seccomp(2), bpf_filter.h, and the kernel's tables of system calls.
"""

from __future__ import annotations

import errno
import functools
import struct
from collections.abc import Iterable

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""AUDIT_ARCH_* (linux/audit.h)."""

_KILL_PROCESS, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_LOAD, _AND, _JUMP_EQUAL, _JUMP_NOT_BELOW, _JUMP_ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32_BIT = 0x40000000

# name: (x86_64, aarch64); None where an architecture does not have it
_CALLS: dict[str, tuple[int | None, int | None]] = {
    "fcntl": (72, 25),  # the frequent ones first: the list is gone through from the top
    "ioctl": (16, 29),
    "flock": (73, 32),
    "close_range": (436, 436),
    "prctl": (157, 167),
    "clone": (56, 220),
    "clone3": (435, 435),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "bind": (49, 200),
    "connect": (42, 203),
    "mmap": (9, 222),
    "setsockopt": (54, 208),
    "landlock_create_ruleset": (444, 444),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "sendfile": (40, 71),
    "splice": (275, 76),
    "tee": (276, 77),
    "vmsplice": (278, 75),
    "fallocate": (285, 47),
    "open": (2, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "truncate": (76, 45),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "getxattrat": (464, 464),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "listxattrat": (465, 465),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "statmount": (457, 457),
    "listmount": (458, 458),
    "listns": (470, 470),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "cachestat": (451, 451),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "vhangup": (153, 58),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "msgget": (68, 186),
    "msgctl": (71, 187),
    "msgrcv": (70, 188),
    "msgsnd": (69, 189),
    "semget": (64, 190),
    "semctl": (66, 191),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    "seccomp": (317, 277),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "prlimit64": (302, 261),
    "personality": (135, 92),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
}

_SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
_HIDE_MEMORY = ("memfd_create", "mmap", "splice", "tee", "vmsplice", "sendfile", "landlock_create_ruleset")
"""They make memory that is shown with no process: files without a name, shared mappings of which nothing is resident,
pages that only a pipe holds, rules."""
_HIDE_DISK = ("fallocate", "sendmsg", "sendmmsg")
"""They make files larger than their size says, or keep one open that no process has open: its descriptor is under way
in a socket."""

_MODES = ("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat")
_TIMES = ("utime", "utimes", "futimesat", "utimensat")
_SET_ATTRIBUTES = ("setxattr", "lsetxattr", "fsetxattr", "setxattrat", "file_setattr")
_REMOVE_ATTRIBUTES = ("removexattr", "lremovexattr", "fremovexattr", "removexattrat")
_READ_ATTRIBUTES = ("getxattr", "lgetxattr", "getxattrat", "listxattr", "llistxattr", "listxattrat")
_CHANGE_FILES = (*_MODES, *_TIMES, *_REMOVE_ATTRIBUTES, "truncate", "open", "openat", "openat2")
"""Landlock knows of none of them, but for truncation from its third version on (landlock(7), "Filesystem actions").

Attributes are never set: in a file system in memory, access control lists are memory that nothing counts, no control
group either."""

_PRETENDED = ("flock", "sync", "syncfs", *_MODES, *_TIMES)
_ERRNOS = {
    **dict.fromkeys(("socket", "bind", "connect", "socketpair"), errno.EACCES),
    **dict.fromkeys(("clone3", "memfd_create", "memfd_secret"), errno.ENOSYS),
    **dict.fromkeys(("io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_submit"), errno.ENOSYS),
    **dict.fromkeys(("inotify_init", "inotify_init1", "inotify_add_watch", "cachestat"), errno.ENOSYS),
    **dict.fromkeys((*_SET_ATTRIBUTES, *_REMOVE_ATTRIBUTES, *_READ_ATTRIBUTES), errno.EOPNOTSUPP),
    **dict.fromkeys(("open", "openat", "truncate"), errno.EACCES),
    "openat2": errno.ENOSYS,
    **dict.fromkeys(("statmount", "listmount", "open_tree_attr", "listns"), errno.ENOSYS),
    **dict.fromkeys(("splice", "tee", "vmsplice", "sendfile"), errno.EINVAL),  # after which they read and write
    "fallocate": errno.EOPNOTSUPP,  # after which posix_fallocate writes
    "ioctl": errno.ENOTTY,
}
"""What a refusal says where it is not EPERM."""

_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
_CLONE_FILES, _CLONE_PARENT, _CLONE_THREAD = 0x400, 0x8000, 0x10000
_CLOSE_RANGE_UNSHARE = 2

_PR_SET_DUMPABLE = 4
_PRCTL_REFUSED = (35, 36, 62)
"""PR_SET_MM, which changes what /proc says; PR_SET_CHILD_SUBREAPER; PR_SCHED_CORE, which keeps a sibling core idle."""

_IOCTL_KIND, _TERMINALS = 0xFF00, 0x5400
"""The byte of a command that tells its kind; "T", which FIONREAD, FIONBIO and FIOCLEX have as well."""
_TIOCSTI, _TIOCLINUX, _FIOASYNC = 0x5412, 0x541C, 0x5452

_SET_LOCK = (6, 7, 37, 38)
"""F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW."""
_FCNTL_REFUSED = (8, 10, 15, 1024, 1026, 1036, 1038)
"""F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY, F_SET_RW_HINT, F_SET_FILE_RW_HINT."""

_ACCESS_MODE_AND_TRUNCATE, _TRUNCATE = 0o1003, 0o1000

_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20  # MAP_SHARED_VALIDATE, which is 3, has the bit as well

_AF_UNIX, _SOCKET_KIND, _SOCK_STREAM, _SOCK_SEQPACKET = 1, 0xF, 1, 5
_SOL_SOCKET, _SOCKET_OPTIONS_REFUSED = 1, (7, 32, 26, 50, 51, 52)
"""SO_SNDBUF, SO_SNDBUFFORCE, and what attaches a filter."""
_SECCOMP_LISTENER = 8

Instruction = tuple[int, int, int, int]
_LET = (_RETURN, 0, 0, _ALLOW)
_PRETEND = (_RETURN, 0, 0, _ERRNO)
"""The call does nothing and returns 0."""


@functools.cache
def assemble_filter(
    machine: str, *, may_signal: bool, may_change_files: bool, counts_memory: bool, counts_disk: bool
) -> bytes:
    """Return the program, eight bytes an instruction (``struct sock_filter``).

    Args:
        machine: as ``os.uname().machine`` has it; a key of ``ARCHITECTURES``.
        may_signal: leave signals alone, because something else (Landlock, another uid) confines them; otherwise none
            can be sent but to the own process group with ``kill(0, …)``, and ``abort`` ends in SIGSEGV.
        may_change_files: leave alone what changes files that are not open for writing (their modes, owners, times,
            length, and takes attributes away), because all but the scratch directory is read-only or somebody else's.
        counts_memory: leave alone what makes memory that belongs to no process, because a control group counts it.
        counts_disk: leave alone what makes files that can't be counted, because the scratch directory is a file system
            of its own, whose size is the limit.
    """
    column = list(ARCHITECTURES).index(machine)
    allowed = {
        *(_SIGNALS if may_signal else ()),
        *(_CHANGE_FILES if may_change_files else ()),
        *(_HIDE_MEMORY if counts_memory else ()),
        *(_HIDE_DISK if counts_disk else ()),
    }
    body: list[Instruction] = []
    for name, numbers in _CALLS.items():
        number = numbers[column]
        if number is not None and name not in allowed:
            check = _argument_check(name) or [_refuse(name)]
            body += [(_JUMP_EQUAL, 0, len(check), number), *check]
    head: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    if machine == "x86_64":
        head += [(_JUMP_NOT_BELOW, 0, 1, _X32_BIT), (_RETURN, 0, 0, _KILL_PROCESS)]
    return b"".join(struct.pack("=HBBI", *step) for step in [*head, *body, _LET])


def _refuse(name: str) -> Instruction:
    if name in _PRETENDED:
        return _PRETEND
    return (_RETURN, 0, 0, _ERRNO | _ERRNOS.get(name, errno.EPERM))


def _low(argument: int) -> Instruction:
    """Load the low half of an argument, which on both architectures comes first."""
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument)


def _if_equal(values: Iterable[int], verdict: Instruction) -> list[Instruction]:
    """Return what gives a verdict if what is loaded is one of some values, and otherwise goes on."""
    return [step for value in values for step in ((_JUMP_EQUAL, 0, 1, value), verdict)]


def _argument_check(name: str) -> list[Instruction]:
    """Return what decides by an argument, ending in a return whatever it finds; nothing for other calls."""
    refuse = _refuse(name)
    check: list[Instruction] = []
    if name == "clone":
        check = [_low(0), (_JUMP_ANY_BIT, 0, 1, _NEW_NAMESPACES | _CLONE_PARENT), refuse]
        check += [(_JUMP_ANY_BIT, 0, 2, _CLONE_THREAD), (_JUMP_ANY_BIT, 1, 0, _CLONE_FILES), refuse, _LET]
    elif name == "close_range":  # threads share one table of files, where all that is open can be seen
        check = [_low(2), (_JUMP_ANY_BIT, 0, 1, _CLOSE_RANGE_UNSHARE), refuse, _LET]
    elif name in ("prlimit64", "move_pages", "migrate_pages"):  # one's own only
        check = [_low(0), *_if_equal([0], _LET), refuse]
    elif name == "prctl":
        check = [_low(0), *_if_equal(_PRCTL_REFUSED, refuse), (_JUMP_EQUAL, 1, 0, _PR_SET_DUMPABLE), _LET]
        check += [_low(1), *_if_equal([0], refuse), _LET]
    elif name == "ioctl":
        check = [_low(1), (_AND, 0, 0, _IOCTL_KIND), (_JUMP_EQUAL, 1, 0, _TERMINALS), refuse, _low(1)]
        check += [*_if_equal((_TIOCSTI, _TIOCLINUX, _FIOASYNC), (_RETURN, 0, 0, _ERRNO | errno.EPERM)), _LET]
    elif name == "fcntl":
        check = [_low(1), *_if_equal(_SET_LOCK, _PRETEND), *_if_equal(_FCNTL_REFUSED, refuse), _LET]
    elif name in ("open", "openat"):  # truncation without the right to write
        check = [_low(1 if name == "open" else 2), (_AND, 0, 0, _ACCESS_MODE_AND_TRUNCATE)]
        check += [*_if_equal([_TRUNCATE], refuse), _LET]
    elif name == "socketpair":  # datagrams can be sent to any name from a pair of theirs
        check = [_low(0), (_JUMP_EQUAL, 1, 0, _AF_UNIX), refuse, _low(1), (_AND, 0, 0, _SOCKET_KIND)]
        check += [*_if_equal((_SOCK_STREAM, _SOCK_SEQPACKET), _LET), refuse]
    elif name == "setsockopt":
        check = [_low(1), (_JUMP_EQUAL, 1, 0, _SOL_SOCKET), _LET]
        check += [_low(2), *_if_equal(_SOCKET_OPTIONS_REFUSED, refuse), _LET]
    elif name == "mmap":
        check = [_low(3), (_JUMP_ANY_BIT, 0, 2, _MAP_SHARED), (_JUMP_ANY_BIT, 0, 1, _MAP_ANONYMOUS), refuse, _LET]
    elif name == "seccomp":
        check = [_low(1), (_JUMP_ANY_BIT, 0, 1, _SECCOMP_LISTENER), refuse, _LET]
    elif name == "personality":  # asking what it is, is allowed
        check = [_low(0), *_if_equal([0xFFFFFFFF], _LET), refuse]
    elif name == "kill":  # the own group
        check = [_low(0), *_if_equal([0], _LET), refuse]
    return check
