"""The value of a page, what was made of it, and how long it is good for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace

from arena.server.http.rendered import Rendered

LATE_SECONDS = 0.3
"""How long a reader who prefers to wait is kept from an earlier value, unless the next takes longer or has to wait."""
HURRIED_SECONDS = 0.05
"""The same of a reader who has just come; the page is live a moment later."""

REST_PER_CPU_SECOND = 10.0
MAX_CROWDING = 3.0
MAX_REST_SECONDS = 300.0
"""A value is not built again at each event, but after this time for each second that a processor worked for it: a page
costs at most a tenth of a core while its tournament is played. Where it took longer than that because others needed the
processors, it rests longer by the square of the ratio: a builder that gets a third of a core leaves it a ninetieth.
After a correction, or when its tournament was deleted, it does not rest.
"""


def rest_seconds(build_seconds: float, cpu_seconds: float | None) -> float:
    """Return how long a value rests.

    Args:
        build_seconds: how long it took to build.
        cpu_seconds: how long a processor worked for that; None if that is not known.
    """
    worked_seconds = build_seconds if cpu_seconds is None else min(cpu_seconds, build_seconds)
    crowding = min(build_seconds / worked_seconds, MAX_CROWDING) if worked_seconds > 0.0 else MAX_CROWDING
    return min(REST_PER_CPU_SECOND * worked_seconds * crowding**2, MAX_REST_SECONDS)


NAMES_END = "|"
"""In the text of corrections."""


def names_of(corrections: str) -> str:
    """Return the part of a text of corrections that differs after a person has left."""
    names, end, _ = corrections.partition(NAMES_END)
    return names if end else ""


@dataclass(slots=True, eq=False)
class Value:
    """What a page shows.

    Attributes:
        json: as JSON.
        version: of its topics, before it was built.
        built_at: when (monotonic seconds).
        build_seconds: how long it took.
        progress: of the runs that it shows, before it was built.
        corrections: of what it shows, before it was built.
        names: that part of it that differs after a person has left, whose name is not to be shown any more.
        cpu_seconds: how long a processor worked for it; None if that is not known.
        has_all_words: whether it may have what bots have said, for everybody who reads it.
    """

    json: bytes
    version: str
    built_at: float
    build_seconds: float
    progress: str = ""
    corrections: str | None = None
    names: str = ""
    cpu_seconds: float | None = None
    has_all_words: bool = False
    _rendering: dict[tuple[str, str | None, str], asyncio.Task[Rendered]] = field(default_factory=dict)

    @property
    def size_bytes(self) -> int:
        """How much memory it takes."""
        done = [task.result() for task in self._rendering.values() if task.done() and not task.cancelled()]
        return len(self.json) + sum(one.size_bytes for one in done)

    async def rendered(
        self, suffix: str, table: str | None, render: Callable[[], Coroutine[None, None, Rendered]], notice: str = ""
    ) -> Rendered:
        """Return what is made of it; it is made once.

        Args:
            suffix: of the address.
            table: which table of the page, if any.
            render: makes it.
            notice: what else it says.
        """
        key = (suffix, table, notice)
        if key not in self._rendering:
            self._rendering[key] = asyncio.create_task(render())
        try:
            return await asyncio.shield(self._rendering[key])
        except Exception:
            self._rendering.pop(key, None)
            raise

    def is_before(self, corrections: str) -> bool:
        """Return whether something was corrected or deleted since; that of an earlier server does not say."""
        return self.corrections is not None and self.corrections != corrections

    def rests_until(self, corrections: str) -> float:
        """Return when the next value may begin to be built (monotonic seconds)."""
        if self.is_before(corrections):
            return 0.0
        return self.built_at + rest_seconds(self.build_seconds, self.cpu_seconds)

    def saying(self, json: bytes) -> Value:
        """Return the same with something newer that did not take a build."""
        return replace(self, json=json, _rendering={})

    def take_over(self, earlier: Value) -> None:
        """Keep what was made of an earlier value that says the same."""
        self._rendering = earlier._rendering
