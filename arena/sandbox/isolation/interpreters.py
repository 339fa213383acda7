"""The places that belong to a bot, and the interpreter that its program needs beside them."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple

from arena.base.known_server import FILES
from arena.base.records import Bot
from arena.base.shipped import cache_directory, path_of

# Which places belong to a bot that was submitted, to another bot, or to a user whose files may be secret.

_MANIFEST = "bot.toml"
HOME_MARKS = ("arena.sqlite3", "people.sqlite3", *FILES.values())
_PARTS_OF_A_HOME = ("bots", "uploads", "contests")
_WORKING_DIRECTORIES = ("arena-bot-", "arena-node-", "arena-upload-", "arena-outside-")
"""The beginnings of the names of directories in which bots, workers and uploads have their files."""

_SUBMITTED = re.compile(r"/(bots/[0-9a-f]{16}|arena-upload-[^/]*)(/|$)")
"""Where homes keep submitted bots, each under the digest of its files, and where archives are unpacked."""

SUBMITTED_RULE = (
    "expected a file of the bot, a name on its PATH, or a program of the system or of the arena's Python; others are"
    " for bots in place: those that a tournament file names by their path, and arena check with --in-place"
)


def is_submitted(bot: Bot) -> bool:
    """Return whether a bot was submitted: by its own field, or by its directory.

    The field is not enough, because tournaments of earlier versions have not stored it.
    """
    return bot.submitted or _SUBMITTED.search(os.path.realpath(bot.directory)) is not None


def belongs_to_a_bot(directory: str) -> bool:
    """Return whether a directory is that of a bot, or where the arena keeps files of bots: in a home or for a worker.

    A submitted bot that is a single file has no manifest beside it.
    """
    if _SUBMITTED.search(directory):
        return True
    cache = cache_directory()
    if cache is not None and is_below(directory, (os.path.realpath(cache),)):
        return True
    for ancestor in (Path(directory), *Path(directory).parents):
        if contains_a_home(str(ancestor)):
            return False
        if ancestor.name.startswith(_WORKING_DIRECTORIES) or os.path.lexists(ancestor / _MANIFEST):
            return True
        if ancestor.name in _PARTS_OF_A_HOME and any(os.path.lexists(ancestor.parent / mark) for mark in HOME_MARKS):
            return True
    return False


def contains_a_home(directory: str) -> bool:
    """Return whether a directory is a home or ``~/.local``, or lies above one: what is in it may be secret."""
    home = os.path.realpath(os.path.expanduser("~"))
    real = os.path.realpath(directory)
    shared = {"/", "/home", "/root", "/tmp", "/var", "/var/tmp", "/etc", "/opt", "/srv", "/mnt", "/media"}
    return real in shared or real == f"{home}/.local" or is_below(home, (real,)) or os.path.dirname(real) == "/home"


def is_below(path: str, roots: tuple[str, ...]) -> bool:
    """Return whether a path is one of ``roots`` or lies below one, by their names."""
    return any(path == root or path.startswith(f"{root.rstrip('/')}/") for root in roots)


# The files that a bot's program needs beside the bot's own: its interpreter, and the interpreter's libraries.
#
# An interpreter may be anywhere: in /usr, in a virtual environment, under pyenv or nvm in a home. It is found as the
# kernel finds it, by links and ``#!`` lines, and by ``pyvenv.cfg`` (PEP 405). Bots are written by strangers, so what a
# step may lead to depends on the file that names it:
#
# =============  =====================================================================================================
# a bot's file   links and ``#!`` lines lead to the system's programs and to the arena's own Python, and nowhere else;
#                so does the command of a bot that somebody has submitted
# the command    of a bot in place, also to a recognisable runtime, anywhere; of any other program, it opens only the
# file another file   everything that the system, the arena's Python or such a runtime leads to is accepted
# =============  =====================================================================================================
#
# Only the directories that a runtime consists of are opened: never a home, and nothing that belongs to another bot.

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")

_NO_PROGRAMS = ("/proc", "/sys", "/dev")
_PROGRAM_DIRECTORIES = ("bin", "sbin", "shims", "libexec", "Scripts")
_RUNTIME_PARTS = frozenset(
    (
        *("bin", "sbin", "lib", "lib32", "lib64", "libexec", "include", "share", "man", "conf", "jmods", "legal"),
        *("pkg", "release", "VERSION", "go.env"),
        *("pyvenv.cfg", ".gitignore", ".lock", "CACHEDIR.TAG"),
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
_ENV = ("/usr/bin/env", "/bin/env")
_MAX_STEPS = 16
_MAX_ENTRIES = 1000
_FIRST_LINE_BYTES = 256
_CONFIGURATION_BYTES = 64 * 1024


class ResolvedProgram(NamedTuple):
    """The files that a program leads to.

    Attributes:
        refused: the first program on the way that the bot may not use; empty if it may use all.
        is_systems: whether a program of the system is among them: a shell or ``make`` may start ``python3`` on PATH.
        looked_at: the files, there or not, and the directories that all this depends on.
    """

    paths: tuple[str, ...]
    refused: str = ""
    is_systems: bool = False
    looked_at: tuple[str, ...] = ()


class _NamedBy(Enum):
    BOT = auto()
    COMMAND = auto()
    UNKNOWN = auto()  # a program named by the command that is not recognised as a runtime
    RUNTIME = auto()
    SYSTEM = auto()


@functools.lru_cache(maxsize=256)
def resolve_program(program: str, own: tuple[str, ...], path: str, submitted: bool = False) -> ResolvedProgram:
    """Follow a program to its interpreter."""
    if not program:
        return ResolvedProgram(())
    own = tuple(os.path.realpath(file) for file in own)
    first = own[0] if own else "/"
    base = first if os.path.isdir(first) else os.path.dirname(first)
    needed, looked_at = set[str](), set[str]()
    refused, is_systems = "", False
    waiting = [(_NamedBy.BOT if submitted else _NamedBy.COMMAND, program)]
    if "/" not in program:
        looked_at |= {*path.split(os.pathsep)}
        waiting = [(_named_by_path(file, submitted), file) for file in _on_path(program, path)]
    for _ in range(_MAX_STEPS):
        if not waiting:
            break
        named_by, name = waiting.pop()
        location = os.path.join(base, name)
        file = _program_file(location)
        if file is None:
            location = os.path.abspath(location)
            looked_at.add(location)
            if submitted and named_by is _NamedBy.BOT and not is_below(location, (*own, *SYSTEM, *arena_python())):
                refused = refused or location
            continue
        words = _first_line(file)
        searched = path.split(os.pathsep) if words[:1] and words[0] in _ENV else []
        looked_at |= {file, *searched}
        names_as, others = _NamedBy.BOT, [*_link(file), *words[:1]]
        if not is_below(_canonical(file), own):
            if is_below(file, own):  # through a link to a directory
                named_by = _NamedBy.BOT
            granted = _granted(file, named_by)
            if granted is None:
                refused = refused or file
                continue
            needed |= granted.paths
            looked_at.add(os.path.dirname(os.path.dirname(file)))
            is_systems |= is_below(_canonical(file), SYSTEM)
            names_as = granted.names_as
            others += _base_of_venv(file)
        waiting += [(names_as, other) for other in others]
        waiting += [(_NamedBy.SYSTEM, other) for other in (_started_by_env(words, path) if searched else [])]
    return ResolvedProgram(tuple(sorted(needed)), refused, is_systems, tuple(sorted(looked_at)))


class _Granted(NamedTuple):
    """What may be read for a program, and as what kind of file the program names others."""

    paths: set[str]
    names_as: _NamedBy


def _granted(file: str, named_by: _NamedBy) -> _Granted | None:
    real = _canonical(file)
    if is_below(real, SYSTEM):
        return _Granted(set(), _NamedBy.SYSTEM)
    if is_below(real, arena_python()) or file == arena_interpreter():
        return _Granted({*arena_python()}, _NamedBy.SYSTEM)
    if named_by is _NamedBy.BOT or (named_by is not _NamedBy.SYSTEM and belongs_to_a_bot(os.path.dirname(real))):
        return None
    above = _runtime_directory(file)
    if above is not None and named_by is _NamedBy.SYSTEM:
        return _Granted({above}, _NamedBy.RUNTIME)
    if above is not None and (named_by is _NamedBy.RUNTIME or _is_runtime(above)):
        parts = runtime_parts(above)
        return _Granted(parts if is_below(file, tuple(parts)) else {file, *parts}, _NamedBy.RUNTIME)
    if named_by is _NamedBy.UNKNOWN:
        return None
    return _Granted({file}, _NamedBy.UNKNOWN if named_by is _NamedBy.COMMAND else _NamedBy.RUNTIME)


def arena_interpreter() -> str:
    """Return the Python that the arena runs on, without "..", which may lead nowhere in a bot's view of the files."""
    return _with_real_directory(sys.executable)


