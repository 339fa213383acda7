"""The base of what pages show and of what their addresses say, and a sentence that names bots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, Self

from annotated_types import Len
from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

from arena.analysis.text.tables import Column, Row, render_table
from arena.base.errors import UnknownNameError

# The base of what pages show, and of what their addresses say.

MAX_NAME_CHARACTERS = 200

Name = Annotated[str, Len(1, MAX_NAME_CHARACTERS)]
"""A name in an address: longer than any that can be given, so that none is refused that is stored."""

_NUMBER = re.compile(r"0|[1-9][0-9]*")


def _as_written(value: Any) -> Any:
    """Return a number only as links write it: so a page has one address, and so have its twins."""
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise PydanticCustomError("number", "expected a whole number in digits, without a sign or zeros before it")
    return value


AsWritten = BeforeValidator(_as_written)
"""Of a whole number in an address; last in its annotation, so that the bounds before it are in its schema."""


class Table(NamedTuple):
    """A table of a page, for CSV: a row has a value for each column's key."""

    columns: Sequence[Column]
    rows: Sequence[Row]


class Model(BaseModel):
    """What a page shows, or a part of it. Frozen; its JSON is what programs get."""

    model_config = ConfigDict(frozen=True, extra="forbid", from_attributes=True)

    @classmethod
    def of(cls, *values: object, **others: Any) -> Self:
        """Return what a page shows of values: their attributes that are fields here, and others by keyword."""
        own = {
            name: getattr(value, name)
            for value in reversed(values)
            for name in cls.model_fields.keys() - others.keys()
            if hasattr(value, name)
        }
        return cls(**own, **others)

    def tables(self) -> Mapping[str, Table]:
        """Return the tables of a page by their names in addresses; without a name the first is meant."""
        return {}

    def csv(self, table: str | None = None) -> str:
        """Return a table (None: the first) as CSV with a header line; nothing in it is a formula to a spreadsheet.

        Raises:
            UnknownNameError: if the page has no such table, or none at all.
        """
        tables = self.tables()
        name = next(iter(tables), "") if table is None else table
        if name not in tables:
            raise UnknownNameError("table", name, tables)
        return f"{render_table(tables[name].columns, tables[name].rows, 'csv')}\n"


class ModelOfBots(Model):
    """A page about bots.

    Attributes:
        authors: owners of the submitted bots on it, by ``name@version``; filled in after it was built.
    """

    authors: dict[str, str] = {}


class Frozen(Model):
    """The embargo on results of a tournament.

    Attributes:
        sentence: since when, and until when; "" before it.
        address: of the page of its contest; "" in a folder, which has none.
    """

    sentence: str
    address: str = ""


class ModelOfTournament(ModelOfBots):
    """A page about one tournament.

    Attributes:
        frozen: the embargo on its results; filled in after it was built.
    """

    frozen: Frozen | None = None


class Parameters(BaseModel):
    """The parameters in the address of a page: the fields in its path, then those of its query, which have defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def may_be_framed(self) -> bool:
        """Whether other sites may show the page in a frame."""
        return False


# A sentence that names bots.


class NamedBot(Model):
    """A bot as a sentence names it.

    Attributes:
        label: ``name@version``.
        name: what the sentence has.
        start: where the name begins in the sentence.
    """

    label: str
    name: str
    start: int


class Sentence(Model):
    """A sentence that names bots, in the order they occur."""

    text: str
    bots: tuple[NamedBot, ...] = ()

    def parts(self) -> Iterator[str | NamedBot]:
        """Yield the pieces of the sentence: texts, and the bots between them."""
        end = 0
        for bot in self.bots:
            yield self.text[end : bot.start]
            yield bot
            end = bot.start + len(bot.name)
        yield self.text[end:]

    def followed_by(self, between: str, other: Sentence) -> Sentence:
        """Return this sentence, a text, and another one, as one."""
        text = self.text + between
        moved = (bot.model_copy(update={"start": bot.start + len(text)}) for bot in other.bots)
        return Sentence(text=text + other.text, bots=(*self.bots, *moved))
