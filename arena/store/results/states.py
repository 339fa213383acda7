"""How far tournaments have got, and who runs them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from arena.base.enums import TournamentState
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTournament:
    """A tournament in a list.

    Attributes:
        tournament: as it is stored.
        state: how far it has got.
        director: the process that runs it now; None without one.
    """

    tournament: StoredTournament
    state: TournamentState
    director: str | None = None

    @property
    def record_bytes(self) -> int:
        """The size of its records."""
        return self.tournament.record_bytes


def listed_tournaments(store: Store, tournaments: Sequence[StoredTournament]) -> list[ListedTournament]:
    """Return what a list says about each of these tournaments.

    Args:
        store: where they are.
        tournaments: the tournaments.
    """
    directors = store.directors()
    return [
        ListedTournament(
            tournament=tournament,
            state=state_of(tournament, directors),
            director=None if tournament.deleted_at else directors.get(tournament.name),
        )
        for tournament in tournaments
    ]


def state_of(tournament: StoredTournament, directors: Collection[str]) -> TournamentState:
    """Return how far a tournament has got.

    Args:
        tournament: as it is stored.
        directors: the names of the tournaments that are being run now.
    """
    if tournament.deleted_at is None and tournament.name in directors:
        return TournamentState.RUNNING
    if tournament.finished_at is not None:
        return TournamentState.FINISHED
    return TournamentState.STOPPED if tournament.recorded else TournamentState.NOT_BEGUN
