"""Which files a bot's program needs beside the bot's own: its interpreter, and that one's libraries.

An interpreter may live anywhere: in /usr, in a virtual environment, under pyenv or nvm in somebody's home. It is found
as the kernel finds it, by links and ``#!`` lines, and by ``pyvenv.cfg`` (PEP 405). What a step may lead to depends on
whose file says so, for a bot's files are written by strangers:

=============  =====================================================================================================
a bot's file   links and ``#!`` lines lead to the system's programs and to the arena's own Python, and nowhere else
the command    also to a runtime that can be recognised as one, anywhere; of another program it opens only the file
another file   what the system, the arena's Python or such a runtime leads to is taken as it is
=============  =====================================================================================================

Of a runtime only the directories that a runtime consists of are opened, never a home, and nothing of another bot's.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")

_NO_PROGRAMS = ("/proc", "/sys", "/dev")
_PROGRAM_DIRECTORIES = ("bin", "sbin", "shims", "libexec", "Scripts")
_RUNTIME_PARTS = frozenset(
    (
        *("bin", "sbin", "lib", "lib32", "lib64", "libexec", "include", "share", "man", "conf", "jmods", "legal"),
        *("pkg", "release", "VERSION", "go.env", "pyvenv.cfg"),
        *("shims", "versions", "version", "plugins", "installs"),
    )
)
_RUNTIME_MARKS = (
    "pyvenv.cfg",
    "include/node",
    "lib/node_modules/npm",
    "lib/jvm.cfg",
    "lib/rustlib",
    "lib/gcc",
    "lib/clang",
    "lib/ruby",
    "lib/julia",
    "lib/erlang",
    "lib/ocaml",
    "lib/system.nim",
    "pkg/tool",
    "libexec/pyenv",
    "libexec/rbenv",
    "libexec/nodenv",
)
_MANIFEST = "bot.toml"
_ENV = ("/usr/bin/env", "/bin/env")
_MAX_STEPS = 16
_MAX_ENTRIES = 1000
_FIRST_LINE_BYTES = 256
_CONFIGURATION_BYTES = 64 * 1024


class ResolvedProgram(NamedTuple):
    """Where a program leads.

    Attributes:
        paths: files and directories that it needs beside the bot's own and the system's.
        refused: the first program on the way that the bot may not use; empty if there is none.
    """

    paths: tuple[str, ...]
    refused: str = ""


class _NamedBy(Enum):
    """Whose file names a program."""

    BOT = auto()
    COMMAND = auto()
    UNKNOWN = auto()  # a program named by the command that is not known as a runtime
    RUNTIME = auto()
    SYSTEM = auto()


@functools.lru_cache(maxsize=256)
def resolve_program(program: str, own: tuple[str, ...], path: str) -> ResolvedProgram:
    """Follow a program to its interpreter.

    Args:
        program: the first word of a bot's command.
        own: the bot's own files: its directory, or the single program.
        path: its PATH, for a program without a slash.
    """
    if not program:
        return ResolvedProgram(())
    own = tuple(os.path.realpath(file) for file in own)
    base = own[0] if own and os.path.isdir(own[0]) else os.path.dirname(own[0]) if own else "/"
    found: set[str] = set()
    refused = ""
    waiting = [(_NamedBy.COMMAND, program)] if "/" in program else [*_on_path(program, path)]
    for _ in range(_MAX_STEPS):
        if not waiting:
            break
        named_by, name = waiting.pop()
        place = _program_at(os.path.join(base, name))
        if place is None:
            continue
        if is_below(_canonical(place), own):
            waiting += [(_NamedBy.BOT, other) for other in (*_link(place), *_interpreter(place))]
            waiting += [(_NamedBy.SYSTEM, other) for other in _started_by_env(place, path)]
            continue
        if is_below(place, own):  # through a link to a directory
            named_by = _NamedBy.BOT
        granted = _granted(place, named_by)
        if granted is None:
            refused = refused or place
            continue
        found |= granted.paths
        waiting += [
            (granted.leads_on_as, other) for other in (*_link(place), *_interpreter(place), *_base_of_venv(place))
        ]
        waiting += [(_NamedBy.SYSTEM, other) for other in _started_by_env(place, path)]
    return ResolvedProgram(tuple(sorted(found)), refused)


class _Granted(NamedTuple):
    paths: set[str]
    leads_on_as: _NamedBy


def _granted(place: str, named_by: _NamedBy) -> _Granted | None:
    """Return what of a program that is not the bot's own may be read; None if nothing may."""
    real = _canonical(place)
    if is_below(real, SYSTEM):
        return _Granted(set(), _NamedBy.SYSTEM)
    if is_below(real, arena_python()):
        return _Granted({*arena_python()}, _NamedBy.SYSTEM)
    if named_by is _NamedBy.BOT or (named_by is not _NamedBy.SYSTEM and _is_of_a_bot(os.path.dirname(real))):
        return None
    above = _directory_above(place)
    if above is not None and named_by is _NamedBy.SYSTEM:
        return _Granted({above}, _NamedBy.RUNTIME)
    if above is not None and (named_by is _NamedBy.RUNTIME or _is_runtime(above)):
        parts = runtime_parts(above)
        return _Granted(parts if is_below(place, tuple(parts)) else {place, *parts}, _NamedBy.RUNTIME)
    if named_by is _NamedBy.UNKNOWN:
        return None
    return _Granted({place}, _NamedBy.UNKNOWN if named_by is _NamedBy.COMMAND else _NamedBy.RUNTIME)


