"""The names of people: names that look alike are the same name, so that nobody can pass for another person."""

from __future__ import annotations

import re

from arena.base.names import letters_alike

MAX_CHARACTERS = 32

ACCEPTED = (
    f"expected 2 to {MAX_CHARACTERS} letters a-z or A-Z and digits, with single '-', '_' or '.' between them,"
    " beginning with a letter"
)

LEFT = "left-"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*")
_RESERVED = frozenset({"admin", "arena", "everybody", "human", "nobody", "root", "somebody", "system", "visitor"})


def is_person_name(text: str) -> bool:
    """Return whether a text may be the name of a person; ``ACCEPTED`` is the rule in words."""
    return 2 <= len(text) <= MAX_CHARACTERS and _NAME.fullmatch(text) is not None and not _is_reserved(text.lower())


def _is_reserved(name: str) -> bool:
    return name in _RESERVED or has_left(name)


def has_left(name: str) -> bool:
    """Return whether a name is that of somebody who has left."""
    return name.startswith(LEFT)


def look_alike_key(name: str) -> str:
    """Return what names that can be mistaken for each other have in common: no two people have the same."""
    return letters_alike(re.sub("[-_. ]", "", name))
