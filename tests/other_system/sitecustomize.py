"""Hides what only Linux has, for tests of the arena elsewhere: /proc, pidfds, epoll, prctl, affinity, and more."""

import builtins
import ctypes
import errno
import fcntl
import functools
import io
import os
import resource
import select
import signal
import sys
import sysconfig
import time

os.environ["_PYTHON_SYSCONFIGDATA_NAME"] = sysconfig._get_sysconfigdata_name()
sys.platform = "darwin"
NAMES = {
    os: "pidfd_open sched_setaffinity sched_getaffinity pipe2 memfd_create eventfd setresuid setresgid getresuid"
    " getresgid O_PATH O_TMPFILE CLONE_NEWUSER unshare setns waitid posix_fadvise getxattr listxattr P_PIDFD"
    " splice copy_file_range sched_setscheduler SCHED_BATCH SCHED_IDLE process_cpu_count",
    signal: "pidfd_send_signal sigtimedwait sigwaitinfo",
    select: "epoll EPOLLIN EPOLLHUP",
    fcntl: "F_SETPIPE_SZ F_GETPIPE_SZ F_ADD_SEALS",
    resource: "prlimit RLIMIT_MSGQUEUE RLIMIT_SIGPENDING RLIMIT_RTPRIO RLIMIT_RTTIME RLIMIT_NICE",
    time: "CLOCK_BOOTTIME",
}
for module, names in NAMES.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)


def is_hidden(path):
    if isinstance(path, int):
        return False
    text = os.fsdecode(os.fspath(path))
    return text == "/proc" or text.startswith(("/proc/", "/sys/"))


def without(function):
    @functools.wraps(function)
    def call(path=".", *arguments, **named):
        if is_hidden(path):
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
        return function(path, *arguments, **named)

    return call


for name in ["open", "stat", "lstat", "listdir", "scandir", "readlink", "access", "mkdir"]:
    setattr(os, name, without(getattr(os, name)))
builtins.open = io.open = without(io.open)
plain_getitem = ctypes.CDLL.__getattr__


def hidden_function(self, name):
    if name in ("prctl", "syscall", "unshare", "clone", "pidfd_open", "sched_setaffinity", "gettid"):
        raise AttributeError(f"dlsym({name}): symbol not found")
    return plain_getitem(self, name)


ctypes.CDLL.__getattr__ = hidden_function
plain_clock = time.clock_gettime


def clock_gettime(clock):
    if clock < 0 or clock > 16:
        raise OSError(errno.EINVAL, "Invalid argument")
    return plain_clock(clock)


time.clock_gettime = clock_gettime
