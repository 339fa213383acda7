"""Checks of a machine and a home before a site runs on them: what would fail, and how to mend it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from arena.base.errors import ArenaError, NoHomeError
from arena.base.records import MEBIBYTE, Limits
from arena.base.text import counted, short_size_text
from arena.community.submissions.upload_directory import SPARE_BYTES, can_contain_uploads
from arena.sandbox.isolation.levels import NO_CONTROL_GROUPS
from arena.server.operating.service_programs import WEB
from arena.store.home import DATABASE_FILE, PEOPLE_FILE, ArenaHome, has_people, open_people
from arena.store.people.values import Role
from arena.store.results.lock import is_file_locked
from arena.tournament.executors.worker_start import available_cores

NEEDED = ("starlette", "uvicorn", "httptools", "argon2", "python_multipart", "cryptography")

_TIME_ERROR = 5
"""What ``adjtimex`` returns if nothing keeps the clock right."""
_TIMEX_BYTES = 512


TO_GET_GROUPS = (
    "As this user: systemd-run --user --scope -p Delegate=yes arena serve …, or by units (arena site units)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine and a home. Problems and refusals are sentences, "" without one; modes are as ``stat`` has them.

    Attributes:
        refusal: why this machine can't contain uploads of strangers.
        memory_bytes: of the machine, or of the control group; None if unknown.
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
    people_problem, operators, invited = _people_state(directory)
    home, results = _status(directory), _status(directory / DATABASE_FILE)
    return Machine(
        refusal=containment.refusal,
        containment=containment.reason,
        missing_packages=tuple(name for name in NEEDED if find_spec(name) is None),
        cores=len(available_cores()),
        memory_bytes=_memory_bytes(),
        disk_free_bytes=_free_bytes(directory),
        descriptors=resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        is_root=os.geteuid() == 0,
        home_problem=_home_problem(directory, store),
        home_mode=_mode(directory),
        is_home_own=home is None or home.st_uid == os.geteuid(),
        people_problem=people_problem,
        people_mode=_mode(directory / PEOPLE_FILE),
        operators=operators,
        invited_operators=invited,
        is_clock_kept=_is_clock_kept(),
        clock_behind_seconds=max(0.0, results.st_mtime - time.time()) if results is not None else 0.0,
        is_served=is_file_locked(directory / "parts" / f"{WEB}.lock"),
        port_problem=_port_problem(host, port),
        has_https=_answers(443),
    )


def _status(path: Path) -> os.stat_result | None:
    with contextlib.suppress(OSError):  # of a home that this user can't enter, what opens it says more
        return path.stat()
    return None


def _mode(path: Path) -> int | None:
    status = _status(path)
    return stat.S_IMODE(status.st_mode) if status is not None else None


def _home_problem(directory: Path, store: str | None) -> str:
    try:
        with ArenaHome(directory, must_exist=True, store=store):
            return ""
    except NoHomeError:
        return ""
    except ArenaError as error:
        return str(error)


def _people_state(directory: Path) -> tuple[str, int | None, tuple[str, ...]]:
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
    sizes = []
    with contextlib.suppress(OSError, ValueError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with contextlib.suppress(OSError, ValueError):
        sizes.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(sizes, default=None)


def _free_bytes(directory: Path) -> int:
    existing = next(path for path in (directory, *directory.parents) if _status(path) is not None)
    disk = os.statvfs(existing)
    return disk.f_bavail * disk.f_frsize


def _is_clock_kept() -> bool | None:
    if sys.platform != "linux":
        return None
    with contextlib.suppress(AttributeError, OSError):
        return bool(ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES)) != _TIME_ERROR)
    return None


def _port_problem(host: str, port: int) -> str:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            return os.strerror(error.errno) if error.errno else str(error)
    return ""


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


# What a machine can safely offer to strangers, and what must be mended first: a sentence for each thing.

GIBIBYTE = 1024 * MEBIBYTE
BOTS_OF_A_MATCH = 2
MATCHES_AT_ONCE = 2
"""One of a ladder, and one of the checker."""
ENOUGH_DISK_BYTES = 10 * GIBIBYTE
ENOUGH_DESCRIPTORS = 8192
"""For 4,000 readers of events, and requests beside them."""
ALLOWED_CLOCK_SECONDS = 60.0


class Verdict(StrEnum):
    """What is thought of a thing."""

    OK = "ok"
    NOTE = "note"
    MEND = "mend"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about a thing: what is so, and what to do about it."""

    verdict: Verdict
    thing: str
    sentence: str


_Result = tuple[Verdict, str]


def findings(machine: Machine) -> list[Finding]:
    """Return what was found, in the order in which one mends it."""
    found = [(thing, check(machine)) for thing, check in _CHECKS.items()]
    return [Finding(result[0], thing, result[1]) for thing, result in found if result is not None]


def must_be_mended(found: list[Finding]) -> Iterator[Finding]:
    """Yield what must be mended before strangers enter."""
    return (finding for finding in found if finding.verdict is Verdict.MEND)


def _packages(machine: Machine) -> _Result:
    if machine.missing_packages:
        return Verdict.MEND, f"missing: {', '.join(machine.missing_packages)}; try: pip install 'grid-arena[web]'."
    return Verdict.OK, "what the site needs is installed."


def _user(machine: Machine) -> _Result:
    if machine.is_root:
        return Verdict.NOTE, "this is root; a user of its own should run the arena: useradd --system arena."
    return Verdict.OK, "an ordinary user, not root."


