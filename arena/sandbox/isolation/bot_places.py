"""Which places belong to a bot that was submitted, to another bot, or to a user whose files may be secret."""

from __future__ import annotations

import os
import re
from pathlib import Path

from arena.base.cache_directory import cache_directory
from arena.base.known_server import FILES
from arena.base.records import Bot

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
    """Return whether somebody has submitted a bot: by its own word, or by where it lies.

    Its word is not enough, because tournaments of earlier versions have not stored it.
    """
    return bot.submitted or _SUBMITTED.search(os.path.realpath(bot.directory)) is not None


def belongs_to_a_bot(directory: str) -> bool:
    """Return whether a directory is that of a bot, or where the arena keeps files of bots: in a home or for a worker.

    A submitted bot that is a single file has nothing beside it that says so.
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
