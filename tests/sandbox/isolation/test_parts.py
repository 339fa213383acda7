import contextlib
import json
import os
import platform
import re
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from arena.base.enums import IsolationLevel
from arena.base.records import Bot, Limits
from arena.base.shipped import package_directory
from arena.sandbox.isolation import call_list, control_groups, levels, procfs, sandbox_policy
from arena.sandbox.isolation import file_access as readable_paths
from arena.sandbox.isolation.control_groups import DELEGATED_VARIABLE, ParentGroups, divide_delegated_group, group_specs
from arena.sandbox.isolation.file_access import landlock_rules
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.sandbox_policy import Isolation, kept_launch_spec, make_launch_spec
from arena.sandbox.isolation.seccomp import ARCHITECTURES, assemble_filter
from arena.sandbox.isolation.system_calls import SYSTEM_CALLS
from tests import needs

ALLOW, KILL, EPERM, EACCES, ENOSYS = 0x7FFF0000, 0x80000000, 0x50001, 0x5000D, 0x50026
EINVAL, ENOTTY, EOPNOTSUPP, PRETEND = 0x50016, 0x50019, 0x5005F, 0x50000

BY_ARGUMENT = (
    *("clone", "kill", "prlimit64", "prctl", "fcntl", "setsockopt", "seccomp", "close_range", "move_pages", "mmap"),
    *("migrate_pages", "open", "openat", "getsid", "getpgid", "get_robust_list", "preadv2", "pwritev2", "fadvise64"),
    *("madvise", "clock_gettime", "clock_getres", "clock_nanosleep", "timer_create", "setrlimit"),
)
PRETENDED = (
    *("flock", "sync", "syncfs", "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat"),
)
CLOCKS = ("clock_gettime", "clock_getres", "clock_nanosleep", "timer_create")
TIMES = ("utime", "utimes", "futimesat", "utimensat")


def run_filter(program, number, machine="x86_64", architecture=None, arguments=()):
    """Interpret the filter as the kernel does (classic BPF, of which it uses six instructions)."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, architecture or ARCHITECTURES[machine], 0, *padded)
    steps = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at = accumulator = 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif code == 0x54:
            accumulator &= value
        elif code == 0x06:
            return value
        else:
            truth = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[code]
            at += if_true if truth else if_false


@pytest.fixture(params=ARCHITECTURES)
def machine(request):
    return request.param


def number_of(name, machine):
    return SYSTEM_CALLS[name][list(ARCHITECTURES).index(machine)]


def test_the_filter_refuses_what_is_listed_lets_through_what_others_count_and_kills_other_machines(machine):
    program = assemble_filter(machine, may_signal=False, may_change_files=False, counts_memory=False, counts_disk=False)
    refused = {number_of(name, machine): name for name in SYSTEM_CALLS}
    for number in range(480):
        verdict = run_filter(program, number, machine)
        name = refused.get(number)
        if name is None or name in BY_ARGUMENT:
            assert verdict == ALLOW, number
        elif name in (*PRETENDED, *TIMES):
            assert verdict == PRETEND, name
        else:
            assert verdict in (EPERM, EACCES, ENOSYS, EINVAL, ENOTTY, EOPNOTSUPP), name
    program = assemble_filter(machine, may_signal=True, may_change_files=True, counts_memory=True, counts_disk=True)
    memory = ("memfd_create", "splice", "vmsplice", "landlock_create_ruleset", "sendfile")
    for name in ("kill", "tgkill", *memory, "fallocate", "sendmsg", "fchmodat", "openat2"):
        assert run_filter(program, number_of(name, machine), machine, arguments=(1234,)) == ALLOW
    assert run_filter(program, number_of("mmap", machine), machine, arguments=(0, 4096, 3, 0x21)) == ALLOW
    program = assemble_filter(machine, may_signal=True, may_change_files=True, counts_memory=True, counts_disk=True)
    assert run_filter(program, 1, machine, architecture=0x40000003) == KILL  # i386
    if machine == "x86_64":
        assert run_filter(program, 0x40000000 | 41, machine) == KILL  # x32


def both(name, allowed, verdict=ALLOW, refused=()):
    """Return what is decided by the last of a call's arguments: whether it is among the allowed or the refused ones."""
    return [(name, one, ALLOW) for one in allowed] + [(name, one, verdict) for one in refused]


