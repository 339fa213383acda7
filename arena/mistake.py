"""What is wrong with something that was written: where, and in which words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_KEY = re.compile(r"\{([a-z_]+(?:\.[a-z_]+)*)\}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake in a text of keys and values.

    Attributes:
        place: the key, such as "final.format"; "" if it is about the whole.
        sentence: what is wrong, and what is accepted. The names of other keys in it are in braces.
        value: what was written there, in TOML; "" if that is not said.
    """

    place: str
    sentence: str
    value: str = ""

    @property
    def text(self) -> str:
        """The whole, with the names of keys."""
        start = f"{self.place} = {self.value}: " if self.value else f"{self.place}: " if self.place else ""
        return start + self.sentence_with(str)

    def sentence_with(self, named: Callable[[str], str]) -> str:
        """Return the sentence with the names that keys have elsewhere, such as on a page."""
        return _KEY.sub(lambda found: named(found[1]), self.sentence)
