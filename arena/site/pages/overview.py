"""Builds the first page, from rows alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from arena.base.enums import TournamentState
from arena.site.frame.reading import Reading
from arena.site.pages.overview_model import (
    ListedTournament,
    OverviewPage,
    OverviewParameters,
    RunningTournament,
    TournamentResult,
)
from arena.site.pages.progress import progress_of
from arena.site.pages.progress_model import Progress
from arena.site.pages.results import latest_results
from arena.site.pages.results_model import ListedResult
from arena.site.pages.winners import winners
from arena.store.home import ArenaHome
from arena.store.results.states import ListedTournament as Listed
from arena.store.results.states import listed_tournaments
from arena.store.results.store import Store

SHOWN = 50
"""Tournaments in a page."""

RESULTS = 5
MAX_RUNNING = 10


def build_overview(home: ArenaHome, parameters: OverviewParameters) -> OverviewPage:
    """Return what a home has."""
    store = home.store
    count, matches = store.totals()
    found = store.newest_tournaments(SHOWN + 1, parameters.before)
    reading = Reading()
    listed = listed_tournaments(store, reading.readable(found[:SHOWN]))
    first = listed if parameters.before is None else []
    return OverviewPage(
        tournaments=tuple(listed_tournament(one) for one in listed),
        older=found[SHOWN - 1].number if len(found) > SHOWN else None,
        tournament_count=count,
        matches=matches,
        running=_running(store, reading),
        results=tuple(islice(_results(store, first, reading), RESULTS)),
        latest=_latest(store, first, reading),
        left_out=reading.left_out,
    )


def _running(store: Store, reading: Reading) -> tuple[RunningTournament, ...]:
    names = sorted(store.directors())[:MAX_RUNNING]
    found = ((name, reading.attempt(partial(_progress, store, name))) for name in names)
    return tuple(RunningTournament(name=name, progress=progress) for name, progress in found if progress is not None)


def _progress(store: Store, name: str) -> Progress | None:
    return progress_of(store, store.tournament(name))


def _results(store: Store, listed: Sequence[Listed], reading: Reading) -> Iterator[TournamentResult]:
    for one in filter(_has_result, listed):
        result = reading.attempt(partial(_result, store, one))
        if result is not None:
            yield result


def _has_result(listed: Listed) -> bool:
    return bool(listed.tournament.recorded) and listed.state is not TournamentState.RUNNING


def _result(store: Store, listed: Listed) -> TournamentResult:
    tournament = listed.tournament
    return TournamentResult(
        name=tournament.name,
        games=tuple(tournament.games),
        winners=winners(store, tournament),
        at=tournament.finished_at,
    )


def _latest(store: Store, listed: Sequence[Listed], reading: Reading) -> tuple[ListedResult, ...]:
    """Return the latest matches of what is being played; else of the newest tournament that has one."""
    by_interest = sorted(listed, key=lambda one: one.state is not TournamentState.RUNNING)
    for one in by_interest:
        latest = reading.attempt(partial(latest_results, store, one.tournament)) if one.tournament.recorded else None
        if latest is not None:
            return latest
    return ()


def listed_tournament(listed: Listed) -> ListedTournament:
    """Return a tournament as lists show it."""
    tournament = listed.tournament
    return ListedTournament(
        name=tournament.name,
        state=listed.state,
        format=tournament.format,
        games=tuple(tournament.games),
        entrants=len(tournament.definition.entrants),
        recorded=tournament.recorded,
        scheduled=tournament.scheduled,
        created_at=tournament.created_at,
        finished_at=tournament.finished_at,
    )
