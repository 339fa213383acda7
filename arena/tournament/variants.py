"""Variants of a bot: lists of values in its arguments, of which each value enters once.

``args = ["--rollouts", "{10,30,100}"]`` enters three bots. Braces around anything else, such as JSON, are left as they
are, and ``{{10,30,100}}`` stands for the text ``{10,30,100}``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from arena.base.errors import DefinitionError
from arena.base.text import shortened_text

MAX_VARIANTS = 100
"""Of one entrant. A table of more can hardly be read, and its matches grow with the square."""

_MANY = 10**15

_BRACES = re.compile(r"\{\{([^{}]*)\}\}|\{([^{}]*)\}")
_LIST = re.compile(r"[\sA-Za-z0-9_.+-]*+(?:,[\sA-Za-z0-9_.+-]*+)++")


@dataclass(frozen=True, slots=True)
class Variant:
    """A bot's arguments with one value of each list.

    Attributes:
        args: the arguments.
        values: those that were chosen, in the order of the lists; none if there are no lists.
    """

    args: tuple[str, ...]
    values: tuple[str, ...]

    def named(self, name: str) -> str:
        """Return the name of a bot followed by the chosen values."""
        return " ".join((name, *self.values))


def variants_of(args: Sequence[str]) -> list[Variant]:
    """Return the variants of a bot in the order of the lists, the last list changing fastest; one without lists.

    Raises:
        DefinitionError: if a list lacks a value or has one twice, or there are too many variants.
    """
    parts = [_parts(arg, f"args[{number}] = {shortened_text(arg)!r}") for number, arg in enumerate(args)]
    lists = [part for arg in parts for part in arg if isinstance(part, tuple)]
    count = prod(len(values) for values in lists)
    if count > MAX_VARIANTS:
        made = f"{count:,}" if count < _MANY else "too many"
        raise DefinitionError(f"args: the lists in braces make {made} variants; expected at most {MAX_VARIANTS}")
    return [Variant(_filled(parts, values), values) for values in product(*lists)]


def has_lists(args: Sequence[str]) -> bool:
    """Return whether there is a list of values in a bot's arguments."""
    return any(found[2] is not None and _LIST.fullmatch(found[2]) for arg in args for found in _BRACES.finditer(arg))


def _parts(arg: str, where: str) -> list[str | tuple[str, ...]]:
    """Return an argument's pieces: texts, and lists of values."""
    parts: list[str | tuple[str, ...]] = []
    end = 0
    for found in _BRACES.finditer(arg):
        if _LIST.fullmatch(found[1] if found[2] is None else found[2]):
            parts += [arg[end : found.start()], found[0][1:-1] if found[2] is None else _values(found[2], where)]
            end = found.end()
    return [*parts, arg[end:]]


def _values(text: str, where: str) -> tuple[str, ...]:
    values = tuple(value.strip() for value in text.split(","))
    if len(values) > MAX_VARIANTS:
        raise DefinitionError(f"{where}: the list has {len(values):,} values; expected at most {MAX_VARIANTS}")
    if "" in values:
        raise DefinitionError(f"{where}: a value is missing between the commas")
    for value in values:
        if values.count(value) > 1:
            raise DefinitionError(f"{where}: the value {value!r} appears twice")
    return values


def _filled(parts: Sequence[Sequence[str | tuple[str, ...]]], values: Sequence[str]) -> tuple[str, ...]:
    """Return the arguments with these values in place of the lists."""
    chosen = iter(values)
    return tuple("".join(part if isinstance(part, str) else next(chosen) for part in arg) for arg in parts)
