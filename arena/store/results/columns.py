"""Types of columns whose values are checked when they are read, for SQLite does not enforce the type of a column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum
from typing import Any, ClassVar, TypeVar

import sqlalchemy as sa

from arena.base.errors import StoreError
from arena.base.text import any_of

T = TypeVar("T")


def expected(*kinds: type) -> Callable[[Any], Any]:
    """Return the check of a column that holds values of these types."""

    def checked(value: Any) -> Any:
        if type(value) not in kinds:
            raise StoreError(f"the database holds {value!r:.80} where {'a number' if int in kinds else 'text'} belongs")
        return value

    return checked


class Checked(sa.TypeDecorator[Any]):
    """A column whose values ``check`` checks when they are read, by any driver."""

    check: ClassVar[staticmethod[[Any], Any]]

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> Callable[[Any], Any]:
        """Return what every value read is passed through."""
        return self.check


def _checked(impl: type[sa.types.TypeEngine[Any]], *kinds: type) -> type[Checked]:
    members = {"impl": impl, "cache_ok": True, "check": staticmethod(expected(*kinds))}
    return type(impl.__name__, (Checked,), members)


Integer = _checked(sa.Integer, int)
OptionalInteger = _checked(sa.Integer, int, type(None))
BigInteger = _checked(sa.BigInteger, int)
OptionalBigInteger = _checked(sa.BigInteger, int, type(None))
String = _checked(sa.String, str)
OptionalString = _checked(sa.String, str, type(None))
Text = _checked(sa.Text, str)


class Label(Checked):
    """A column of bots (``name@version``), in the same order in every database: by code point."""

    impl = sa.String
    cache_ok = True
    check = staticmethod(expected(str))

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        """Return the column's type in a database."""
        collation = "C" if dialect.name == "postgresql" else None
        return dialect.type_descriptor(sa.String(140, collation))


class Member(sa.TypeDecorator[StrEnum]):
    """A column of members of an enumeration."""

    impl = sa.String
    cache_ok = True

    def __init__(self, members: type[StrEnum], noun: str, length: int) -> None:
        super().__init__(length)
        self.members, self.noun = members, noun

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> Callable[[Any], StrEnum]:
        """Return what every value read is passed through."""
        members, noun = self.members, self.noun

        def member(value: Any) -> StrEnum:
            try:
                return members(value)
            except ValueError:
                raise StoreError(
                    f"the database holds {value!r:.80} where a {noun} belongs; expected {any_of(list(members))}"
                ) from None

        return member


def value_of(kind: type[T], row: Any, **others: Any) -> T:
    """Return a dataclass from a row: its fields are the columns of the same names, but for those that are given."""
    dataclass: type[Any] = kind
    names = {field.name for field in fields(dataclass)} - others.keys()
    return kind(**{name: row._mapping[name] for name in names}, **others)


def total_of(column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """Return the sum of a column of whole numbers, 0 without rows; PostgreSQL adds large ones up to a decimal."""
    return sa.cast(sa.func.coalesce(sa.func.sum(column), 0), BigInteger)