ANOTHERS = ~1234 << 3 & 0xFFFFFFFF
"""The clocks of process 1234, of which the last three bits name one."""

DECIDED = [
    *both("clone", [(0x3D0F00,), (0x01200011,), (0x4111,)]),  # as pthread_create, fork and posix_spawn call it
    *both("clone", [], EPERM, [(0x10000000,), (0x40000000 | 17,), (0x8011,)]),  # CLONE_NEWUSER, _NEWNET, _PARENT
    *both("clone", [], EPERM, [(0x10900,), (0x3D0F00 & ~0x400,)]),  # threads without CLONE_FILES
    *both("prlimit64", [(0, 7), (0, 4, 0, 8)], EPERM, [(1234, 7), (1234, 4, 8)]),  # 4 is RLIMIT_CORE, which it may read
    *both("prlimit64", [], PRETEND, [(0, 4, 8), (0, 4, 8 << 32)]),
    # TCGETS, FIONREAD; TIOCSTI, TIOCLINUX, FIOASYNC; FIOSETOWN, SIOCGIFCONF, FS_IOC_RESVSP64, FICLONE
    *both("ioctl", [(1, 0x5401), (1, 0x541B)], EPERM, [(1, 0x5412), (1, 0x541C), (1, 0x5452)]),
    *both("ioctl", [], ENOTTY, [(1, 0x8901), (1, 0x8912), (1, 0x4030582A), (1, 0x40049409)]),
    # PR_SET_DUMPABLE, PR_GET_DUMPABLE, PR_SET_NAME; PR_SET_CHILD_SUBREAPER, PR_SET_MM, PR_SCHED_CORE, PR_SET_DUMPABLE
    *both("prctl", [(4, 1), (3, 0), (15, 0)], EPERM, [(36, 1), (35, 13), (62, 1), (4, 0)]),
    # F_SETFL, F_DUPFD_CLOEXEC, F_GETLK; F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW
    *both("fcntl", [(3, 4), (3, 1030), (3, 5)], PRETEND, [(3, 6), (3, 7), (3, 37), (3, 38)]),
    *both("fcntl", [], EPERM, [(3, 8), (3, 10), (3, 15), (3, 1024)]),  # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE
    *both("fcntl", [], EPERM, [(3, 1026), (3, 1036), (3, 1038)]),  # F_NOTIFY, F_SET_RW_HINT, F_SET_FILE_RW_HINT
    # streams, also with SOCK_CLOEXEC | SOCK_NONBLOCK, and SOCK_SEQPACKET; SOCK_DGRAM, SOCK_RAW, AF_TIPC
    *both("socketpair", [(1, 1), (1, 0x80801), (1, 5)], EACCES, [(1, 2), (1, 3), (30, 1)]),
    # SO_REUSEADDR, SO_RCVBUF, one of another level than SOL_SOCKET; SO_SNDBUF, SO_SNDBUFFORCE, SO_ATTACH_FILTER
    *both("setsockopt", [(3, 1, 2), (3, 1, 8), (3, 6, 7)], EPERM, [(3, 1, 7), (3, 1, 32), (3, 1, 26)]),
    # MAP_PRIVATE | MAP_ANONYMOUS, and a file, shared; MAP_SHARED and MAP_SHARED_VALIDATE with MAP_ANONYMOUS
    *both("mmap", [(0, 4096, 3, 0x22), (0, 4096, 3, 0x01)], EPERM, [(0, 4096, 3, 0x21), (0, 4096, 3, 0x23)]),
    *both("seccomp", [(1, 0)], EPERM, [(1, 8)]),  # SECCOMP_FILTER_FLAG_NEW_LISTENER
    *both("close_range", [(3, 100, 0)], EPERM, [(3, 100, 6)]),  # CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC
    *both("move_pages", [(0,)], EPERM, [(1234,)]),
    *both("migrate_pages", [], EPERM, [(1234,)]),
    *both("openat", [(3, 0, 0o1101), (3, 0, 0o1002)], EACCES, [(3, 0, 0o1000)]),  # O_TRUNC needs O_WRONLY
    *both("fallocate", [], EOPNOTSUPP, [(3, 1, 0, 4096)]),
    *both("splice", [], EINVAL, [()]),
    *both("personality", [(0xFFFFFFFF,)], EPERM, [(0x40000,)]),
    # CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID, its own; CPUCLOCK_PROF of another, and a device's
    *both("clock_gettime", [(1,), (3,), (0xFFFFFFFA,)], EINVAL, [(ANOTHERS,), (0xFFFFFFE3,)]),
    # as pthread_getcpuclockid(3) and clock_getcpuclockid(3) have them
    *(row for clock in CLOCKS for row in both(clock, [(ANOTHERS | 6,)], EINVAL, [(ANOTHERS | 2,)])),
    *(row for name in ("getsid", "getpgid", "get_robust_list") for row in both(name, [(0,)], EPERM, [(1234,)])),
    *both("setrlimit", [(7, 8)], PRETEND, [(4, 8)]),
    *both("preadv2", [(3, 0, 1, 0, 0, 0)], EOPNOTSUPP, [(3, 0, 1, 0, 0, 0x9)]),  # RWF_NOWAIT | RWF_HIPRI
    *both("fadvise64", [(3, 0, 0, 2)], PRETEND, [(3, 0, 0, 4)]),  # POSIX_FADV_SEQUENTIAL, POSIX_FADV_DONTNEED
    # as malloc and garbage collectors do; MADV_COLD, MADV_PAGEOUT; MADV_COLLAPSE
    *both("madvise", [(0, 4096, advice) for advice in (4, 8, 14, 22)], PRETEND, [(0, 4096, 20), (0, 4096, 21)]),
    *both("madvise", [], EINVAL, [(0, 4096, 25)]),
    *both("kill", [(0, 9)], EPERM, [(1234, 9)]),
]


