"""A ladder with the bots of its file, and the latest version of every submitted bot that plays its games.

A new version enters as soon as it is submitted, and the one before it is not paired any more; its results stay.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import replace

from arena.base.definition import Definition
from arena.base.errors import BotDefinitionError, DefinitionError, UsageError
from arena.base.records import Bot
from arena.match.players.building import build_bots
from arena.match.players.manifest import claims_problem
from arena.sandbox.isolation.levels import choose_isolation
from arena.store.home import ArenaHome
from arena.store.results.values import StoredBot
from arena.tournament.definition import load_definition
from arena.tournament.formats.table import format_class

UNCONTAINED = ("none", "limits")

_log = logging.getLogger("arena.ladder")


class OpenLadder:
    """A ladder that submitted bots enter.

    Attributes:
        entrants: who were in it the last time that somebody asked.
    """

    def __init__(self, path: str | os.PathLike[str], home: ArenaHome) -> None:
        """Read its file.

        Args:
            path: the tournament file, or ``arena:NAME``.
            home: where bots are submitted.

        Raises:
            DefinitionError: if the file is no ladder.
        """
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
        """Return the ladder with all who are in it now."""
        self.entrants = tuple(self._present())
        return replace(self._file, entrants=self.entrants)

    def refresh(self) -> Definition | None:
        """Return the ladder if its entrants have changed; None if they are the same."""
        before = self.entrants
        definition = self.definition()
        return definition if definition.entrants != before else None

    def _present(self) -> Iterator[Bot]:
        """Yield those of the file, then the latest version of each other bot."""
        yield from self._file.entrants
        taken = {bot.name for bot in self._file.entrants}
        latest = {bot.name: bot for bot in self._home.store.submitted_bots()}
        for name, stored in latest.items():
            bot = self._found(stored) if name not in taken else None
            if bot is not None:
                yield bot

    def _found(self, stored: StoredBot) -> Bot | None:
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
