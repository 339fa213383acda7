"""How far tournaments have got, who runs them, and who leads."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from arena.base.enums import TournamentState
from arena.base.results import points_of
from arena.store.results.scope import COMPARISON
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTournament:
    """A tournament in a list; ``director`` is the process that runs it now."""

    tournament: StoredTournament
    state: TournamentState
    director: str | None = None


def listed_tournaments(store: Store, tournaments: Sequence[StoredTournament]) -> list[ListedTournament]:
    """Return these tournaments with their states and directors."""
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
    """Return the state of a tournament; ``directors`` are the names of the tournaments that are being run now."""
    if tournament.deleted_at is None and tournament.name in directors:
        return TournamentState.RUNNING
    if tournament.finished_at is not None:
        return TournamentState.IDLE if tournament.format == "ladder" else TournamentState.FINISHED
    return TournamentState.STOPPED if tournament.recorded else TournamentState.NOT_BEGUN


# Who is first in a tournament by points: quick to count, and right where everybody plays the same rivals.

EVERYONE_MEETS = ("round-robin", COMPARISON)
"""Formats in which points compare bots, as all have played the same rivals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaders:
    """Who is first in a tournament.

    Attributes:
        bots: their names, as tables show them; several if they share the first rank.
        score_share: their points per match, from 0 to 1, if points have decided; None if the format or ratings have.
        decided: by which rule the only one has won, as ``Placing.decided``; "" for the usual one.
    """

    bots: tuple[str, ...]
    score_share: float | None = None
    decided: str = ""


def first_by_points(store: Store, tournament: StoredTournament) -> Leaders:
    """Return who has the most points per match: nobody before the first match."""
    points: defaultdict[str, float] = defaultdict(float)
    matches: Counter[str] = Counter()
    for (labels, ranks), count in Counter((r.bots, r.ranks) for r in store.results(tournament)).items():
        for seat, label in enumerate(labels):
            points[label] += count * points_of(ranks, seat)
            matches[label] += count
    names = tournament.listed_names
    shares = {label: round(points[label] / matches[label], 9) for label in names if matches[label]}
    if not shares:
        return Leaders(bots=())
    best = max(shares.values())
    return Leaders(bots=tuple(names[label] for label in shares if shares[label] == best), score_share=best)
