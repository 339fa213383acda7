"""The seccomp filter of a bot, assembled by hand: classic BPF over the number and arguments of a system call.

A list of what is refused, not of what is allowed: bots are written in any language, and a runtime that meets an
unknown refusal breaks in ways its author can't see. Refused is what reaches beyond the bot: the network, other
processes, the kernel's rarely used and often attacked interfaces, and what outlives a process (System V IPC, message
queues). A refusal is an ordinary error (EPERM, EACCES or ENOSYS), so programs cope.

Everything here is a pure function; sources: seccomp(2), bpf_filter.h, and the kernel's tables of system calls.
"""

from __future__ import annotations

import errno
import functools
import struct

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""AUDIT_ARCH_* (linux/audit.h)."""

_KILL_PROCESS, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_LOAD, _JUMP_EQUAL, _JUMP_NOT_BELOW, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32_BIT = 0x40000000

# name: (x86_64, aarch64); None where an architecture does not have it
_CALLS: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198),
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
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
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
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "vmsplice": (278, 75),
    "landlock_create_ruleset": (444, 444),
    "mmap": (9, 222),
    "setsockopt": (54, 208),
    "close_range": (436, 436),
    "clone": (56, 220),
    "clone3": (435, 435),
    "prlimit64": (302, 261),
    "ioctl": (16, 29),
    "personality": (135, 92),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
}

_WITH_ENOSYS = ("clone3", "memfd_create", "memfd_secret", "io_uring_setup", "io_uring_enter", "io_uring_register")
_WITH_EACCES = ("socket",)
_SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")

_UNCOUNTED_MEMORY = ("memfd_create", "vmsplice", "landlock_create_ruleset", "mmap", "setsockopt")
"""What takes memory that only a control group counts: files without a name, pages that only a pipe holds, rules, shared
mappings of which nothing is shown, larger buffers of sockets."""

_CLONE_FILES, _CLONE_THREAD, _CLOSE_RANGE_UNSHARE = 0x400, 0x10000, 2
_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20  # MAP_SHARED_VALIDATE, which is 3, has the bit as well
_SOL_SOCKET = 1
_SEND_BUFFERS = (7, 32)
"""SO_SNDBUF and SO_SNDBUFFORCE."""

_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""

_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

Instruction = tuple[int, int, int, int]


@functools.cache
def assemble_filter(machine: str, *, may_signal: bool, may_memfd: bool) -> bytes:
    """Return the program, eight bytes an instruction (``struct sock_filter``).

    Args:
        machine: as ``os.uname().machine`` has it; a key of ``ARCHITECTURES``.
        may_signal: leave signals alone, because something else (Landlock, another uid) confines them; otherwise none
            can be sent but to the own process group with ``kill(0, …)``, and ``abort`` ends in SIGSEGV.
        may_memfd: leave ``memfd_create`` and its like alone, because a control group counts their memory.
    """
    column = list(ARCHITECTURES).index(machine)
    body: list[Instruction] = []
    for name, numbers in _CALLS.items():
        number = numbers[column]
        allowed = (name in _SIGNALS and may_signal) or (name in _UNCOUNTED_MEMORY and may_memfd)
        if number is not None and not allowed:
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
    return b"".join(struct.pack("=HBBI", *step) for step in [*head, *body, (_RETURN, 0, 0, _ALLOW)])


def _refuse(name: str) -> Instruction:
    number = errno.ENOSYS if name in _WITH_ENOSYS else errno.EACCES if name in _WITH_EACCES else errno.EPERM
    return (_RETURN, 0, 0, _ERRNO | number)


def _low(argument: int) -> Instruction:
    """Load the low half of an argument, which on both architectures comes first."""
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument)


def _argument_check(name: str) -> list[Instruction]:
    """Return what decides by an argument, ending in a return whatever it finds; nothing for other calls."""
    allow = (_RETURN, 0, 0, _ALLOW)
    if name == "clone":
        return [
            _low(0),
            (_JUMP_ANY_BIT, 3, 0, _NEW_NAMESPACES),
            (_JUMP_ANY_BIT, 0, 1, _CLONE_THREAD),  # threads with open files of their own would hide them
            (_JUMP_ANY_BIT, 0, 1, _CLONE_FILES),
            allow,
            _refuse(name),
        ]
    if name == "close_range":
        return [_low(2), (_JUMP_ANY_BIT, 0, 1, _CLOSE_RANGE_UNSHARE), _refuse(name), allow]
    if name == "mmap":
        shared = (_JUMP_ANY_BIT, 0, 2, _MAP_SHARED)
        return [_low(3), shared, (_JUMP_ANY_BIT, 0, 1, _MAP_ANONYMOUS), _refuse(name), allow]
    if name == "setsockopt":
        first, second = _SEND_BUFFERS
        head = [_low(1), (_JUMP_EQUAL, 0, 4, _SOL_SOCKET), _low(2)]
        return [*head, (_JUMP_EQUAL, 1, 0, first), (_JUMP_EQUAL, 0, 1, second), _refuse(name), allow]
    if name == "prlimit64":  # one's own limits only
        return [_low(0), (_JUMP_EQUAL, 1, 0, 0), _refuse(name), allow]
    if name == "ioctl":  # typing into a terminal
        return [_low(1), (_JUMP_EQUAL, 1, 0, _TIOCSTI), (_JUMP_EQUAL, 0, 1, _TIOCLINUX), _refuse(name), allow]
    if name == "personality":  # asking what it is, is allowed
        return [_low(0), (_JUMP_EQUAL, 1, 0, 0xFFFFFFFF), _refuse(name), allow]
    if name == "kill":  # the own group
        return [_low(0), (_JUMP_EQUAL, 1, 0, 0), _refuse(name), allow]
    return []
