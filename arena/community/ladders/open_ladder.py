"""A ladder with the bots of its file and the submitted ones, and which of these are suspended."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from arena.base.definition import Definition
from arena.base.errors import BotDefinitionError, DatabaseError, DefinitionError, UsageError
from arena.base.records import Bot
from arena.base.text import all_of, size_text
from arena.match.players.building import build_bots
from arena.match.players.manifest import claims_problem
from arena.sandbox.isolation.levels import choose_isolation
from arena.store.home import ArenaHome
from arena.store.people.rates import MAX_DAILY_BYTES
from arena.store.people.stored_contests import ContestSuspension
from arena.store.results.values import StoredBot
from arena.tournament.definition import load_definition
from arena.tournament.directors.supervised_run import SupervisedRun
from arena.tournament.formats.format import format_class
from arena.tournament.run import Order, RunControl

# A new version enters as soon as it is submitted, and the one before it is not paired any more; its results stay.

UNCONTAINED = ("none", "limits")

_log = logging.getLogger("arena.ladder")


class OpenLadder:
    """A ladder that submitted bots enter; ``entrants`` are those of the latest definition."""

    def __init__(self, path: str | os.PathLike[str], home: ArenaHome) -> None:
        """Read a tournament file, or ``arena:NAME``; raise DefinitionError if it is no ladder."""
        self._file = load_definition(path, home.bots)
        if not format_class(self._file).open_entry:
            raise DefinitionError(f"{path}: format = {self._file.format!r}: expected 'ladder', which is always open")
        if self._file.isolation in UNCONTAINED:
            raise DefinitionError(
                f"{path}: isolation = {self._file.isolation!r}: bots of others play here; expected 'auto', 'landlock'"
                " or 'bubblewrap'"
            )
        self._home = home
        self._bots: dict[tuple[str, str], Bot | None] = {}
        self.entrants: tuple[Bot, ...] = ()

    @property
    def name(self) -> str:
        """The name of the tournament."""
        return self._file.name

    @property
    def players(self) -> int:
        """How many seats its largest game has."""
        return max(game.players for game in self._file.games)

    def definition(self) -> Definition:
        """Return the ladder with its present entrants."""
        self.entrants = tuple(self._current_entrants())
        return replace(self._file, entrants=self.entrants)

    def refresh(self) -> Definition | None:
        """Return the ladder if its entrants have changed; None if they are the same."""
        earlier = self.entrants
        definition = self.definition()
        return definition if definition.entrants != earlier else None

    def _current_entrants(self) -> Iterator[Bot]:
        """Yield the bots of the file, then the latest version of each other bot."""
        yield from self._file.entrants
        taken_names = {bot.name for bot in self._file.entrants}
        latest = {bot.name: bot for bot in self._home.store.submitted_bots()}
        for name, stored in latest.items():
            bot = self._built_bot(stored) if name not in taken_names else None
            if bot is not None:
                yield bot

    def _built_bot(self, stored: StoredBot) -> Bot | None:
        """Return a submitted bot, built; None if it can't play here."""
        key = (stored.label, stored.digest)
        if key not in self._bots:
            try:
                self._bots[key] = self._load(stored.label)
            except BotDefinitionError as error:
                _log.warning("%s does not enter: %s", stored.label, error)
                self._bots[key] = None
            except UsageError as error:  # the machine's fault; it is tried again
                _log.warning("%s does not enter now: %s", stored.label, error)
                return None
        return self._bots[key]

    def _load(self, label: str) -> Bot | None:
        bot = self._home.bots.find(label)
        if any(claims_problem(bot, choice.game) is not None for choice in self._file.games):
            return None
        build_bots([bot], choose_isolation(self._file.isolation))
        return bot


# Bots are suspended from a ladder while a contest hides their results, or after their author has used up a quota.

ASK_SECONDS = 0.5
"""Between two queries for contests; a known suspension begins on time."""

MAX_NAMED = 5