def arena_interpreter() -> str:
    """Return the program that the arena runs on, without the "..", which lead nowhere in a bot's view of the files."""
    directory, name = os.path.split(sys.executable)
    return os.path.join(os.path.realpath(directory), name)


@functools.lru_cache(maxsize=1)
def arena_python() -> tuple[str, ...]:
    """Return the directories of the Python that the arena runs on."""
    found: set[str] = set()
    for prefix in (os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)):
        found.update(runtime_parts(prefix) if holds_a_home(prefix) else {prefix})
    return tuple(sorted(found))


def runtime_parts(directory: str) -> set[str]:
    """Return what a runtime consists of: its whole directory, or, where there is more in it, the known parts."""
    try:
        with os.scandir(directory) as listing:
            names = {entry.name for entry, _ in zip(listing, range(_MAX_ENTRIES), strict=False)}
    except OSError:
        return set()
    if names <= _RUNTIME_PARTS and not holds_a_home(directory):
        return {directory}
    parts = names & (_RUNTIME_PARTS | ({"src"} if os.path.isdir(f"{directory}/pkg/tool") else set()))
    root = (os.path.realpath(directory),)
    return {place for name in parts if is_below(os.path.realpath(place := f"{directory}/{name}"), root)}


def _directory_above(place: str) -> str | None:
    """Return the directory that an interpreter in ``…/bin`` has its libraries in; None if that is no such directory."""
    directory = os.path.dirname(place)
    above = os.path.dirname(directory)
    if os.path.basename(directory) not in _PROGRAM_DIRECTORIES or holds_a_home(above):
        return None
    return above


def _is_runtime(directory: str) -> bool:
    """Tell whether a directory is that of a language's runtime, by files that only runtimes have."""
    if any(os.path.exists(f"{directory}/{mark}") for mark in _RUNTIME_MARKS):
        return True
    with contextlib.suppress(OSError), os.scandir(f"{directory}/lib") as listing:
        for entry, _ in zip(listing, range(_MAX_ENTRIES), strict=False):
            if entry.name.startswith(("python3", "pypy3")) and os.path.exists(f"{entry.path}/os.py"):
                return True
    return False


def _is_of_a_bot(directory: str) -> bool:
    """Tell whether a directory belongs to a bot: not to the one in question, whose files have been dealt with."""
    for place in (directory, *map(str, Path(directory).parents)):
        if holds_a_home(place):
            return False
        if os.path.lexists(f"{place}/{_MANIFEST}"):
            return True
    return False


def holds_a_home(directory: str) -> bool:
    """Tell whether a directory is a home, ``~/.local``, or above one: reading all of it would tell secrets."""
    home = os.path.realpath(os.path.expanduser("~"))
    real = os.path.realpath(directory)
    shared = {"/", "/home", "/root", "/tmp", "/var", "/var/tmp", "/etc", "/opt", "/srv", "/mnt", "/media"}
    return real in shared or real == f"{home}/.local" or is_below(home, (real,)) or os.path.dirname(real) == "/home"


def is_below(path: str, roots: tuple[str, ...]) -> bool:
    """Tell whether a path is one of ``roots`` or lies below one, by their names."""
    return any(path == root or path.startswith(f"{root.rstrip('/')}/") for root in roots)


def _on_path(program: str, path: str) -> Iterator[tuple[_NamedBy, str]]:
    found = shutil.which(program, path=path)
    if found is not None:
        yield _NamedBy.SYSTEM, found


def _program_at(name: str) -> str | None:
    """Return the absolute path of a program, as far as possible by the name it was given; None if it is no file."""
    place = os.path.abspath(name)
    try:
        if os.path.realpath(place) != os.path.realpath(name):  # with ".." behind a link
            place = os.path.realpath(name)
        is_file = stat.S_ISREG(os.stat(place).st_mode)
    except (OSError, ValueError):
        return None
    is_none = is_below(place, _NO_PROGRAMS) or is_below(os.path.realpath(place), _NO_PROGRAMS)
    return place if is_file and not is_none else None


def _canonical(place: str) -> str:
    """Return a path with the links in its directories followed, but not one at its end."""
    return os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))


def _link(place: str) -> Iterator[str]:
    with contextlib.suppress(OSError):
        if os.path.islink(place):
            yield os.path.join(os.path.dirname(place), os.readlink(place))
        elif os.path.realpath(place) != place:
            yield os.path.realpath(place)


def _first_line(place: str) -> list[str]:
    """Return the words of a ``#!`` line; none if there is no such line."""
    line = _beginning(place, _FIRST_LINE_BYTES).partition(b"\n")[0]
    return os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []


def _interpreter(place: str) -> Iterator[str]:
    yield from _first_line(place)[:1]


def _started_by_env(place: str, path: str) -> Iterator[str]:
    """Yield the program on PATH that ``env`` will start; one with a slash is not looked for."""
    words = _first_line(place)
    if words[:1] and words[0] in _ENV:
        name = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
        if name and "/" not in name:
            yield from (found for _, found in _on_path(name, path))


def _base_of_venv(place: str) -> Iterator[str]:
    """Yield the interpreter a virtual environment was made from (PEP 405)."""
    configuration = os.path.join(os.path.dirname(os.path.dirname(place)), "pyvenv.cfg")
    for line in os.fsdecode(_beginning(configuration, _CONFIGURATION_BYTES)).splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home" and os.path.isabs(value.strip()):
            yield os.path.join(value.strip(), "python3")


def _beginning(place: str, max_bytes: int) -> bytes:
    """Return how a plain file begins; nothing for what is none, cannot be read, or would make us wait."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(descriptor, max_bytes) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)
