"""The fields of what a site answers, each of the type and length that we can show.

Fields that we don't know are left alone: a newer arena may have more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.base.errors import SiteError
from arena.base.names import is_visible_text
from arena.base.stored import is_whole

MAX_TEXT_CHARACTERS = 300
MAX_WORDS = 50


class Fields:
    """An object that was answered."""

    def __init__(self, value: Mapping[str, Any], refusal: SiteError) -> None:
        """Prepare to read.

        Args:
            value: the object.
            refusal: raised for a field that is not as expected.
        """
        self._value, self._refusal = value, refusal

    def text(self, name: str) -> str:
        """Return a short visible text."""
        value = self._value.get(name)
        if isinstance(value, str) and _is_shown(value):
            return value
        raise self._refusal

    def whole(self, name: str, least: int, most: int) -> int:
        """Return a whole number within bounds."""
        value = self._value.get(name)
        if isinstance(value, int) and is_whole(value, least, most):
            return value
        raise self._refusal

    def flag(self, name: str) -> bool:
        """Return whether something is so; what is not there is not so."""
        return self._value.get(name) is True

    def is_null(self, name: str) -> bool:
        """Return whether a field is there, but has no value."""
        return name in self._value and self._value[name] is None

    def texts(self, name: str, most: int) -> list[str]:
        """Return a list of short visible texts."""
        values = self._list(name, most)
        if all(isinstance(value, str) and _is_shown(value) for value in values):
            return values
        raise self._refusal

    def objects(self, name: str, most: int) -> list[Fields]:
        """Return a list of objects."""
        values = self._list(name, most)
        if all(isinstance(value, dict) for value in values):
            return [Fields(value, self._refusal) for value in values]
        raise self._refusal

    def _list(self, name: str, most: int) -> list[Any]:
        value = self._value.get(name)
        if isinstance(value, list) and len(value) <= most:
            return value
        raise self._refusal


def _is_shown(text: str) -> bool:
    return 1 <= len(text) <= MAX_TEXT_CHARACTERS and is_visible_text(text)
