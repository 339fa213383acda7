"""What is wrong with something that was written: where, and in which words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_KEY = re.compile(r"\{([a-z_]+)(?:=([a-z]+))?\}", re.ASCII)


def _as_written(key: str, value: str) -> str:
    return f"{key} = {value!r}" if value else key


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake in a text of keys and values.

    Attributes:
        place: the key, such as "final.format"; "" if it is about the whole.
        sentence: what is wrong, and what is accepted. Other keys in it are in braces, "{opens_at}", and so is one with
            a value, "{results=frozen}".
        value: what was written there, in TOML; "" if that is not said.
    """

    place: str
    sentence: str
    value: str = ""

    @property
    def text(self) -> str:
        """The whole, with the names of keys."""
        start = f"{self.place} = {self.value}: " if self.value else f"{self.place}: " if self.place else ""
        return start + self.sentence_with(_as_written)

    def sentence_with(self, named: Callable[[str, str], str]) -> str:
        """Return the sentence with the names that keys and their values have elsewhere, such as on a page.

        Args:
            named: returns the name of a key, and of its value if that is not "".
        """
        return _KEY.sub(lambda found: named(found[1], found[2] or ""), self.sentence)