def own_program(module: str, *flags: str, external_game: tuple[str, str] | None = None) -> Bot:
    """Return a program of the arena's own as a bot, run by the arena's Python with flags."""
    program = path_of(module)
    return Bot(
        name=program.stem,
        version="1",
        command=(arena_interpreter(), *flags, str(program)),
        directory=str(program.parent),
        own_files=(str(program),),
        external_game=external_game,
    )


@functools.lru_cache(maxsize=1)
def _with_real_directory(file: str) -> str:
    directory, name = os.path.split(file)
    return os.path.join(os.path.realpath(directory), name)


@functools.lru_cache(maxsize=1)
def arena_python() -> tuple[str, ...]:
    """Return the directories of the Python that the arena runs on."""
    directories: set[str] = set()
    for prefix in (os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)):
        if os.path.exists(f"{prefix}/pyvenv.cfg"):  # in which a project may lie, and the arena's own home
            packages = {f"{prefix}/src", f"{prefix}/etc"}
            directories.update(runtime_parts(prefix), filter(os.path.isdir, packages))
        else:
            directories.update(runtime_parts(prefix) if contains_a_home(prefix) else {prefix})
    return tuple(sorted(directories))


def runtime_parts(directory: str) -> set[str]:
    """Return what a runtime consists of: its whole directory, or its known parts if the directory holds more."""
    try:
        with os.scandir(directory) as listing:
            names = {entry.name for entry, _ in zip(listing, range(_MAX_ENTRIES), strict=False)}
    except OSError:
        return set()
    if names <= _RUNTIME_PARTS and not contains_a_home(directory):
        return {directory}
    parts = names & (_RUNTIME_PARTS | ({"src"} if os.path.isdir(f"{directory}/pkg/tool") else set()))
    root = (os.path.realpath(directory),)
    return {part for name in parts if is_below(os.path.realpath(part := f"{directory}/{name}"), root)}


