"""Where a bot's files lead: resolved once for all launches of the bot, and again when something that matters changes.

Files are looked at by their names at every launch, which takes a system call each and not dozens. A real path is not
worked out again: what the owner of a directory has put in its place later, a link for one, stays closed.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import NamedTuple

from arena.base.enums import IsolationLevel
from arena.base.records import Bot
from arena.base.shipped import KERNELS, TABLES, cache_directory, is_example_bot
from arena.sandbox.isolation.file_access import (
    directories_of_system,
    outside_the_system,
    paths_behind_closed_directories,
    readable_paths,
)
from arena.sandbox.isolation.interpreters import ResolvedProgram, arena_python, is_submitted, resolve_program

MAX_KEPT = 256
_MAX_TRIES = 4

_stamps = itertools.count()


class BotPlaces(NamedTuple):
    """Where a bot's files lead.

    Attributes:
        submitted: whether its command comes from a submission.
        lab: the directories of kernels and tables that it may read.
        readable: what it has to read beyond the system.
        closed: which of these, and of scratch directories, are in directories that other users may not enter.
        remade: directories that the bot finds made again, because other users may not enter them.
        stamp: a new number each time that the places are resolved.
    """

    submitted: bool
    program: ResolvedProgram
    lab: tuple[str, ...]
    readable: tuple[str, ...]
    closed: dict[str, list[str]]
    remade: tuple[str, ...]
    stamp: int


class _Key(NamedTuple):
    """What the places of a bot depend on in addition to files; see ``find_places``."""

    bot: Bot
    own: tuple[str, ...]
    path: str
    scratch_parent: str
    cache: Path | None
    is_landlocked: bool  # paths are opened to it one by one
    is_other_user: bool
    may_mount: bool


class _Watched(NamedTuple):
    """Files that places depend on: those where each change matters, and those where it matters which they are."""

    changing: tuple[str, ...] = ()
    replaceable: tuple[str, ...] = ()

    def state(self) -> list[tuple[int, ...]]:
        """Return a value that differs once one of them has been replaced or has changed."""
        return [
            *(_look(path, is_whole=True) for path in self.changing),
            *(_look(path, is_whole=False) for path in self.replaceable),
        ]


class _KnownPlaces(NamedTuple):
    places: BotPlaces
    watched: _Watched
    state: list[tuple[int, ...]]


_known_places: dict[_Key, _KnownPlaces] = {}


def find_places(
    bot: Bot, own: tuple[str, ...], path: str, scratch_parent: str, level: IsolationLevel, root: bool, may_mount: bool
) -> BotPlaces:
    """Return where a bot's files lead.

    Args:
        own: its own files, and those of its game.
        scratch_parent: where its scratch directory is.
        root: whether the arena runs as root, and the bot as another user.
        may_mount: whether the arena may mount, so that the bot reaches its files in closed directories.
    """
    key = _Key(bot, own, path, scratch_parent, cache_directory(), level == IsolationLevel.LANDLOCK, root, may_mount)
    known = _known_places.pop(key, None)
    if known is None or known.state != known.watched.state():
        known = _work_out(key)
    _known_places[key] = known  # at the end, so that the first is the one that was not needed for the longest time
    if len(_known_places) > MAX_KEPT:
        del _known_places[next(iter(_known_places))]
    return known.places


def _look(path: str, *, is_whole: bool) -> tuple[int, ...]:
    try:
        status = os.lstat(path)
    except (OSError, ValueError) as error:
        return (getattr(error, "errno", None) or 0,)
    identity = (status.st_dev, status.st_ino, status.st_mode, status.st_uid)
    return (*identity, status.st_ctime_ns) if is_whole else identity


def _work_out(key: _Key) -> _KnownPlaces:
    """Resolve places, with the state of files from before: the next launch notices a change that comes meanwhile."""
    watched = _Watched()
    for _ in range(_MAX_TRIES):
        state = watched.state()
        resolve_program.cache_clear()
        paths_behind_closed_directories.cache_clear()
        places, needed = _evaluated(key)
        if needed == watched:
            return _KnownPlaces(places, watched, state)
        watched = needed
    return _KnownPlaces(places, watched, [])


def _evaluated(key: _Key) -> tuple[BotPlaces, _Watched]:
    submitted = is_submitted(key.bot)
    program = resolve_program(key.bot.command[0], key.own, key.path, submitted)
    possible_lab = _lab_directories(key)
    lab = _reachable(tuple(path for path in possible_lab if os.path.isdir(path)), key)
    python = _reachable(outside_the_system(arena_python()), key) if program.is_systems else ()
    readable = tuple(sorted({*readable_paths(key.bot.command, key.own, key.path, submitted), *python, *lab}))
    closed = paths_behind_closed_directories(readable, key.scratch_parent) if key.is_other_user else {}
    entries = [entry for paths in closed.values() for entry in paths]  # of directories that are closed themselves
    remade = tuple(path for path in readable if any(entry.startswith(f"{path}/") for entry in entries))
    changing = {*program.looked_at, *remade}
    replaceable = {key.bot.directory, *possible_lab, *readable}
    if key.is_other_user:
        replaceable |= {str(above) for path in (*readable, key.scratch_parent) for above in Path(path).parents}
    if key.is_landlocked:
        changing |= directories_of_system()
    watched = _Watched(tuple(sorted(changing)), tuple(sorted(replaceable - changing)))
    return BotPlaces(submitted, program, lab, readable, closed, remade, next(_stamps)), watched


def _lab_directories(key: _Key) -> tuple[str, ...]:
    """Return where kernels and tables are or will be, for example bots that came with the arena.

    Other bots read nothing of the user's, and no bot says itself what it may read.
    """
    if key.cache is None or not is_example_bot(key.bot.directory):
        return ()
    return tuple(os.path.realpath(key.cache / name) for name in (KERNELS, TABLES))


def _reachable(paths: tuple[str, ...], key: _Key) -> tuple[str, ...]:
    """Return paths that a bot can do without; none of them if a bot under another uid can't reach them."""
    is_hindered = key.is_other_user and not key.may_mount
    return () if is_hindered and paths_behind_closed_directories(paths, "/") else paths
