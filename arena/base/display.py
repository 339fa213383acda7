"""Values that show themselves in notebooks, and tables that become data frames.

How they look is the business of ``arena.analysis.text``, a higher layer, which ``arena/__init__.py`` registers here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Presenter(Protocol):
    """Shows values; implemented by ``arena.analysis.text.notebook``."""

    def html(self, value: Any) -> str:
        """Return a value as a fragment of HTML."""

    def plain_text(self, value: Any) -> str:
        """Return a value as text."""

    def to_pandas(self, value: Any, columns: Sequence[str] | None) -> Any:
        """Return a table as a ``pandas.DataFrame``."""

    def to_polars(self, value: Any, columns: Sequence[str] | None) -> Any:
        """Return a table as a ``polars.DataFrame``."""


_load: Callable[[], Presenter]


def present_with(load: Callable[[], Presenter]) -> None:
    """Register the function that loads the presenter; it is called when a value is first shown."""
    global _load
    _load = load


class Displayed:
    """A value that notebooks and ``print`` show as more than its ``repr``."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        # IPython prefers the __repr__ of a class, which dataclasses have, to an inherited _repr_pretty_
        cls._repr_pretty_ = Displayed._repr_pretty_  # type: ignore[method-assign]

    def __str__(self) -> str:
        return _load().plain_text(self)

    def _repr_html_(self) -> str:
        return _load().html(self)

    def _repr_pretty_(self, printer: Any, is_cycle: bool) -> None:
        printer.text(_load().plain_text(self))


class Tabular(Displayed):
    """A value that is a table."""

    __slots__ = ()

    def to_pandas(self, columns: Sequence[str] | None = None) -> Any:
        """Return the table as a ``pandas.DataFrame`` with these columns of docs/reference/data.md, by default all.

        Raises:
            UnknownNameError: if there is no such column.
            UsageError: if pandas is not installed.
        """
        return _load().to_pandas(self, columns)

    def to_polars(self, columns: Sequence[str] | None = None) -> Any:
        """Return the table as a ``polars.DataFrame``, as ``to_pandas`` does."""
        return _load().to_polars(self, columns)
