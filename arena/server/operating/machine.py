"""What there is to know about a machine and a home before strangers enter: looked up here, judged elsewhere."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import socket
import stat
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from arena.base.errors import ArenaError, NoHomeError
from arena.community.uploads.containment import can_contain_uploads
from arena.server.operating.parts import WEB
from arena.store.home import DATABASE_FILE, PEOPLE_FILE, ArenaHome, has_people, open_people
from arena.store.people.values import Role
from arena.store.results.lock import is_file_locked
from arena.tournament.executors.worker_start import available_cores

NEEDED = ("starlette", "uvicorn", "httptools", "argon2", "python_multipart", "cryptography")

_TIME_ERROR = 5
"""What ``adjtimex`` returns if nothing keeps the clock right."""
_TIMEX_BYTES = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine and a home. Problems and refusals are sentences, "" without one.

    Attributes:
        refusal: why this machine can't contain uploads of strangers.
        missing_packages: of those the site needs.
        cores: that may be used.
        memory_bytes: of the machine, or of the control group; None if unknown.
        descriptors: that a process may have open.
        home_mode: as ``stat`` has it; None without a home.
        people_mode: as ``home_mode``, of the file of people; None without one.
        operators: how many people may manage people and can sign in; None without a database of people.
        invited_operators: who may manage people, but has not opened the link yet.
        is_clock_kept: whether the clock is kept right; None if unknown.
        clock_behind_seconds: how far the last change of the results lies in the future; 0 if in the past.
        has_https: whether this machine answers on the port of https.
    """

    refusal: str
    containment: str
    missing_packages: tuple[str, ...]
    cores: int
    memory_bytes: int | None
    disk_free_bytes: int
    descriptors: int
    is_root: bool
    home_problem: str
    home_mode: int | None
    is_home_own: bool
    people_problem: str
    people_mode: int | None
    operators: int | None
    invited_operators: tuple[str, ...]
    is_clock_kept: bool | None
    clock_behind_seconds: float
    is_served: bool
    port_problem: str
    has_https: bool


def look_at(directory: Path, store: str | None, host: str, port: int) -> Machine:
    """Inspect this machine and a home, without changing either."""
    containment = can_contain_uploads()
    people_problem, operators, invited = _people(directory)
    results = directory / DATABASE_FILE
    return Machine(
        refusal="" if containment.is_enough else containment.reason,
        containment=containment.reason,
        missing_packages=tuple(name for name in NEEDED if find_spec(name) is None),
        cores=len(available_cores()),
        memory_bytes=_memory_bytes(),
        disk_free_bytes=_free_bytes(directory),
        descriptors=resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        is_root=os.geteuid() == 0,
        home_problem=_home_problem(directory, store),
        home_mode=_mode(directory),
        is_home_own=not directory.exists() or directory.stat().st_uid == os.geteuid(),
        people_problem=people_problem,
        people_mode=_mode(directory / PEOPLE_FILE),
        operators=operators,
        invited_operators=invited,
        is_clock_kept=_is_clock_kept(),
        clock_behind_seconds=max(0.0, results.stat().st_mtime - time.time()) if results.exists() else 0.0,
        is_served=is_file_locked(directory / "parts" / f"{WEB}.lock"),
        port_problem=_port_problem(host, port),
        has_https=_answers(443),
    )


def _mode(path: Path) -> int | None:
    return stat.S_IMODE(path.stat().st_mode) if path.exists() else None


def _home_problem(directory: Path, store: str | None) -> str:
    try:
        with ArenaHome(directory, must_exist=True, store=store):
            return ""
    except NoHomeError:
        return ""
    except ArenaError as error:
        return str(error)


def _people(directory: Path) -> tuple[str, int | None, tuple[str, ...]]:
    try:
        if not has_people(directory):
            return "", None, ()
        with open_people(directory) as people:
            everybody = people.accounts.all()
    except ArenaError as error:
        return str(error), None, ()
    operators = [person for person in everybody if person.role is Role.OPERATOR and person.closed_at is None]
    invited = tuple(person.name for person in operators if not person.has_password)
    return "", len(operators) - len(invited), invited


def _memory_bytes() -> int | None:
    found = []
    with contextlib.suppress(OSError, ValueError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with contextlib.suppress(OSError, ValueError):
        found.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(found, default=None)


def _free_bytes(directory: Path) -> int:
    there = next(place for place in (directory, *directory.parents) if place.exists())
    disk = os.statvfs(there)
    return disk.f_bavail * disk.f_frsize


def _is_clock_kept() -> bool | None:
    if sys.platform != "linux":
        return None
    with contextlib.suppress(AttributeError, OSError):
        return bool(ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES)) != _TIME_ERROR)
    return None


def _port_problem(host: str, port: int) -> str:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((host, port))
        except OSError as error:
            return os.strerror(error.errno) if error.errno else str(error)
    return ""


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False
