"""Text of bots has an audience: the bot's author, directors, and whoever has the arena's home.

A ``BotText`` can be compared and searched, but neither written into a page nor sent: code that shows it names the
reader. So code that forgets to ask fails at once, and not only when a rival reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

DIGEST_BYTES = 32
MIN_LEFT_OUT_BYTES = 1024
"""The length reported for every shorter text, an empty one included."""

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Audience:
    """A reader of bots' text: of every bot's, such as a director, or only of that of ``bots`` (``name@version``)."""

    reads_all: bool = False
    bots: frozenset[str] = frozenset()

    def may_read(self, bot: str) -> bool:
        """Return whether it may read the text of a bot (``name@version``)."""
        return self.reads_all or bot in self.bots


EVERYBODY = Audience()
"""Visitors and rivals, who read no text of any bot."""

OPERATOR = Audience(reads_all=True)
"""The owner of the home, at a terminal."""


def author_of(bots: Iterable[str]) -> Audience:
    """Return the author of some bots, ``name@version`` each."""
    return Audience(bots=frozenset(bots))


class BotText(Generic[T_co]):
    """Text of a bot: on stderr, in the detail of a fault, in notes. It equals its text, and supports ``in``."""

    __slots__ = ("_text",)
    _text: T_co

    def __init__(self, text: T_co) -> None:
        object.__setattr__(self, "_text", text)

    def shown_to(self, audience: Audience, bot: str) -> T_co | None:
        """Return the text of a bot (``name@version``) if the audience may read it; else None."""
        return self._text if audience.may_read(bot) else None

    def for_operator(self) -> T_co:
        """Return the text, to store it or to show it to the owner of the home."""
        return self._text

    def __eq__(self, other: object) -> bool:
        return bool(self._text == (other._text if isinstance(other, BotText) else other))

    def __hash__(self) -> int:
        return hash(self._text)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __len__(self) -> int:
        return len(self._text)  # type: ignore[arg-type]

    def __contains__(self, part: object) -> bool:
        return part in self._text  # type: ignore[operator]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} long>"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} can't be changed")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._text,)  # between processes of the arena

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(
            "not everybody may read what a bot wrote: for_operator() returns it, shown_to(audience, bot) checks"
        )

    __str__ = __format__ = __html__ = __iter__ = __add__ = __radd__ = __getitem__ = _refuse


class LeftOut(NamedTuple):
    """A text that a public record leaves out, and the salt without which nobody can test a guess of it."""

    text: bytes
    salt: bytes

    def __repr__(self) -> str:
        return f"<LeftOut: {len(self.text)} long>"

    @property
    def commitment(self) -> bytes:
        """The hash that commits to the text; the salt and the text reproduce it."""
        return blake2b(self.text, key=self.salt, digest_size=DIGEST_BYTES).digest()


def left_out(texts: Iterable[Any], key: bytes, match: Sequence[Any]) -> list[LeftOut]:
    """Return texts of a match as compact JSON, each with its salt, which follows from the key of a home."""
    salts = (blake2b(_as_json([*match, number]), key=key, digest_size=DIGEST_BYTES).digest() for number in count())
    return [LeftOut(_as_json(text), salt) for text, salt in zip(texts, salts, strict=False)]


def digest_of(texts: Sequence[LeftOut]) -> tuple[str, int]:
    """Return the BLAKE2b digest of commitments, and the length of the texts, rounded up to a power of two."""
    digest = blake2b(b"".join(text.commitment for text in texts), digest_size=DIGEST_BYTES).hexdigest()
    size_bytes = sum(len(text.text) for text in texts)
    return digest, max(MIN_LEFT_OUT_BYTES, 1 << (size_bytes - 1).bit_length())


def _as_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def is_digest(text: str) -> bool:
    """Return whether a text has the form of such a digest."""
    return len(text) == 2 * DIGEST_BYTES and set(text) <= set("0123456789abcdef")
