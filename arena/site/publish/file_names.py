"""File names for names that may be long, hostile, or differ in nothing that a file system sees.

A file's name is the name itself where every file system, server and shell takes it as it is. Any other name becomes its
readable part and the beginning of its digest, so that a name always has the same file, whatever else is there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from hashlib import blake2b

MAX_READABLE_CHARACTERS = 48
DIGEST_DIGITS = (6, 12, 24, 64)
"""How many digits of a digest follow: more only if the file of another name is called like that."""

_PLAIN = re.compile(r"[a-z0-9_](?:[a-z0-9_@.-]*[a-z0-9_])?", re.ASCII)
_OTHERS = re.compile(r"[^A-Za-z0-9_@]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|index)(?:\..*)?")
"""Devices of Windows, whatever follows a full stop; and the file that a directory is opened with."""


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Return a file name, without its ending, for each name; they differ by more than case.

    >>> file_names(["greedy", "greedy@2", "nul"])
    {'greedy': 'greedy', 'greedy@2': 'greedy@2', 'nul': 'nul-5ab6bb'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(set(names), key=lambda name: (not is_plain(name), name)):
        file_name = next(one for one in _candidates(name) if one.casefold() not in taken)
        taken.add(file_name.casefold())
        found[name] = file_name
    return found


def is_plain(name: str) -> bool:
    """Return whether a name is a file name wherever files are."""
    if len(name) > MAX_READABLE_CHARACTERS or not _PLAIN.fullmatch(name):
        return False
    return not _RESERVED.fullmatch(name)


def _candidates(name: str) -> Iterable[str]:
    if is_plain(name):
        yield name
    readable = _OTHERS.sub("-", unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()).strip("-")
    digest = blake2b(name.encode(errors="surrogatepass"), digest_size=32).hexdigest()
    for digits in DIGEST_DIGITS:
        yield "-".join(filter(None, (readable[:MAX_READABLE_CHARACTERS], digest[:digits])))
