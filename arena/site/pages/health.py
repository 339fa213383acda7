"""How the server is."""

from __future__ import annotations

from arena.site.frame.model import Model, Parameters


class HealthParameters(Parameters):
    """The address of the page says nothing."""


class BuilderHealth(Model):
    """The processes that build one kind of pages.

    Attributes:
        lane: which pages.
        processes: how many there are now.
        most_processes: how many there may be.
    """

    lane: str
    processes: int
    most_processes: int


class HealthPage(Model):
    """How the server is.

    Attributes:
        is_store_readable: whether it can read its store.
        is_home_writable: whether something new can be kept, where people may enter; True where they may not.
        version: of the arena.
        store_lost_seconds: since when the store can't be read; None if it can.
        running_seconds: since when the server runs.
        builders: the processes that build pages.
        event_readers: how many streams of events are open.
        last_change_seconds: since when nothing has changed in the store; None if nothing has since the server runs.
        csp_reports: how often browsers reported that something was not allowed to run.
        troubles: what is wrong with the parts of the site, a sentence each.
    """

    is_store_readable: bool
    is_home_writable: bool = True
    version: str
    store_lost_seconds: float | None
    running_seconds: float
    builders: tuple[BuilderHealth, ...]
    event_readers: int
    last_change_seconds: float | None
    csp_reports: int
    troubles: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """How it is, in a sentence."""
        if not self.is_store_readable:
            return "The store can’t be read now."
        return "The store can be read." if self.is_home_writable else "The store can be read, but nothing new is kept."

    @property
    def is_well(self) -> bool:
        """Whether the site can do what it is for."""
        return self.is_store_readable and self.is_home_writable
