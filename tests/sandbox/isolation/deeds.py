"""Deeds that a bot should be refused, by system calls; run as a bot by ``test_parts.py``.

Prints what succeeded and what failed, as JSON: a deed that is refused raises OSError.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import signal
import socket
import struct
import sys
import time
from pathlib import Path

libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = json.loads(sys.argv[1])
ARENA_PID = int(sys.argv[2])
FOREIGN = Path(sys.argv[3])
"""A file that the bot may read; where the arena runs as an ordinary user, it belongs to the bot's user as well."""
SCRATCH = Path(os.environ["TMPDIR"])
GOT = ctypes.create_string_buffer(4096)

PR_SET_DUMPABLE, PR_SET_MM, PR_SET_CHILD_SUBREAPER, PR_SCHED_CORE = 4, 35, 36, 62
CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_SIGHAND, CLONE_PARENT, CLONE_THREAD = 0x100, 0x200, 0x400, 0x800, 0x8000, 0x10000
FALLOC_FL_KEEP_SIZE = 1
FS_IOC_RESVSP64, FS_IOC_GETFLAGS, FS_IOC_SETFLAGS = 0x4030582A, 0x80086601, 0x40086602
FIOSETOWN, SIOCGIFCONF = 0x8901, 0x8912
IPC_RMID, IPC_NOWAIT = 0, 0o4000
MADV_PAGEOUT = 21


def must(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def call(name, *arguments):
    return must(libc.syscall(NUMBERS[name], *arguments))


def reaches_the_kernel(name, *arguments):
    """A call that is let through fails of its nonsensical arguments, but not with an errno of the filter's."""
    try:
        call(name, *arguments)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS, errno.EACCES):
            raise


def clone(flags):
    pid = libc.syscall(NUMBERS["clone"], ctypes.c_ulong(flags | signal.SIGCHLD), 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    must(pid)


def a_thread_with_files_of_its_own():
    """Let through, this fails for want of a stack or makes a thread that crashes; so it is tried in a child."""
    pid = os.fork()
    if pid == 0:
        flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD
        libc.syscall(NUMBERS["clone"], ctypes.c_ulong(flags), 0, 0, 0, 0)
        os._exit(ctypes.get_errno())
    if os.waitpid(pid, 0)[1] == errno.EPERM << 8:
        raise PermissionError


def a_file():
    return os.open(SCRATCH / "file", os.O_CREAT | os.O_RDWR, 0o600)


def preallocate_by_ioctl():
    fcntl.ioctl(a_file(), FS_IOC_RESVSP64, struct.pack("=hhxxxxqqII16x", 0, 0, 0, 1 << 20, 0, 0))


def descriptors_under_way():
    one, _ = socket.socketpair()
    socket.send_fds(one, [b"x"], [a_file()])


def memory_in_a_pipe():
    _, write_end = os.pipe()
    memory = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[0] = 1
    where = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    call("vmsplice", write_end, struct.pack("PN", where, 1), 1, 0)


def pages_in_a_pipe(by):
    descriptor = a_file()
    os.pwrite(descriptor, b"x" * 4096, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    _, write_end = os.pipe()
    if by == "splice":
        os.splice(descriptor, write_end, 1)
    else:
        os.sendfile(write_end, descriptor, 0, 1)


def held_by_another(lock, test):
    """Whether a lock by one descriptor keeps another process from it."""
    ready, tell = os.pipe()
    done, end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(end)
        lock(os.open(__file__, os.O_RDONLY))
        os.write(tell, b"x")
        os.read(done, 1)
        os._exit(0)
    os.read(ready, 1)
    try:
        if not test(os.open(__file__, os.O_RDONLY)):
            raise PermissionError("it can't be seen")
    finally:
        os.close(end)
        os.waitpid(pid, 0)


def is_refused(lock):
    def test(descriptor):
        try:
            lock(descriptor)
        except BlockingIOError:
            return True
        return False

    return test


def record(kind):
    return struct.pack("hhxxxxqqixxxx", kind, os.SEEK_SET, 0, 1, 0)


def is_seen(command):
    def test(descriptor):
        return struct.unpack_from("h", fcntl.fcntl(descriptor, command, record(fcntl.F_WRLCK)))[0] != fcntl.F_UNLCK

    return test


def flock(descriptor):
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def changes(deed, look):
    before = look()
    deed()
    if look() == before:
        raise PermissionError("it was not changed")


def lease():
    (SCRATCH / "leased").touch()
    fcntl.fcntl(os.open(SCRATCH / "leased", os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)


def own_a_descriptor(command, value):
    one, _ = os.pipe()
    fcntl.fcntl(one, command, value)


def clock_of(pid):
    """The clock of a process, as clock_getcpuclockid(3) computes it."""
    return ~pid << 3 | 2


def drop_from_memory(advise):
    with FOREIGN.open("rb") as file:
        file.read()
        memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        memory[0]
        advise(file.fileno(), memory)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
        again = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        again[0]
        if resource.getrusage(resource.RUSAGE_SELF).ru_majflt == before:
            raise PermissionError("it is in memory")


def ask_what_is_in_memory():
    with FOREIGN.open("rb") as file:
        memory = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE)  # writable, so that it has an address
        call(
            "mincore", ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(memory))), ctypes.c_size_t(4096), GOT
        )


