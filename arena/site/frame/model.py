"""A page of the site: its line in the table, the base of its model and of its parameters, and sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self
from urllib.parse import quote

from annotated_types import Len
from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

from arena.analysis.text.tables import Column, Row, render_table
from arena.base.errors import UnknownNameError

if TYPE_CHECKING:
    from arena.store.home import ArenaHome

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

    @classmethod
    def of(cls, keys: Iterable[str], values: Iterable[object], decimals: Mapping[str, int] = {}) -> Self:
        """Return a table of rows, or of values with these attributes; floats have two digits more than ``decimals``."""
        keys = tuple(keys)
        rows = [value if isinstance(value, dict) else {key: getattr(value, key) for key in keys} for value in values]
        return cls([Column(key, key, decimals.get(key), is_number=False) for key in keys], rows)


CONVENTIONS = """\
A `bot`, `rival` or `label` is `name@version`, and `names` are what tables call them; of a match, both are in the
order of its seats. Times are UTC, ISO 8601, and null before they come. A `margin` is half the width of a 95 %
interval, null if it is unknown. A rank is from 1, and equals share it. Lists begin with the best or the latest.
`recorded` matches have a record, `scheduled` ones are in the schedule so far. `verdict` says in a sentence what a
page means, `left_out` why stored results are missing. The fields of standings are the columns of standings."""
"""Of all models, so that none repeats them; the description of the site for programs begins with them."""


class Model(BaseModel):
    """What a page shows, or a part of it, in the words of ``CONVENTIONS``. Frozen; its JSON is what programs get."""

    model_config = ConfigDict(frozen=True, extra="forbid", from_attributes=True, defer_build=True)

    @classmethod
    def of(cls, *values: object, **others: Any) -> Self:
        """Return what a page shows of values: their attributes that are fields here, and others by keyword."""
        fields = {
            name: getattr(value, name)
            for value in reversed(values)
            for name in cls.model_fields.keys() - others.keys()
            if hasattr(value, name)
        }
        return cls(**fields, **others)

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

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @property
    def may_be_framed(self) -> bool:
        """Whether other sites may show the page in a frame."""
        return False


class NamedBot(Model):
    """A bot as a sentence names it.

    Attributes:
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


# A page of the site: a line in the table of pages, from which addresses, JSON, permissions and OpenAPI follow.

_FIELD = re.compile(r"\{(\w+)\}")


class Lane(StrEnum):
    """Where the value of a page is built."""

    ROWS = "rows"
    """In a thread of the server: a few look-ups in the store."""
    RATINGS = "ratings"
    """In a process that rates."""
    BOARDS = "boards"
    """In a process that runs the rules of games, which may be anybody's."""
    SERVER = "server"
    """By the server, about itself; nobody else can."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the site; the first line of its model's docstring says what it shows.

    Attributes:
        path: its address, with fields of ``parameters`` in braces.
        builder: the function that builds the model, as ``module:function`` below ``arena.site``, or a module that has
            ``build_NAME``; imported when it is used. Empty in the lane of the server.
        topic: what must have changed for the page to change, as a path with fields in braces; empty for nothing.
        room: the page in the site's navigation that it belongs to.
        freshener: the function that brings a model up to date by a few look-ups, as ``module:function``; empty without
            one. While a page rests, readers see it with these.
        has_feed: whether there is a feed of its results, at ``feed.atom`` below its address.
    """

    name: str
    path: str
    parameters: type[Parameters]
    model: type[Model]
    lane: Lane
    builder: str = ""
    topic: str = "arena"
    room: str = "overview"
    freshener: str = ""
    has_feed: bool = False

    @property
    def summary(self) -> str:
        """What it shows, in a sentence."""
        return (self.model.__doc__ or "").partition("\n")[0]

    @property
    def path_fields(self) -> tuple[str, ...]:
        """The parameters in the path, in order."""
        return tuple(_FIELD.findall(self.path))

    def topics_of(self, parameters: Parameters) -> tuple[str, ...]:
        """Return the topics of the page at an address; names are quoted in them as they are in addresses."""
        return _topics_of(self.topic, parameters)

    def build(self, home: ArenaHome, parameters: Parameters) -> Model:
        """Return what the page shows at an address."""
        model = self.function()(home, parameters)
        if isinstance(model, ModelOfBots):
            with_authors: Callable[[ArenaHome, Parameters, Model], Model] = _imported("frame.building:with_authors")
            return with_authors(home, parameters, model)
        return model

    def function(self) -> Callable[[ArenaHome, Parameters], Model]:
        """Return the function that builds the page."""
        function: Callable[[ArenaHome, Parameters], Model] = _imported(self.builder, f"build_{self.name}")
        return function

    def freshened(self, home: ArenaHome, model: Model) -> Model:
        """Return what the page shows, brought up to date by a few look-ups; the same model if nothing is new."""
        function: Callable[[ArenaHome, Model], Model] = _imported(self.freshener)
        return function(home, model)


def _imported(path: str, usual: str = "") -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(f"arena.site.{module}"), name or usual)


@lru_cache(maxsize=2000)
def _topics_of(topic: str, parameters: Parameters) -> tuple[str, ...]:
    values = {name: quote(str(value), safe="") for name, value in parameters.model_dump().items()}
    return (topic.format(**values),) if topic else ()