@pytest.mark.parametrize(("name", "arguments", "verdict"), DECIDED)
def test_arguments_decide(machine, name, arguments, verdict):
    program = assemble_filter(machine, may_signal=False, may_change_files=False, counts_memory=False, counts_disk=False)
    assert run_filter(program, number_of(name, machine), machine, arguments=arguments) == verdict


HEADERS = {"x86_64": "x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "asm-generic/unistd.h"}
"""Those of the kernel in Debian; later architectures share one table (arch/arm64/include/uapi/asm/unistd.h)."""


def test_the_numbers_are_those_of_the_kernels_header(machine):
    header = Path("/usr/include", HEADERS[machine])
    if not header.exists():
        pytest.skip("needs the kernel's headers")
    numbers = {n: int(at) for n, at in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())}
    newest = max(number for name, number in numbers.items() if name != "syscalls")
    column = list(ARCHITECTURES).index(machine)
    for name, both in (*SYSTEM_CALLS.items(), *call_list._NUMBERS.items()):
        number = both[column]
        assert numbers.get(name) == (number if number is not None and number <= newest else None), name


def test_landlock_rules_speak_of_no_more_than_a_version_knows_and_times_and_lengths_stay():
    """Rights came with versions 2 (refer), 3 (truncate), 5 (ioctl); landlock(7)."""
    for abi, rights in ((1, 13), (2, 14), (3, 15), (4, 15), (5, 16), (7, 16)):
        rules = landlock_rules(abi, ["/usr"], "/scratch")
        assert rules["handled"][0] == 2**rights - 1
        assert len(rules["handled"]) == (1 if abi < 4 else 2 if abi < 6 else 3)
        assert all(access & ~rules["handled"][0] == 0 for _, access in rules["rules"])
    # Landlock restricts no times and, before version 3, no truncation, even of files of root.
    program = sandbox_policy._filter(Isolation(level=IsolationLevel.LANDLOCK), None)
    for name, verdict in (("utimensat", PRETEND), ("truncate", EACCES)):
        assert run_filter(program, number_of(name, platform.machine()), platform.machine()) == verdict