def _runtime_directory(file: str) -> str | None:
    directory = os.path.dirname(file)
    above = os.path.dirname(directory)
    if os.path.basename(directory) not in _PROGRAM_DIRECTORIES or contains_a_home(above):
        return None
    return above


def _is_runtime(directory: str) -> bool:
    if any(os.path.exists(f"{directory}/{mark}") for mark in _RUNTIME_MARKS):
        return True
    with contextlib.suppress(OSError), os.scandir(f"{directory}/lib") as listing:
        for entry, _ in zip(listing, range(_MAX_ENTRIES), strict=False):
            if entry.name.startswith(("python3", "pypy3")) and os.path.exists(f"{entry.path}/os.py"):
                return True
    return False


def _on_path(program: str, path: str) -> list[str]:
    file = shutil.which(program, path=path)
    return [] if file is None else [file]


def _named_by_path(file: str, submitted: bool) -> _NamedBy:
    """Return what names a program on PATH; where the arena's Python is may be a directory of the operator's own."""
    beside_python = os.path.dirname(file) == os.path.dirname(arena_interpreter())
    return _NamedBy.BOT if submitted and beside_python else _NamedBy.SYSTEM


def _program_file(name: str) -> str | None:
    """Return the absolute path of a program, with its links where possible; None if it is not a regular file."""
    file = os.path.abspath(name)
    try:
        if os.path.realpath(file) != os.path.realpath(name):  # with ".." behind a link
            file = os.path.realpath(name)
        is_regular = stat.S_ISREG(os.stat(file).st_mode)
    except (OSError, ValueError):
        return None
    is_excluded = is_below(file, _NO_PROGRAMS) or is_below(os.path.realpath(file), _NO_PROGRAMS)
    return file if is_regular and not is_excluded else None


def _canonical(file: str) -> str:
    """Return a path with the links in its directories resolved, but not a link at its end."""
    return os.path.join(os.path.realpath(os.path.dirname(file)), os.path.basename(file))


def _link(file: str) -> Iterator[str]:
    with contextlib.suppress(OSError):
        if os.path.islink(file):
            yield os.path.join(os.path.dirname(file), os.readlink(file))
        elif os.path.realpath(file) != file:
            yield os.path.realpath(file)


def _first_line(file: str) -> list[str]:
    line = _read_start(file, _FIRST_LINE_BYTES).partition(b"\n")[0]
    return os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []


def _started_by_env(words: list[str], path: str) -> list[str]:
    """Return the program on PATH that ``env`` will start, unless its name has a slash."""
    name = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
    return _on_path(name, path) if name and "/" not in name else []


def _base_of_venv(file: str) -> Iterator[str]:
    """Yield the interpreter that a virtual environment was created from (PEP 405)."""
    configuration = os.path.join(os.path.dirname(os.path.dirname(file)), "pyvenv.cfg")
    for line in os.fsdecode(_read_start(configuration, _CONFIGURATION_BYTES)).splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home" and os.path.isabs(value.strip()):
            yield os.path.join(value.strip(), "python3")


def _read_start(file: str, max_bytes: int) -> bytes:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(descriptor, max_bytes) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)
