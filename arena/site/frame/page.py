"""A page of the site: a line in the table of pages, from which addresses, JSON, permissions and OpenAPI follow."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from arena.site.frame.model import Model, ModelOfBots, Parameters

if TYPE_CHECKING:
    from arena.store.home import ArenaHome

AUTHORS = "arena.site.frame.building:with_authors"
"""Imported when a page is built."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of the site.

    Attributes:
        name: by which links name it.
        summary: its contents in a line.
        path: its address, with fields of ``parameters`` in braces.
        builder: the function that builds the model, as ``module:function``; imported when it is used. Empty in the
            lane of the server.
        lane: where that runs.
        template: the file in ``templates``.
        room: the page in the site's navigation that it belongs to.
        topics: what must have changed for the page to change, as paths with fields in braces.
        freshener: the function that brings a model up to date by a few look-ups, as ``module:function``; empty without
            one. While a page rests, readers see it with these.
        has_feed: whether there is a feed of its results, at ``feed.atom`` below its address.
    """

    name: str
    summary: str
    path: str
    parameters: type[Parameters]
    model: type[Model]
    builder: str
    lane: Lane
    template: str
    room: str = ""
    topics: tuple[str, ...] = ()
    freshener: str = ""
    has_feed: bool = False

    @property
    def path_fields(self) -> tuple[str, ...]:
        """The parameters in the path, in order."""
        return tuple(_FIELD.findall(self.path))

    def topics_of(self, parameters: Parameters) -> tuple[str, ...]:
        """Return the topics of the page at an address; names are quoted in them as they are in addresses."""
        return _topics_of(self.topics, parameters)

    def build(self, home: ArenaHome, parameters: Parameters) -> Model:
        """Return what the page shows at an address."""
        model = self.function()(home, parameters)
        if isinstance(model, ModelOfBots):
            with_authors: Callable[[ArenaHome, Parameters, Model], Model] = _named(AUTHORS)
            return with_authors(home, parameters, model)
        return model

    def function(self) -> Callable[[ArenaHome, Parameters], Model]:
        """Return the function that builds the page."""
        function: Callable[[ArenaHome, Parameters], Model] = _named(self.builder)
        return function

    def freshened(self, home: ArenaHome, model: Model) -> Model:
        """Return what the page shows, brought up to date by a few look-ups; the same model if nothing is new."""
        function: Callable[[ArenaHome, Model], Model] = _named(self.freshener)
        return function(home, model)


def _named(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


@lru_cache(maxsize=2000)
def _topics_of(topics: tuple[str, ...], parameters: Parameters) -> tuple[str, ...]:
    values = {name: quote(str(value), safe="") for name, value in parameters.model_dump().items()}
    return tuple(topic.format(**values) for topic in topics)