def test_an_interpreter_is_followed_through_links_and_environments(tmp_path, monkeypatch):
    base = tmp_path / "versions" / "3.99"
    (base / "bin").mkdir(parents=True)
    (base / "bin" / "python3").write_bytes(b"\x7fELF")
    environment = tmp_path / "venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(base / "bin" / "python3")
    (environment / "pyvenv.cfg").write_text(f"home = {base / 'bin'}\n")
    script = tmp_path / "tools" / "bot"
    script.parent.mkdir()
    script.write_text("")
    command = (str(environment / "bin" / "python"), "-u", str(script))
    paths = readable_paths.readable_paths(command, (str(script),), "/usr/bin")
    arena = package_directory()
    assert {str(script), str(base), str(environment), str(arena)} <= set(paths)
    assert not {str(tmp_path), str(arena.parent)} & set(paths)


def test_a_home_is_never_opened_for_a_program_in_its_bin(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for place in ("bin", ".local/bin"):
        program = tmp_path / place / "tool"
        program.parent.mkdir(parents=True)
        program.write_bytes(b"\x7fELF")
        paths = readable_paths.readable_paths((str(program),), (), "/usr/bin")
        assert str(program) in paths
        assert not {str(tmp_path), str(tmp_path / ".local")} & set(paths)


def test_closed_doors_are_found_with_what_is_needed_behind_them(tmp_path):
    tmp_path.chmod(0o755)
    closed = tmp_path / "closed"
    (closed / "bot").mkdir(parents=True)
    (closed / "bot" / "file").write_text("")
    (tmp_path / "open").mkdir()
    closed.chmod(0o700)
    outer = next((str(place) for place in reversed(closed.parents) if not place.stat().st_mode & 1), None)
    found = readable_paths.paths_behind_closed_directories((str(closed / "bot"), str(tmp_path / "open")), "/tmp")
    if outer is None:
        assert found == {str(closed): [str(closed / "bot")]}
    else:
        assert found == {outer: [str(closed / "bot"), str(tmp_path / "open")]}


def test_groups_of_both_versions_carry_the_limits():
    limits = Limits(memory_bytes=1000, processes=7)
    (one,) = group_specs(ParentGroups(version=2, directories={"memory": "/m", "pids": "/m"}), limits, "n")
    assert one["settings"]["memory.max"] == "1000"
    assert one["settings"]["pids.max"] == "7"
    memory, pids = group_specs(ParentGroups(version=1, directories={"memory": "/m", "pids": "/p"}), limits, "n")
    assert memory["settings"] == {"memory.limit_in_bytes": "1000"}
    assert pids["settings"] == {"pids.max": "7"}
    assert [group["directory"] for group in (one, memory, pids)] == ["/m/n", "/m/n", "/p/n"]
    parents = ParentGroups(version=1, directories={"memory": "/m", "pids": "/p", "cpuacct": "/c"})
    (*_, accounting) = group_specs(parents, limits, "n")
    assert accounting["directory"] == "/c/n"
    # without waiting, a thread moves itself, or a process is started in the group
    assert [group["join_file"] for group in (one, memory, pids, accounting)] == ["cgroup.procs", *["tasks"] * 3]
    starting = ParentGroups(version=2, directories={"memory": "/m", "pids": "/m"}, starts_inside=True)
    for processes, join_file in ((2, ""), (1, "cgroup.procs")):  # a warm bot's process is started by another
        (one,) = group_specs(starting, Limits(processes=processes), "n")
        assert one["join_file"] == join_file


@pytest.fixture
def group(tmp_path, monkeypatch):
    """Yield the group of this process in a hierarchy of version 2 that is made of plain files."""
    group = tmp_path / "arena.slice" / "arena-checker.service"
    group.mkdir(parents=True)
    monkeypatch.setattr(control_groups, "_groups_of_this_process", lambda: {"": "/arena.slice/arena-checker.service"})
    monkeypatch.setattr(control_groups, "_mounts", lambda: iter([("cgroup2", str(tmp_path), {"rw"})]))
    return group


def test_the_process_moves_below_before_memory_is_divided(group, monkeypatch):
    monkeypatch.setenv(DELEGATED_VARIABLE, "yes")
    assert divide_delegated_group()
    assert (group / "arena" / "cgroup.procs").read_text() == str(os.getpid())
    assert (group / "cgroup.subtree_control").read_text() == "+memory +pids"
    assert DELEGATED_VARIABLE not in os.environ  # what is started from here does not divide again
    assert not divide_delegated_group()


@pytest.mark.parametrize(("given", "files"), [(False, []), (True, ["arena"])])
def test_a_group_that_nobody_has_given_or_that_cannot_be_divided_or_is_of_version_1_stays(
    group, monkeypatch, given, files
):
    monkeypatch.delenv(DELEGATED_VARIABLE, raising=False)
    if given:
        monkeypatch.setenv(DELEGATED_VARIABLE, "yes")
        (group / "arena").write_text("in the way")
    assert not divide_delegated_group()
    assert [path.name for path in group.iterdir()] == files
    monkeypatch.setenv(DELEGATED_VARIABLE, "yes")
    monkeypatch.setattr(control_groups, "_mounts", lambda: iter([("cgroup", "/sys/fs/cgroup/memory", {"memory"})]))
    assert not divide_delegated_group()


NAMESPACE = "import ctypes, json; print(json.dumps(ctypes.CDLL(None).unshare(0x10000000)))"


def test_no_more_of_an_environment_is_read_than_is_allowed(monkeypatch):
    monkeypatch.setattr(procfs, "MAX_ENVIRONMENT_BYTES", 100)
    command = [sys.executable, "-I", "-S", "-c", "import sys; print(flush=True); sys.stdin.read()"]
    environment = {"FIRST": "1", "LONG": "x" * 100_000}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        found = procfs.environment(process.pid)
    assert found[0] == b"FIRST=1"
    assert sum(map(len, found)) < 100


@pytest.mark.parametrize("level", ["none", "limits"])
def test_in_its_user_namespace_a_bot_makes_no_other(level):
    """In it, it could mount file systems in memory that nobody counts."""
    if not choose_isolation("limits").user_namespace:
        pytest.skip("needs user namespaces for bots")
    command = (sys.executable, "-I", "-S", "-c", NAMESPACE)
    bot = Bot(name="b", version="1", command=command, directory=str(Path(sys.executable).parent))
    assert levels.run_test_program(bot, choose_isolation(level)) == -1


@pytest.mark.parametrize(
    ("state", "flags", "hides"),
    [("R", 0x400000, True), ("S", 0x404100, True), ("R", 0x40000C, False), ("Z", 0x40000C, False), ("X", 0, False)],
)
def test_a_process_that_is_exiting_hides_nothing(tmp_path, monkeypatch, state, flags, hides):
    """Its files can't be listed for a moment, in which a busy machine may leave it: PF_EXITING is 4 (linux/sched.h)."""
    (tmp_path / "stat").write_text(f"7 (a b) c) {state} 1 7 7 0 -1 {flags} 0 0\n")
    opened = os.open

    def refuse(path, *arguments):
        if path == f"{tmp_path}/fd":
            raise PermissionError
        return opened(path, *arguments)

    monkeypatch.setattr(procfs.os, "open", refuse)
    assert procfs.is_hidden(str(tmp_path)) == hides


DEEDS = Path(__file__).with_name("deeds.py")

WITHOUT_OWN_DISK = {"allocate beyond a file's end", "leave descriptors in a socket"}
WITHOUT_COUNTED_MEMORY = {
    "map memory that is shared",
    "make rules",
    "leave memory in a pipe",
    "leave a file's pages in a pipe",
    "send a file's pages into a pipe",
}


class Tried(NamedTuple):
    isolation: Isolation
    answers: dict[str, Any]
    file: Path
    before: os.stat_result


@pytest.fixture(scope="module", params=["landlock", "the oldest landlock", "bubblewrap"])
def tried(request, tmp_path_factory):
    *oldest, level = request.param.split()
    needs.isolation(IsolationLevel(level))
    file = tmp_path_factory.mktemp("foreign") / "file"
    with file.open("w") as written:
        written.write("precious")
        os.fsync(written)  # what isn't on disk yet can't be dropped from memory
    file.chmod(0o644)
    with contextlib.suppress(OSError):  # not every file system has attributes
        os.setxattr(file, "user.note", b"x")
    before = file.stat()
    column = list(ARCHITECTURES).index(platform.machine())
    numbers = json.dumps({name: numbers[column] for name, numbers in SYSTEM_CALLS.items()})
    command = (sys.executable, "-I", "-S", str(DEEDS), numbers, str(os.getpid()), str(file))
    isolation = choose_isolation(level)
    own = (str(DEEDS), str(file))
    bot = Bot(name="deeds", version="1", command=command, directory=str(DEEDS.parent), own_files=own)
    with pytest.MonkeyPatch.context() as patched:
        if oldest:
            patched.setattr(sandbox_policy, "landlock_abi", lambda: 1)
        return Tried(isolation, levels.run_test_program(bot, isolation), file, before)


def has_own_disk(isolation):
    bot = Bot(name="any", version="1", command=(sys.executable,), directory=str(DEEDS.parent))
    mounts = make_launch_spec(bot, isolation, Limits(), "/tmp/none")["mounts"]
    return isolation.level == "bubblewrap" or mounts is not None


def test_what_reaches_beyond_a_bot_is_rejected_and_it_finds_only_what_is_its_own(tried):
    allowed = set(WITHOUT_OWN_DISK) if has_own_disk(tried.isolation) else set()
    if tried.isolation.groups:
        allowed |= WITHOUT_COUNTED_MEMORY
    assert {name for name, came in tried.answers["results"].items() if came == "it succeeded"} == allowed
    after = tried.file.stat()
    for what in ("st_mode", "st_uid", "st_gid", "st_size", "st_mtime_ns", "st_ctime_ns"):
        assert getattr(after, what) == getattr(tried.before, what), what
    assert tried.answers["inherited"] == []
    assert set(tried.answers["memory_limits"]) == ({Limits().memory_bytes} if tried.isolation.groups else set())


def test_a_launch_is_worked_out_again_when_what_it_depends_on_has_changed(tmp_path, monkeypatch):
    program = tmp_path / "bot"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sandbox_policy, "_processes_of_user", lambda: 1)
    bot = Bot(name="b", version="1", command=(str(program),), directory=str(tmp_path))
    isolation, limits = Isolation(level=IsolationLevel.LIMITS), Limits()
    first = kept_launch_spec(bot, isolation, limits, "/tmp/none")
    assert {**first, "number": 0} == make_launch_spec(bot, isolation, limits, "/tmp/none")
    numbers = [first["number"]]

    def number_now(bot=bot, isolation=isolation, limits=limits, scratch="/tmp/none"):
        spec = kept_launch_spec(bot, isolation, limits, scratch)
        assert kept_launch_spec(bot, isolation, limits, scratch) is spec
        return spec["number"]

    assert number_now() == numbers[0]
    for changed in (
        {"bot": replace(bot, command=(str(program), "x"))},
        {"isolation": Isolation()},
        {"limits": Limits(file_bytes=1)},
        {"scratch": "/tmp/other"},
    ):
        numbers.append(number_now(**changed))
        assert number_now() == numbers[0]
    program.chmod(0o700)
    numbers.append(number_now())
    monkeypatch.setattr(sandbox_policy, "_processes_of_user", lambda: 12345)
    numbers.append(number_now())
    assert len({*numbers, 0}) == 8