def _isolation(machine: Machine) -> _Result:
    if machine.refusal:
        way = f" {TO_GET_GROUPS}" if NO_CONTROL_GROUPS in machine.refusal else ""
        return (
            Verdict.MEND,
            f"the site takes none from strangers: they {machine.refusal.removeprefix('uploads ')}.{way}",
        )
    return Verdict.OK, f"they {machine.containment.removeprefix('uploads ')}."


def _cores(machine: Machine) -> _Result:
    if machine.cores == 1:
        return Verdict.NOTE, "one core: the site, the checker and a ladder share it; two are better."
    return Verdict.OK, f"{machine.cores}: a ladder plays up to {counted(machine.cores - 1, 'match')} at a time."


def _memory(machine: Machine) -> _Result:
    wanted = Limits().memory_bytes
    if machine.memory_bytes is None:
        return Verdict.NOTE, "its size is unknown here."
    size = short_size_text(machine.memory_bytes)
    allowed = f"{size}, and a bot may use {short_size_text(wanted)}, unless a ladder's file says memory_bytes"
    if machine.memory_bytes < wanted:
        return Verdict.MEND, f"{allowed}: one bot can take all of it; add memory or set memory_bytes."
    if machine.memory_bytes < wanted * BOTS_OF_A_MATCH * MATCHES_AT_ONCE:
        return Verdict.NOTE, f"{allowed}: it is too little for four bots that use all they may."
    return Verdict.OK, f"{allowed}."


def _disk(machine: Machine) -> _Result:
    free = f"{short_size_text(machine.disk_free_bytes)} free"
    if machine.disk_free_bytes < SPARE_BYTES:
        return Verdict.MEND, f"{free}: below {short_size_text(SPARE_BYTES)} the site takes no uploads; free some space."
    if machine.disk_free_bytes < ENOUGH_DISK_BYTES:
        return Verdict.NOTE, f"{free}, which is little for uploads and records; check it often."
    return Verdict.OK, f"{free}."


def _descriptors(machine: Machine) -> _Result:
    may_open = f"a process may open {f'{machine.descriptors:,}' if machine.descriptors >= 0 else 'any number of'}"
    if 0 <= machine.descriptors < ENOUGH_DESCRIPTORS:
        return Verdict.NOTE, f"{may_open}: enough for few visitors only; set LimitNOFILE=65536, or ulimit -Hn."
    return Verdict.OK, f"{may_open}."


def _home(machine: Machine) -> _Result:
    if machine.home_problem:
        return Verdict.MEND, f"{machine.home_problem}."
    if machine.home_mode is None:
        return Verdict.NOTE, "it does not exist yet; arena site people add makes it."
    if not machine.is_home_own:
        return Verdict.MEND, "it belongs to another user; run this as that user, or chown it."
    mode = f"mode {machine.home_mode:04o}"
    if machine.home_mode & 0o022:
        return Verdict.MEND, f"others can write in it ({mode}): chmod 0700 it."
    if machine.home_mode & 0o055:
        return Verdict.NOTE, f"others on this machine can look into it ({mode}): chmod 0700 it."
    return Verdict.OK, f"the results can be opened, and it is private ({mode})."


def _people(machine: Machine) -> _Result:
    if machine.people_problem:
        return Verdict.MEND, f"{machine.people_problem}."
    if machine.people_mode is not None and machine.people_mode & 0o077:
        return Verdict.MEND, f"others can read people.sqlite3 (mode {machine.people_mode:04o}): chmod 0600 it."
    if machine.operators is None:
        return Verdict.OK, "there is no database of people yet."
    return Verdict.OK, "their database can be opened, by this user alone."


def _operators(machine: Machine) -> _Result | None:
    if machine.people_problem:
        return None
    if machine.operators:
        return Verdict.OK, f"{counted(machine.operators, 'operator')} can sign in."
    if machine.invited_operators:
        name = machine.invited_operators[0]
        return (
            Verdict.MEND,
            f"{name} is invited but has not opened the link yet; a new one: arena site people link {name}.",
        )
    return Verdict.MEND, "nobody can sign in who manages people: arena site people add NAME --role operator."


def _clock(machine: Machine) -> _Result:
    if machine.clock_behind_seconds > ALLOWED_CLOCK_SECONDS:
        return Verdict.MEND, "the results were changed in its future: set the clock, for deadlines are kept by it."
    if machine.is_clock_kept is False:
        return (
            Verdict.NOTE,
            "nothing keeps it right, and deadlines are kept by it: install chrony or systemd-timesyncd.",
        )
    return Verdict.OK, "kept right by the system." if machine.is_clock_kept else "plausible."


def _address(machine: Machine) -> _Result:
    if machine.is_served:
        return Verdict.OK, "the site of this home runs now."
    if machine.port_problem:
        problem = f"can't be listened on: {machine.port_problem.lower()}"
        return Verdict.MEND, f"{problem}; choose another --port, unless arena-web.socket has it."
    return Verdict.OK, "free to be listened on."


def _https(machine: Machine) -> _Result:
    if machine.has_https:
        sentence = "something answers on port 443; name it with --trusted-proxy 127.0.0.1 if it passes requests on."
        return Verdict.OK, sentence
    sentence = (
        "nothing answers on port 443 here: over a network, accounts need a web server with a certificate in front"
        " (docs/operators.md), and --trusted-proxy with its address."
    )
    return Verdict.NOTE, sentence


_CHECKS: Mapping[str, Callable[[Machine], _Result | None]] = {
    "packages": _packages,
    "user": _user,
    "uploads": _isolation,
    "cores": _cores,
    "memory": _memory,
    "disk": _disk,
    "files": _descriptors,
    "home": _home,
    "people": _people,
    "operators": _operators,
    "clock": _clock,
    "address": _address,
    "https": _https,
}
