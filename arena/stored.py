"""Values from the form they are stored in.

A field that is missing was not there in the version that stored it, and has its default; one that is unknown was added
by a later version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

from arena.errors import StoreError

T = TypeVar("T")


def parse_stored(text: str, where: str) -> Any:
    """Return the value of a stored JSON text.

    Args:
        text: what is stored; in somebody else's database that may be anything.
        where: what is being read, for the message.

    Raises:
        StoreError: if it is not JSON, or nested more deeply than anything that an arena stores.
    """
    try:
        return json.loads(text)
    except (ValueError, TypeError) as error:
        raise StoreError(f"{where} is not JSON: {error}") from error
    except RecursionError as error:
        raise StoreError(f"{where} is malformed: nested too deeply") from error


def from_stored(kind: type[T], stored: object, where: str) -> T:
    """Return a dataclass from its stored fields; those that are not there have their defaults.

    Args:
        kind: the dataclass.
        stored: a mapping of its fields.
        where: what is being read, for the message.

    Raises:
        StoreError: if a field is unknown, or one without a default is missing.
    """
    known: dict[str, Field[Any]] = {part.name: part for part in fields(kind)}  # type: ignore[arg-type]
    values = mapping_of(stored, where)
    for name in values:
        if name not in known:
            raise StoreError(f"{where} has a field {name!r} that this arena does not know; a newer arena is needed")
    for name, part in known.items():
        if name not in values and part.default is MISSING and part.default_factory is MISSING:
            raise StoreError(f"{where} has no field {name!r}")
    return kind(**values)


def mapping_of(stored: object, where: str) -> Mapping[str, Any]:
    """Return a stored mapping.

    Raises:
        StoreError: if it is something else.
    """
    if not isinstance(stored, Mapping):
        raise StoreError(f"{where} is malformed: expected a mapping, got {type(stored).__name__}")
    return stored


def list_of(stored: object, where: str) -> list[Any]:
    """Return a stored list.

    Raises:
        StoreError: if it is something else.
    """
    if not isinstance(stored, list):
        raise StoreError(f"{where} is malformed: expected a list, got {type(stored).__name__}")
    return stored
