"""Whose a place is: what lies in a home may be secret, and what lies where the arena keeps bots is somebody else's."""

from __future__ import annotations

import os
import re

from arena.records import Bot

_SUBMITTED = re.compile(r"/(bots/[0-9a-f]{16}|arena-upload-[^/]*)(/|$)")
"""Where homes keep submitted bots, each under the digest of its files, and where archives are unpacked."""

SUBMITTED_RULE = (
    "expected a file of the bot, a name on its PATH, or a program of the system or of the arena's Python; others are"
    " for bots in place, which a tournament file names by their path and arena check is told of by --in-place"
)


def is_submitted(bot: Bot) -> bool:
    """Return whether somebody has submitted a bot: by its own word, or by where it lies.

    Its word is not enough, because tournaments of earlier versions have not stored it.
    """
    return bot.submitted or _SUBMITTED.search(os.path.realpath(bot.directory)) is not None


def contains_a_home(directory: str) -> bool:
    """Return whether a directory is a home or ``~/.local``, or lies above one: what is in it may be secret."""
    home = os.path.realpath(os.path.expanduser("~"))
    real = os.path.realpath(directory)
    shared = {"/", "/home", "/root", "/tmp", "/var", "/var/tmp", "/etc", "/opt", "/srv", "/mnt", "/media"}
    return real in shared or real == f"{home}/.local" or is_below(home, (real,)) or os.path.dirname(real) == "/home"


def is_below(path: str, roots: tuple[str, ...]) -> bool:
    """Return whether a path is one of ``roots`` or lies below one, by their names."""
    return any(path == root or path.startswith(f"{root.rstrip('/')}/") for root in roots)