def be_dumped(set_limit):
    """Whether a crash may send this process's memory to a program of the machine's, which a limit of 1 prevents."""
    set_limit()
    if resource.getrlimit(resource.RLIMIT_CORE) == (1, 1):
        raise PermissionError("the limit is 1")


LIMITS = ("memory.limit_in_bytes", "memory.max")
OTHER = os.getppid()
DEEDS = {
    "be dumped": lambda: be_dumped(lambda: None),
    "be dumped by another limit": lambda: be_dumped(lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))),
    "be dumped by another limit, the old call": lambda: be_dumped(
        lambda: call("setrlimit", resource.RLIMIT_CORE, bytes(16))
    ),
    "read another's clock": lambda: time.clock_gettime(clock_of(OTHER)),
    "ask for another's clock": lambda: time.clock_getres(clock_of(OTHER)),
    "wait by another's clock": lambda: call("clock_nanosleep", clock_of(OTHER), 1, bytes(16), None),
    "be woken by another's clock": lambda: call("timer_create", clock_of(OTHER), None, GOT),
    "count the machine's files": lambda: Path("/proc/sys/fs/file-nr").read_text(),
    "signal the arena": lambda: os.kill(ARENA_PID, 0),
    "hold another process": lambda: os.pidfd_open(OTHER),
    "ask for another's session": lambda: os.getsid(OTHER),
    "ask for another's group": lambda: os.getpgid(OTHER),
    "ask for another's locks": lambda: reaches_the_kernel("get_robust_list", OTHER, GOT, GOT),
    "read only what is in memory": lambda: os.preadv(os.open(FOREIGN, os.O_RDONLY), [bytearray(1)], 0, os.RWF_NOWAIT),
    "ask what is in memory": ask_what_is_in_memory,
    "drop a file from memory": lambda: drop_from_memory(
        lambda file, _: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    ),
    "drop a mapping from memory": lambda: drop_from_memory(lambda _, memory: memory.madvise(MADV_PAGEOUT)),
    "adopt orphans": lambda: must(libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)),
    "give a child to its parent": lambda: clone(CLONE_PARENT),
    "hide from /proc": lambda: must(libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)),
    "change what /proc says": lambda: must(libc.prctl(PR_SET_MM, 14, GOT, 4, 0)),  # PR_SET_MM_MAP_SIZE
    "keep its sibling core idle": lambda: must(libc.prctl(PR_SCHED_CORE, 1, 0, 0, 0)),
    "open files in a thread's own table": a_thread_with_files_of_its_own,
    "take a file table of its own": lambda: call("close_range", 1000, 1000, 2),
    "datagrams by a pair": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
    "bind a name": lambda: socket.socketpair()[0].bind("\0arena-zoo-0"),
    "make an inotify": lambda: must(libc.inotify_init1(0)),
    "make an inotify by the old call": lambda: call("inotify_init"),
    "be told of a directory": lambda: fcntl.fcntl(os.open("/usr", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS),
    "lease a file": lease,
    "hint at a file's life": lambda: fcntl.fcntl(a_file(), 1036, struct.pack("=Q", 2)),
    "lock a shared file with flock": lambda: held_by_another(flock, is_refused(flock)),
    "lock a shared record": lambda: held_by_another(
        lambda file: fcntl.fcntl(file, fcntl.F_SETLK, record(fcntl.F_RDLCK)), is_seen(fcntl.F_GETLK)
    ),
    "lock a shared record by descriptor": lambda: held_by_another(
        lambda file: fcntl.fcntl(file, fcntl.F_OFD_SETLK, record(fcntl.F_RDLCK)), is_seen(fcntl.F_OFD_GETLK)
    ),
    "wait for a record": lambda: held_by_another(
        lambda file: fcntl.fcntl(file, fcntl.F_SETLKW, record(fcntl.F_RDLCK)), is_seen(fcntl.F_GETLK)
    ),
    "wait for a record by descriptor": lambda: held_by_another(
        lambda file: fcntl.fcntl(file, fcntl.F_OFD_SETLKW, record(fcntl.F_RDLCK)), is_seen(fcntl.F_OFD_GETLK)
    ),
    "own a descriptor's signals": lambda: own_a_descriptor(fcntl.F_SETOWN, os.getpid()),
    "own a descriptor's signals, by kind": lambda: own_a_descriptor(15, struct.pack("ii", 1, os.getpid())),
    "choose a descriptor's signal": lambda: own_a_descriptor(fcntl.F_SETSIG, signal.SIGKILL),
    "own a socket's signals": lambda: fcntl.ioctl(socket.socketpair()[0], FIOSETOWN, struct.pack("i", os.getpid())),
    "list the network's interfaces": lambda: fcntl.ioctl(socket.socketpair()[0], SIOCGIFCONF, b"\0" * 16),
    "read a file's flags": lambda: fcntl.ioctl(a_file(), FS_IOC_GETFLAGS, b"\0" * 8),
    "grow a socket": lambda: socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20),
    "make an AIO context": lambda: call("io_setup", 1, (ctypes.c_long * 1)()),
    "remove another's segment": lambda: reaches_the_kernel("shmctl", 2**30, IPC_RMID, 0),
    "remove another's queue": lambda: reaches_the_kernel("msgctl", 2**30, IPC_RMID, 0),
    "remove another's semaphore": lambda: reaches_the_kernel("semctl", 2**30, 0, IPC_RMID, 0),
    "read another's queue": lambda: reaches_the_kernel("msgrcv", 2**30, GOT, 8, 0, IPC_NOWAIT),
    "write into another's queue": lambda: reaches_the_kernel("msgsnd", 2**30, GOT, 8, IPC_NOWAIT),
    "change another's semaphore": lambda: reaches_the_kernel("semop", 2**30, GOT, 1),
    "remove another's POSIX queue": lambda: reaches_the_kernel("mq_unlink", b"arena-zoo-0"),
    "ask what is in the page cache": lambda: reaches_the_kernel("cachestat", -1, GOT, GOT, 0),
    "answer another's system calls": lambda: reaches_the_kernel("seccomp", 1, 8, 0),
    "list mounts": lambda: reaches_the_kernel("listmount", 0, 0, 0, 0),
    "ask about a mount": lambda: reaches_the_kernel("statmount", 0, 0, 0, 0),
    "clone a mount": lambda: reaches_the_kernel("open_tree_attr", -1, 0, 0, 0, 0),
    "move another's pages": lambda: reaches_the_kernel("move_pages", ARENA_PID, 0, 0, 0, 0, 0),
    "migrate another's pages": lambda: reaches_the_kernel("migrate_pages", ARENA_PID, 64, GOT, GOT),
    "advise another's memory": lambda: reaches_the_kernel("process_madvise", -1, 0, 0, 0, 0),
    "reap another's memory": lambda: reaches_the_kernel("process_mrelease", -1, 0),
}
ELSEWHERE = {
    "change a file's mode": lambda: changes(lambda: FOREIGN.chmod(0o604), lambda: FOREIGN.stat().st_mode),
    "change an open file's mode": lambda: changes(
        lambda: os.fchmod(os.open(FOREIGN, os.O_RDONLY), 0o640), lambda: FOREIGN.stat().st_mode
    ),
    "change a file's times": lambda: changes(lambda: os.utime(FOREIGN, (5, 5)), lambda: FOREIGN.stat().st_mtime),
    "change a file's owner": lambda: changes(
        lambda: os.chown(FOREIGN, os.getuid(), os.getgid()), lambda: FOREIGN.stat().st_ctime_ns
    ),
    "give a file an attribute": lambda: os.setxattr(FOREIGN, "user.mark", b"x"),
    "give a file of one's own an attribute": lambda: os.setxattr(a_file(), "user.mark", b"x"),
    "remove a file's attribute": lambda: os.removexattr(FOREIGN, "user.note"),
    "read a file's attribute": lambda: os.getxattr(FOREIGN, "user.note"),
    "list a file's attributes": lambda: os.listxattr(FOREIGN),
    "truncate a file": lambda: os.truncate(FOREIGN, 0),
    "truncate a file by opening it": lambda: changes(
        lambda: os.open(FOREIGN, os.O_RDONLY | os.O_TRUNC), lambda: FOREIGN.stat().st_size
    ),
    "flag a file": lambda: fcntl.ioctl(os.open(FOREIGN, os.O_RDONLY), FS_IOC_SETFLAGS, struct.pack("L", 0x80)),
}
WITHOUT_OWN_DISK = {
    "allocate beyond a file's end": lambda: must(libc.fallocate(a_file(), FALLOC_FL_KEEP_SIZE, 0, 1 << 20)),
    "allocate by ioctl": preallocate_by_ioctl,
    "leave descriptors in a socket": descriptors_under_way,
}
WITHOUT_COUNTED_MEMORY = {
    "map memory that is shared": lambda: mmap.mmap(-1, 4096, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS),
    "make rules": lambda: call("landlock_create_ruleset", struct.pack("Q", 1), ctypes.c_size_t(8), 0),
    "leave memory in a pipe": memory_in_a_pipe,
    "leave a file's pages in a pipe": lambda: pages_in_a_pipe("splice"),
    "send a file's pages into a pipe": lambda: pages_in_a_pipe("sendfile"),
}


def memory_limits():
    """What runtimes find that look for the limit of their control group, as Java does."""
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines() if "cgroup" in line]
    groups = {line.split(":", 2)[2] for line in Path("/proc/self/cgroup").read_text().splitlines()}
    files = {f"{mount}{group}/{file}" for mount in mounts for group in groups for file in LIMITS}
    found = []
    for file in files:
        with contextlib.suppress(OSError):
            found.append(int(Path(file).read_text()))
    return found


def succeeded(deed):
    try:
        deed()
    except OSError as error:
        return error.strerror or "refused"
    return "it succeeded"


def descriptors():
    with os.scandir("/proc/self/fd") as entries:
        links = [str(Path(entry.path).readlink()) for entry in entries if int(entry.name) > 2]
    return [link for link in links if not link.endswith("/fd")]  # by which they are listed


inherited = descriptors()
a_file()
table = {**DEEDS, **ELSEWHERE, **WITHOUT_OWN_DISK, **WITHOUT_COUNTED_MEMORY}
missing = {"make an inotify by the old call"} if NUMBERS["inotify_init"] is None else set()
results = {name: succeeded(deed) for name, deed in table.items() if name not in missing}
print(json.dumps({"results": results, "inherited": inherited, "memory_limits": memory_limits()}))
