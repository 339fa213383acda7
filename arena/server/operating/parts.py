"""The parts of the site that work beside the web process: programs that share nothing but the home."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from arena.base.errors import UsageError
from arena.store.results.lock import FileLock

WEB, WORK = "web", "work"
"""What ``arena serve --only`` takes, and the names of locks: the web process, and the supervisor of all parts."""


@dataclass(frozen=True, slots=True)
class Part:
    """A service: its name in health problems, what it does (the end of a sentence), and its module.

    The module has ``main(arguments)``, which works until SIGTERM, or until there is nothing to do. The arguments are
    the process that started it, the home, and the service's own. The URL of a store is in the environment,
    for everybody on the machine sees arguments.
    """

    name: str
    summary: str
    module: str


CHECKER = Part("checker", "checks what authors hand in", "arena.community.submissions.checker_program")
CONTESTS = Part("contests", "plays contests", "arena.community.contests.director_program")
LADDER = Part("ladder", "plays a ladder", "arena.community.ladders.director_program")
RESULTS = Part("results", "signs the results of contests", "arena.community.contests.results_program")
PLAY = Part("play", "lets people play against bots", "arena.community.play.host_program")
PARTS = (CHECKER, CONTESTS, LADDER, RESULTS, PLAY)


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a service, with the arguments after the process that started it, and its ladder ("" for none)."""

    part: Part
    arguments: tuple[str, ...]
    ladder: str = ""


def programs(
    directory: str | os.PathLike[str], ladders: Sequence[tuple[str, str]], play_slots: int
) -> tuple[Program, ...]:
    """Return the programs of all services, for the name and the file of each ladder.

    Raises:
        UsageError: if two ladders have the same name.
    """
    names = [name for name, _ in ladders]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--ladder: two files have the name {name!r}; expected each ladder once")
    place = os.fspath(directory)
    return (
        *(Program(part, (place,)) for part in (CHECKER, CONTESTS, RESULTS)),
        *(Program(LADDER, (place, file), name) for name, file in ladders),
        Program(PLAY, (place, str(play_slots))),
    )


def lock_path(directory: Path, name: str) -> Path:
    """Return the file of the lock that ``WEB`` or ``WORK`` holds while it runs."""
    return directory / "parts" / f"{name}.lock"


@contextmanager
def locked_parts(directory: Path, names: Iterable[str]) -> Iterator[None]:
    """Hold the locks of ``WEB``, ``WORK`` or both: a home has one of each; the system releases them in any case.

    Raises:
        StoreError: if another process holds one of them, or they can't be written.
    """
    with ExitStack() as locks:
        for name in names:
            locks.enter_context(
                FileLock(lock_path(directory, name), f"{directory}: another arena serve runs its {name}")
            )
        yield
