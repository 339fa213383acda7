"""Where a bot's files lead: worked out once for all launches of the bot, and again when something that matters changes.

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
        submitted: whether its command is a stranger's.
        program: what its program leads to.
        lab: the directories of kernels and tables that it may read.
        readable: what it has to read beyond the system.
        closed: which of these, and of scratch directories, are in directories that other users may not enter.
        remade: directories that the bot finds made again, because other users may not enter them.
        stamp: another number each time that this is worked out.
    """

    submitted: bool
    program: ResolvedProgram
    lab: tuple[str, ...]
    readable: tuple[str, ...]
    closed: dict[str, list[str]]
    remade: tuple[str, ...]
    stamp: int


class _Key(NamedTuple):
    """What the places of a bot depend on beside files; see ``find_places``."""

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
        """Return what tells whether one of them is another, or has changed."""
        return [
            *(_look(path, is_whole=True) for path in self.changing),
            *(_look(path, is_whole=False) for path in self.replaceable),
        ]


class _Kept(NamedTuple):
    places: BotPlaces
    watched: _Watched
    state: list[tuple[int, ...]]


_kept: dict[_Key, _Kept] = {}


def find_places(
    bot: Bot, own: tuple[str, ...], path: str, scratch_parent: str, level: IsolationLevel, root: bool, may_mount: bool
) -> BotPlaces:
    """Return where a bot's files lead.

    Args:
        own: its own files, and those of its game.
        path: its PATH.
        scratch_parent: where its scratch directory is.
        level: how it is confined.
        root: whether the arena runs as root, and the bot as another user.
        may_mount: whether the arena may mount, so that the bot reaches its files in closed directories.
    """
    key = _Key(bot, own, path, scratch_parent, cache_directory(), level == IsolationLevel.LANDLOCK, root, may_mount)
    kept = _kept.pop(key, None)
    if kept is None or kept.state != kept.watched.state():
        kept = _work_out(key)
    _kept[key] = kept  # at the end, so that the first is what nobody has needed for the longest
    if len(_kept) > MAX_KEPT:
        del _kept[next(iter(_kept))]
    return kept.places


def _look(path: str, *, is_whole: bool) -> tuple[int, ...]:
    try:
        found = os.lstat(path)
    except (OSError, ValueError) as error:
        return (getattr(error, "errno", None) or 0,)
    which = (found.st_dev, found.st_ino, found.st_mode, found.st_uid)
    return (*which, found.st_ctime_ns) if is_whole else which


def _work_out(key: _Key) -> _Kept:
    """Work places out, with the state of files from before: a change meanwhile is noticed at the next launch."""
    watched = _Watched()
    for _ in range(_MAX_TRIES):
        state = watched.state()
        resolve_program.cache_clear()
        paths_behind_closed_directories.cache_clear()
        places, needed = _evaluated(key)
        if needed == watched:
            return _Kept(places, watched, state)
        watched = needed
    return _Kept(places, watched, [])


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
