"""The parts of a confinement: the filter against the kernel's own tables and semantics, paths, sizes, groups."""

import platform
import re
import struct
from pathlib import Path

import pytest

from arena.isolation import reachable
from arena.isolation.control_groups import GroupHome, group_plans
from arena.isolation.landlock import ruleset
from arena.isolation.plans import clean_environment
from arena.isolation.seccomp import _CALLS, ARCHITECTURES, assemble_filter
from arena.records import Limits

ALLOW, KILL, EPERM, EACCES, ENOSYS = 0x7FFF0000, 0x80000000, 0x50001, 0x5000D, 0x50026


def run_filter(program, number, machine="x86_64", architecture=None, arguments=()):
    """Interpret the filter as the kernel does (classic BPF, of which it uses five instructions)."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, architecture or ARCHITECTURES[machine], 0, *padded)
    steps = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at = accumulator = 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif code == 0x06:
            return value
        else:
            truth = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[code]
            at += if_true if truth else if_false


@pytest.fixture(params=ARCHITECTURES)
def machine(request):
    return request.param


def number_of(name, machine):
    return _CALLS[name][list(ARCHITECTURES).index(machine)]


def test_the_filter_refuses_what_is_listed_and_nothing_else(machine):
    program = assemble_filter(machine, may_signal=False, may_memfd=False)
    refused = {number_of(name, machine): name for name in _CALLS} | {}
    for number in range(470):
        verdict = run_filter(program, number, machine)
        if number not in refused or refused[number] in ("clone", "ioctl", "prlimit64", "kill"):
            assert verdict == ALLOW, number
        elif refused[number] == "personality":
            assert verdict == EPERM
        else:
            assert verdict in (EPERM, EACCES, ENOSYS), refused[number]


@pytest.mark.parametrize(
    ("name", "arguments", "verdict"),
    [
        ("clone", (0x3D0F00,), ALLOW),  # as pthread_create calls it
        ("clone", (0x01200011,), ALLOW),  # as fork calls it
        ("clone", (0x10000000,), EPERM),  # CLONE_NEWUSER
        ("clone", (0x40000000 | 17,), EPERM),  # CLONE_NEWNET
        ("prlimit64", (0, 7), ALLOW),
        ("prlimit64", (1234, 7), EPERM),
        ("ioctl", (1, 0x5401), ALLOW),  # TCGETS
        ("ioctl", (1, 0x5412), EPERM),  # TIOCSTI
        ("ioctl", (1, 0x541C), EPERM),  # TIOCLINUX
        ("personality", (0xFFFFFFFF,), ALLOW),
        ("personality", (0x40000,), EPERM),
        ("kill", (0, 9), ALLOW),
        ("kill", (1234, 9), EPERM),
    ],
)
def test_arguments_decide(machine, name, arguments, verdict):
    program = assemble_filter(machine, may_signal=False, may_memfd=False)
    assert run_filter(program, number_of(name, machine), machine, arguments=arguments) == verdict


def test_signals_and_memfd_can_be_left_to_others(machine):
    program = assemble_filter(machine, may_signal=True, may_memfd=True)
    for name in ("kill", "tgkill", "memfd_create"):
        assert run_filter(program, number_of(name, machine), machine, arguments=(1234,)) == ALLOW


def test_calls_of_another_architecture_kill(machine):
    program = assemble_filter(machine, may_signal=True, may_memfd=True)
    assert run_filter(program, 1, machine, architecture=0x40000003) == KILL  # i386
    if machine == "x86_64":
        assert run_filter(program, 0x40000000 | 41, machine) == KILL  # x32


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the header is of this machine's architecture")
def test_the_numbers_are_those_of_the_kernels_header():
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if not header.exists():
        pytest.skip("the kernel's headers are not installed")
    numbers = dict(re.findall(r"#define __NR_(\w+) (\d+)", header.read_text()))
    for name, (number, _) in _CALLS.items():
        assert str(number) == numbers[name], name


def test_landlock_rules_speak_of_no_more_than_a_version_knows():
    """Rights came with versions 2 (refer), 3 (truncate), 5 (ioctl); landlock(7)."""
    for abi, rights in ((1, 13), (2, 14), (3, 15), (4, 15), (5, 16), (7, 16)):
        rules = ruleset(abi, ["/usr"], "/scratch")
        assert rules["handled"][0] == 2**rights - 1
        assert len(rules["handled"]) == (1 if abi < 4 else 2 if abi < 6 else 3)
        assert all(access & ~rules["handled"][0] == 0 for _, access in rules["rules"])


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
    paths = reachable.readable_paths(command, (str(script),), "/usr/bin")
    assert {str(script), str(base), str(environment)} <= set(paths)
    assert str(tmp_path) not in paths


def test_a_home_is_never_opened_for_a_program_in_its_bin(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for place in ("bin", ".local/bin"):
        program = tmp_path / place / "tool"
        program.parent.mkdir(parents=True)
        program.write_bytes(b"\x7fELF")
        paths = reachable.readable_paths((str(program),), (), "/usr/bin")
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
    found = reachable.behind_closed_doors((str(closed / "bot"), str(tmp_path / "open")), "/tmp")
    if outer is None:
        assert found == {str(closed): [str(closed / "bot")]}
    else:
        assert found == {outer: [str(closed / "bot"), str(tmp_path / "open")]}


def test_groups_of_both_versions_carry_the_limits():
    limits = Limits(memory_bytes=1000, processes=7)
    (one,) = group_plans(GroupHome(2, {"memory": "/m", "pids": "/m"}), limits)
    assert one["settings"]["memory.max"] == "1000"
    assert one["settings"]["pids.max"] == "7"
    memory, pids = group_plans(GroupHome(1, {"memory": "/m", "pids": "/p"}), limits)
    assert memory["settings"] == {"memory.limit_in_bytes": "1000"}
    assert pids["settings"] == {"pids.max": "7"}
    assert memory["directory"] != one["directory"]


def test_the_environment_holds_nothing_of_the_operators(monkeypatch):
    monkeypatch.setenv("SECRET", "1")
    environment = clean_environment("/scratch")
    assert environment["HOME"] == environment["TMPDIR"] == "/scratch"
    assert "SECRET" not in environment
