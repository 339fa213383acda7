"""Helpers of page builders: readable tournaments, owners of bots, and sentences that name bots."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from arena.analysis.text.tables import printable
from arena.base.errors import DatabaseError, NoHomeError, StoreError, text_of
from arena.site.frame.model import ModelOfBots, NamedBot, Parameters, Sentence
from arena.store.home import ArenaHome
from arena.store.results.scope import ALL_TOURNAMENTS, Scope
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament

if TYPE_CHECKING:
    from arena.analysis.measures.leaderboards import Leaderboard


# A page leaves out what its builder can't read from the store, and says so in a sentence.

MAX_SENTENCES = 10
MAX_SENTENCE_CHARACTERS = 500

Value = TypeVar("Value")


class Reading:
    """Reads for a page, and remembers what it could not read."""

    def __init__(self) -> None:
        self._sentences: dict[str, None] = {}

    @property
    def left_out(self) -> tuple[str, ...]:
        """Why something is missing, in sentences."""
        sentences = list(self._sentences)
        more = len(sentences) - MAX_SENTENCES
        return (*sentences[:MAX_SENTENCES], *([f"{more} more can’t be read"] if more > 0 else []))

    def attempt(self, read: Callable[[], Value]) -> Value | None:
        """Return what a function reads; None if it is malformed. StoreError if the store itself is unreadable."""
        try:
            return read()
        except (DatabaseError, NoHomeError):
            raise
        except StoreError as error:
            self._sentences[printable(text_of(error)[:MAX_SENTENCE_CHARACTERS])] = None
            return None

    def readable(self, tournaments: Iterable[StoredTournament]) -> list[StoredTournament]:
        """Return the tournaments whose definitions can be read."""
        return [one for one in tournaments if self.attempt(partial(getattr, one, "definition")) is not None]

    def scope(self, store: Store, scope: Scope = ALL_TOURNAMENTS) -> Scope:
        """Return a scope without tournaments whose definitions are unreadable; the same if there are none.

        Raises:
            UnknownNameError: if the scope names a tournament or a season that does not exist.
            StoreError: if nothing is left of it.
        """
        stored = store.tournaments(scope)
        readable = self.readable(stored)
        if len(readable) == len(stored):
            return scope
        if not readable:
            raise StoreError("; ".join(self._sentences))
        return Scope(tournaments=tuple(tournament.name for tournament in readable))

    def leaderboard(self, home: ArenaHome, tournaments: Sequence[StoredTournament], game: str) -> Leaderboard:
        """Return the leaderboard of a game, without the tournaments whose results can't be read."""
        from arena.analysis.measures.leaderboards import Leaderboard, leaderboard  # the web process rates nothing

        def read(counting: Sequence[StoredTournament]) -> Leaderboard | None:
            return self.attempt(lambda: leaderboard(home.store, counting, game, home.cache_directory))

        if (board := read(tournaments)) is not None:
            return board
        readable = [one for one in tournaments if self.attempt(partial(_read_all, home.store, one, game))]
        return read(readable) or Leaderboard(matches=0, lines=())


def _read_all(store: Store, tournament: StoredTournament, game: str) -> bool:
    for _ in store.result_columns(tournament, game):
        pass
    return True


Shown = TypeVar("Shown", bound=ModelOfBots)

_LABEL = re.compile(r'"([^"\\]{1,200}@[^"\\@]{1,200})"')
"""In JSON. Names that people submit need no escapes."""


def with_authors(home: ArenaHome, parameters: Parameters, model: Shown) -> Shown:
    """Return the model of a page with the owners of the bots on it."""
    store = home.store
    if not store.owners().by_bot:
        return model
    name = getattr(parameters, "tournament", None)
    authors = authors_of([store.tournament(name)] if isinstance(name, str) else store.tournaments())
    shown = set(_LABEL.findall(model.model_dump_json()))
    return model.model_copy(update={"authors": {label: authors[label] for label in sorted(shown & authors.keys())}})


def authors_of(tournaments: Iterable[StoredTournament]) -> Mapping[str, str]:
    """Return the owners of entrants, by ``name@version``; without entrants that have several owners, or none."""
    names_by_label: dict[str, set[str]] = {}
    for tournament in tournaments:
        with suppress(StoreError):  # a newer arena has stored it
            for bot in tournament.definition.entrants:
                authorship = tournament.owners.authorship(bot)
                names_by_label.setdefault(bot.label, set()).add(authorship.author if authorship.is_owned else "")
    return {label: name for label, names in names_by_label.items() if len(names) == 1 for name in names if name}


_FIRST, _LAST = "\x02", "\x03"
"""Around names while a sentence is made; they are removed from names themselves."""


def marked(name: str) -> str:
    """Return a name marked for ``sentence``."""
    return f"{_FIRST}{_unmarked(name)}{_LAST}"


def sentence(text: str, labels: Mapping[str, str]) -> Sentence:
    """Return a sentence from a text with marked names; ``labels`` gives ``name@version`` by name."""
    label_by_name = {_unmarked(name): label for name, label in labels.items()}
    plain, *pieces = text.split(_FIRST)
    bots = []
    for piece in pieces:
        name, _, rest = piece.partition(_LAST)
        bots.append(NamedBot(label=label_by_name[name], name=name, start=len(plain)))
        plain += name + rest
    return Sentence(text=plain, bots=tuple(bots))


def _unmarked(name: str) -> str:
    return name.replace(_FIRST, "").replace(_LAST, "")
