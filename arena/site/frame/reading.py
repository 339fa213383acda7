"""What can be read of the store while a page is built: the rest is left out, and the page says so in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from arena.analysis.text.tables import printable
from arena.base.errors import DatabaseError, NoHomeError, StoreError, text_of
from arena.store.home import ArenaHome
from arena.store.results.scope import ALL_TOURNAMENTS, Scope
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament

if TYPE_CHECKING:
    from arena.analysis.measures.leaderboards import Leaderboard

MAX_SENTENCES = 10
MAX_SENTENCE_CHARACTERS = 500

Value = TypeVar("Value")


class Reading:
    """Reads for a page, and remembers what could not be read."""

    def __init__(self) -> None:
        self._sentences: dict[str, None] = {}

    @property
    def left_out(self) -> tuple[str, ...]:
        """Why something is missing, in sentences."""
        sentences = list(self._sentences)
        more = len(sentences) - MAX_SENTENCES
        return (*sentences[:MAX_SENTENCES], *([f"{more} more can’t be read"] if more > 0 else []))

    def attempt(self, read: Callable[[], Value]) -> Value | None:
        """Return what a function reads; None if what is stored is malformed.

        Raises:
            StoreError: if the store itself can't be read.
        """
        try:
            return read()
        except (DatabaseError, NoHomeError):
            raise
        except StoreError as error:
            self._sentences[printable(text_of(error)[:MAX_SENTENCE_CHARACTERS])] = None
            return None

    def readable(self, tournaments: Iterable[StoredTournament]) -> list[StoredTournament]:
        """Return the tournaments whose definitions can be read."""
        return [one for one in tournaments if self.attempt(lambda one=one: one.definition) is not None]  # type: ignore[misc]

    def scope(self, store: Store, scope: Scope = ALL_TOURNAMENTS) -> Scope:
        """Return a scope without the tournaments whose definitions can't be read; the same if all of them can.

        Raises:
            UnknownNameError: if the scope names a tournament or a season that does not exist.
            StoreError: if nothing is left of it.
        """
        found = store.tournaments(scope)
        readable = self.readable(found)
        if len(readable) == len(found):
            return scope
        if not readable:
            raise StoreError("; ".join(self._sentences))
        return Scope(tournaments=tuple(one.name for one in readable))

    def leaderboard(self, home: ArenaHome, tournaments: Sequence[StoredTournament], game: str) -> Leaderboard:
        """Return the leaderboard of a game, without the tournaments whose results can't be read."""
        from arena.analysis.measures.leaderboards import (
            Leaderboard,  # the web process, which reads rows, rates nothing
        )

        board = self._leaderboard(home, tournaments, game)
        if board is not None:
            return board
        readable = [one for one in tournaments if self.attempt(lambda one=one: _read_all(home.store, one, game))]  # type: ignore[misc]
        return self._leaderboard(home, readable, game) or Leaderboard(matches=0, lines=())

    def _leaderboard(self, home: ArenaHome, tournaments: Sequence[StoredTournament], game: str) -> Leaderboard | None:
        from arena.analysis.measures.leaderboards import leaderboard

        return self.attempt(lambda: leaderboard(home.store, tournaments, game, home.cache_directory))


def _read_all(store: Store, tournament: StoredTournament, game: str) -> bool:
    """Read all results of a game in a tournament."""
    for _ in store.result_columns(tournament, game):
        pass
    return True
