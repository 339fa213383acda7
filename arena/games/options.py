"""Options of games: their names, types, defaults and accepted values, and the check of given values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from arena.base.errors import OptionError, suggestion


@dataclass(frozen=True)
class IntOption:
    """A whole number from ``minimum`` to ``maximum``; ``meaning`` describes it in a few words."""

    name: str
    default: int
    minimum: int
    maximum: int
    meaning: str

    type_name = "whole number"

    @property
    def accepted(self) -> str:
        """The accepted values, as text."""
        if self.minimum == self.maximum:
            return f"exactly {self.minimum}"
        return f"a whole number from {self.minimum} to {self.maximum}"

    def check(self, value: object) -> None:
        """Raise OptionError unless ``value`` is accepted."""
        if type(value) is not int or not self.minimum <= value <= self.maximum:
            raise OptionError(self.name, value, f"expected {self.accepted}")

    def parse(self, text: str) -> int | str:
        """Read the value from text; text that is not a number is left for ``check`` to refuse."""
        try:
            return int(text)
        except ValueError:
            return text


@dataclass(frozen=True)
class ChoiceOption:
    """One of a few values; ``meaning`` describes it in a few words."""

    name: str
    default: int | str
    choices: tuple[int | str, ...]
    meaning: str

    type_name = "choice"

    @property
    def accepted(self) -> str:
        """The accepted values, as text."""
        return " or ".join(repr(choice) for choice in self.choices)

    def check(self, value: object) -> None:
        """Raise OptionError unless ``value`` is accepted."""
        if not any(type(value) is type(choice) and value == choice for choice in self.choices):
            raise OptionError(self.name, value, f"expected {self.accepted}")

    def parse(self, text: str) -> int | str:
        """Return the choice written ``text``; anything else is left for ``check`` to refuse."""
        return next((choice for choice in self.choices if str(choice) == text), text)


Option = IntOption | ChoiceOption


def checked_options(game: str, table: Iterable[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of each option in ``table``: the given one or the default.

    Raises:
        OptionError: for an unknown name or a value that is not accepted.
    """
    options = {option.name: option for option in table}
    for name, value in given.items():
        if name not in options:
            raise OptionError(name, value, f"{game} has no such option; {suggestion(name, options)}")
        options[name].check(value)
    return {name: given.get(name, option.default) for name, option in options.items()}
