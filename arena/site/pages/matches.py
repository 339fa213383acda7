"""Builds a page of the matches of a tournament, from rows alone."""

from __future__ import annotations

import math
from collections.abc import Mapping

from arena.base.errors import UnknownNameError
from arena.site.pages.results_model import ListedMatch, MatchesPage, MatchesParameters
from arena.store.home import ArenaHome
from arena.store.results.match_line import MatchLine
from arena.store.results.match_lists import MatchFilter
from arena.store.results.values import StoredTournament


def build_matches(home: ArenaHome, parameters: MatchesParameters) -> MatchesPage:
    """Build a page of matches.

    Raises:
        UnknownNameError: if the tournament, a bot or the game does not exist.
        StoreError: if what is stored is malformed.
    """
    tournament = home.store.tournament(parameters.tournament)
    _check_names(tournament, parameters)
    chosen = MatchFilter(
        bot=parameters.bot or None,
        rival=parameters.rival or None,
        game=parameters.game or None,
        termination=parameters.termination,
        fault=parameters.fault,
    )
    lists, number = home.store.match_lists, tournament.number
    older: int | None
    newer: int | None
    if parameters.after is not None:
        page = lists.page(number, chosen, after=parameters.after, oldest_first=True, limit=parameters.limit)
        lines, newer, older = page.lines[::-1], page.next, parameters.after + 1
    else:
        page = lists.page(number, chosen, after=parameters.before, limit=parameters.limit)
        lines, older = page.lines, page.next
        newer = None if parameters.before is None else parameters.before - 1
    names = tournament.definition.shown_names
    return MatchesPage(
        tournament=tournament.name,
        recorded=tournament.recorded,
        matches=tuple(_listed(line, names) for line in lines),
        older=older,
        newer=newer,
        games=tuple(dict.fromkeys(tournament.games)),
        names=tuple(sorted({entrant.name for entrant in tournament.definition.entrants} | set(names.values()))),
    )


def _check_names(tournament: StoredTournament, parameters: MatchesParameters) -> None:
    entrants = tournament.definition.entrants
    known = {name for bot in entrants for name in (bot.name, bot.label)}
    for name in filter(None, (parameters.bot, parameters.rival)):
        if name not in known:
            raise UnknownNameError("bot", name, sorted({bot.name for bot in entrants}))
    tournament.require_game(parameters.game or None)


def _listed(line: MatchLine, names: Mapping[str, str]) -> ListedMatch:
    return ListedMatch.of(
        line,
        names=tuple(names.get(bot, bot) for bot in line.bots),
        scores=line.scores and tuple(score if math.isfinite(score) else None for score in line.scores),
        faults=line.faults or (),
        started_at=line.started_at or None,
    )
