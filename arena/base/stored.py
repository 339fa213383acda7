"""Values from the form they are stored in.

A missing field has its default, for an earlier version did not store it; an unknown one comes from a later version. The
store may come from another arena, so the type of every value is checked.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from arena.base.bot_text import BotText
from arena.base.errors import StoreError
from arena.base.text import any_of, json_kind, json_value

T = TypeVar("T")
Check = Callable[[Any], bool]
Read = Callable[[Any, str], Any]
"""Returns the value of a field from its stored form; given the field's place for the message of a StoreError."""

MAX_DEPTH = 100
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**64 - 1
_ANY_NUMBER = int | float
"""A number that a game computes, which need not be finite."""


def from_stored(kind: type[T], stored: object, where: str) -> T:
    """Return a dataclass, which may have others as fields, from its stored fields; missing ones have their defaults.

    Raises:
        StoreError: if a field is unknown or of another type, or one without a default is missing; ``where`` names it.
    """
    readers = _readers_of(kind)  # type: ignore[arg-type]
    values = {}
    for name, value in mapping_of(stored, where).items():
        if name not in readers:
            raise StoreError(f"{where} has a field {name!r} that this arena does not know; a newer arena is needed")
        values[name] = readers[name](value, where)
    for name in _required_of(kind):  # type: ignore[arg-type]
        if name not in values:
            raise StoreError(f"{where} has no field {name!r}")
    return kind(**values)


def from_stored_text(kind: type[T], text: str, where: str) -> T:
    """Return a dataclass from its stored JSON text, as ``from_stored`` does, or raise StoreError."""
    return from_stored(kind, from_json_text(text, where), where)


def from_json_text(text: str, where: str) -> Any:
    """Return the value of a stored JSON text; StoreError if it is not JSON, or nested too deeply."""
    try:
        return json.loads(text)
    except (json.JSONDecodeError, TypeError) as error:
        raise StoreError(f"{where} is not JSON: {error}") from error
    except ValueError as error:  # Python's own advice is for programmers
        raise StoreError(f"{where} is malformed: a whole number in it has thousands of digits") from error
    except RecursionError as error:
        raise StoreError(f"{where} is malformed: it is nested too deeply") from error


def mapping_of(stored: object, where: str) -> Mapping[str, Any]:
    """Return a stored mapping, or raise StoreError."""
    if not isinstance(stored, Mapping):
        raise StoreError(f"{where} is malformed: expected an object, got {json_kind(stored)}")
    return stored


def list_of(stored: object, where: str) -> list[Any]:
    """Return a stored list, or raise StoreError."""
    if not isinstance(stored, list):
        raise StoreError(f"{where} is malformed: expected a list, got {json_kind(stored)}")
    return stored


def is_whole(value: object, least: int = _MIN_INTEGER, most: int = _MAX_INTEGER) -> bool:
    """Return whether a value is an integer within bounds."""
    return type(value) is int and least <= value <= most


def is_text(value: object) -> bool:
    """Return whether a value is a text that can be written in UTF-8."""
    if not isinstance(value, str):
        return False
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)


def is_plain(value: object) -> bool:
    """Return whether a value is made of texts, numbers that messages can carry, lists and mappings, none too deep."""
    level = [value]
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for part in level:
            if isinstance(part, list):
                inner += part
            elif isinstance(part, dict):
                inner += [*part, *part.values()]
            elif not (part is None or isinstance(part, bool | float) or is_whole(part) or is_text(part)):
                return False
        if not inner:
            return True
        level = inner
    return False


@lru_cache(maxsize=32)
def _readers_of(kind: type[Any]) -> dict[str, Read]:
    return {name: _reader(name, hint) for name, hint in get_type_hints(kind).items()}


@lru_cache(maxsize=32)
def _required_of(kind: type[Any]) -> tuple[str, ...]:
    return tuple(part.name for part in fields(kind) if part.default is part.default_factory is MISSING)


def _reader(name: str, hint: Any) -> Read:
    is_tuple, is_optional = get_origin(hint) is tuple, isinstance(hint, types.UnionType)
    inner: Any = get_args(hint)[0] if is_tuple or is_optional else hint
    if isinstance(inner, type) and is_dataclass(inner):

        def read_one(value: Any, where: str) -> Any:
            is_made = isinstance(value, inner) or (is_optional and value is None)
            return value if is_made else from_stored(inner, value, f"{where}: {name}")

        def read_all(value: Any, where: str) -> Any:
            return tuple(read_one(part, where) for part in list_of(value, f"{where}: {name}"))

        return read_all if is_tuple else read_one
    check, accepted = _check_of(hint), _in_words(hint)
    convert = tuple if is_tuple else next(filter(_is_enum, (hint, *get_args(hint))), None)

    def read(value: Any, where: str) -> Any:
        if not check(value):
            raise StoreError(f"{where} is malformed: {name} = {json_value(value)}; expected {accepted}")
        return value if convert is None or value is None else convert(value)

    return read


def _is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Enum)


def _check_of(hint: Any) -> Check:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is BotText:
        return _check_of(inner[0])
    if _is_enum(hint):
        accepted = frozenset(map(str, hint))
        return lambda value: isinstance(value, str) and value in accepted
    if hint == _ANY_NUMBER:
        return lambda value: is_whole(value) or isinstance(value, float)
    if origin in (types.UnionType, Union):
        checks = [_check_of(part) for part in inner]
        return lambda value: any(check(value) for check in checks)
    if origin is Literal:
        return lambda value: value in inner
    if origin in (dict, Mapping):
        return lambda value: isinstance(value, dict) and is_plain(value)
    if hint == tuple[Sequence[Any], ...]:  # the longest of a record
        return lambda value: (
            isinstance(value, list) and all(isinstance(part, list) for part in value) and is_plain(value)
        )
    if origin in (list, tuple, Sequence):
        of_each = _check_of(inner[0])
        return lambda value: isinstance(value, list) and all(map(of_each, value))
    return _SIMPLE.get(hint, lambda value: False)  # a type that is not stored


def _in_words(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is BotText:
        return _in_words(inner[0])
    if _is_enum(hint):
        return any_of(list(hint))
    if origin in (types.UnionType, Union):
        return " or ".join(dict.fromkeys(_in_words(part) for part in inner))
    if origin is Literal:
        return any_of(inner)
    if origin in (list, tuple, Sequence):
        return f"a list, each {_in_words(inner[0])}"
    return _WORDS.get(hint, "an object")


_SIMPLE: dict[Any, Check] = {
    Any: is_plain,
    bool: lambda value: isinstance(value, bool),
    int: is_whole,
    float: lambda value: is_whole(value) or (isinstance(value, float) and math.isfinite(value)),
    str: is_text,
    type(None): lambda value: value is None,
}
_WORDS = {
    Any: "a value",
    bool: "true or false",
    int: "a whole number of 64 bits",
    float: "a number",
    str: "a text",
    type(None): "null",
}