class LadderSuspensions(RunControl):
    """Keeps bots away from the matches of a ladder, and ends its runs when a suspension begins or ends.

    The ladder's director calls ``look`` before a run, and ``enter`` when entrants come while it lasts.
    """

    def __init__(self, supervised: SupervisedRun) -> None:
        """Prepare; the run also follows the orders of ``supervised``."""
        self._supervised = supervised
        self.scheduling = supervised.scheduling
        self._bots: dict[str, tuple[str, ...]] = {}
        self._of_contests: list[ContestSuspension] | None = None
        self._asked_at = self._counted_at = float("-inf")
        self._over_quota: frozenset[str] = frozenset()

    def look(self, bots: Iterable[Bot]) -> bool:
        """Keep suspended bots away, of these and of earlier ones; return whether other bots are suspended now."""
        before, self._supervised.scheduling.away = self._supervised.scheduling.away, frozenset()
        self.enter(bots)
        return self._supervised.scheduling.away != before

    def enter(self, bots: Iterable[Bot]) -> None:
        """Also keep suspended new entrants away."""
        self._bots |= {bot.label: bot.games for bot in bots}
        self._asked_at = self._counted_at = float("-inf")
        self._supervised.scheduling.away |= self._suspended_for_contests() | self._beyond_quota()
        self._supervised.remark = "; ".join(filter(None, (self._contests_remark(), self._quota_remark())))

    def order(self) -> Order:
        """Return what the run is to do; matches of a suspended bot are not recorded."""
        suspended, before = self._suspended_for_contests(), self._supervised.scheduling.away
        if not suspended <= before:
            return Order.ABANDON
        return Order.STOP if suspended | self._beyond_quota() != before else self._supervised.order()

    def _beyond_quota(self) -> frozenset[str]:
        """Count what bots wrote since the last look; return the bots of authors over their quota of today."""
        if time.monotonic() - self._counted_at >= ASK_SECONDS:
            quota, scheduling = self._supervised.people.record_quota, self._supervised.scheduling
            try:
                if scheduling.text_bytes:
                    quota.add(scheduling.text_bytes)
                    scheduling.text_bytes.clear()
                self._over_quota = quota.beyond(self._bots)
            except DatabaseError as error:
                _log.warning("%s: quotas can't be read: %s", self._supervised.tournament, error)
            self._counted_at = time.monotonic()
        return self._over_quota

    def _suspended_for_contests(self) -> frozenset[str]:
        if time.monotonic() - self._asked_at >= ASK_SECONDS:
            try:
                self._of_contests, self._asked_at = self._supervised.people.contests.suspensions(), time.monotonic()
            except DatabaseError as error:
                if self._of_contests is None:
                    raise
                _log.warning("%s: who rests can't be read: %s", self._supervised.tournament, error)
        return frozenset(label for suspension in self._of_contests or () for label in self._suspended_for(suspension))

    def _suspended_for(self, suspension: ContestSuspension) -> list[str]:
        now = self._supervised.people.contests.now()
        return [label for label, games in self._bots.items() if suspension.holds(label.rpartition("@")[0], games, now)]

    def _quota_remark(self) -> str:
        if not self._over_quota:
            return ""
        bots, size = sorted(self._over_quota), size_text(MAX_DAILY_BYTES)
        named = bots[:MAX_NAMED] + ([f"{len(bots) - MAX_NAMED} more"] if len(bots) > MAX_NAMED else [])
        verb = "is" if len(bots) == 1 else "are"
        return f"{all_of(named)} {verb} suspended until 00:00 UTC: their author's bots wrote more than {size} today"

    def _contests_remark(self) -> str:
        """Return for which contests bots are suspended, without naming bots; "" if none is."""
        names = sorted(entry.contest.name for entry in self._of_contests or () if self._suspended_for(entry))
        if not names:
            return ""
        contests_text = (
            f"contest {names[0]} rest until its" if len(names) == 1 else f"contests {all_of(names)} rest until their"
        )
        return f"bots that can enter the {contests_text} results are revealed"
