"""Does what directors have asked for: a request is one correction of the tournament, made once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from arena.base.enums import CorrectionKind, DisqualifiedMatches
from arena.base.errors import ArenaError, DatabaseError, UsageError
from arena.store.home import ArenaHome
from arena.store.people.directing import RequestState, TournamentRequest
from arena.store.people.people_store import PeopleStore
from arena.store.results.values import Correction, StoredTournament
from arena.tournament.corrections.corrected_tournament import void_matches
from arena.tournament.corrections.entrants import disqualify, replace_bot, withdraw
from arena.tournament.corrections.undoing import undo_correction

_log = logging.getLogger("arena.director")

Arguments = Mapping[str, Any]


def _withdraw(home: ArenaHome, request: TournamentRequest) -> Correction:
    bot = request.arguments["bot"]
    return withdraw(home.store, request.tournament, bot, reason=request.reason)


def _disqualify(home: ArenaHome, request: TournamentRequest) -> Correction:
    bot, matches = request.arguments["bot"], DisqualifiedMatches(request.arguments["rule"])
    return disqualify(home.store, request.tournament, bot, reason=request.reason, matches=matches)


def _replace(home: ArenaHome, request: TournamentRequest) -> Correction:
    bot, new = request.arguments["bot"], home.bots.find(request.arguments["new"])
    return replace_bot(home.store, request.tournament, bot, new, reason=request.reason)


def _void(home: ArenaHome, request: TournamentRequest) -> Correction:
    matches = request.arguments["numbers"]
    return void_matches(home.store, request.tournament, matches, reason=request.reason)


def _undo(home: ArenaHome, request: TournamentRequest) -> Correction:
    number = request.arguments["correction"]
    return undo_correction(home.store, request.tournament, number, reason=request.reason)


_DONE_BY: dict[str, tuple[CorrectionKind, Callable[[ArenaHome, TournamentRequest], Correction]]] = {
    "withdraw": (CorrectionKind.WITHDRAW, _withdraw),
    "disqualify": (CorrectionKind.DISQUALIFY, _disqualify),
    "replace": (CorrectionKind.REPLACE, _replace),
    "void": (CorrectionKind.VOID, _void),
    "undo": (CorrectionKind.UNDO, _undo),
}

KINDS = tuple(_DONE_BY)
"""The kinds of requests."""


def carry_out_requests(home: ArenaHome, people: PeopleStore, tournament: str) -> int:
    """Decide the requests for a tournament that nobody is running now, the oldest first; return how many.

    A request that can't be done, or is of an unknown kind, is refused with the reason.

    Raises:
        DatabaseError: if a database fails; what was begun is found again.
        StoreError: if the tournament is being run; nothing was changed.
    """
    with home.store.lock(tournament):
        decided = 0  # a request that meets another director is not refused, but waits
    while (request := people.requests.next(tournament)) is not None:
        _carry_out(home, people, request)
        decided += 1
    return decided


def _carry_out(home: ArenaHome, people: PeopleStore, request: TournamentRequest) -> None:
    found = home.store.find_tournament(request.tournament)
    before = max((one.number for one in found.corrections), default=0) if found is not None else 0
    made = _made_already(found, request)
    if made is not None:
        people.requests.finish(request.number, _sentence(made), is_done=True)
        return
    people.requests.begin(request.number, before)
    try:
        if request.kind not in _DONE_BY:
            raise UsageError(f"{request.kind!r}: expected {', '.join(KINDS)}")
        made = _DONE_BY[request.kind][1](home, request)
    except DatabaseError:
        raise
    except (ArenaError, KeyError, TypeError, ValueError) as error:
        _log.warning("request %d (%s %s) is refused: %s", request.number, request.kind, request.tournament, error)
        people.requests.finish(request.number, f"{error}", is_done=False)
    else:
        people.requests.finish(request.number, _sentence(made), is_done=True)


def _made_already(tournament: StoredTournament | None, request: TournamentRequest) -> Correction | None:
    """Return the correction that a director made before it was killed, without having said so."""
    if tournament is None or request.state is not RequestState.BEGUN or request.kind not in _DONE_BY:
        return None
    kind, earlier = _DONE_BY[request.kind][0], request.corrections_before or 0
    later = [one for one in tournament.corrections if one.number > earlier]
    return next((one for one in later if one.kind is kind and one.reason == request.reason), None)


def _sentence(correction: Correction) -> str:
    return f"correction {correction.number} was made"
