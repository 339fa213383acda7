"""A match without a record: still to be played, or being played, with its actions so far if somebody watches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from arena.base.bot_text import BotText
from arena.base.definition import GameChoice
from arena.base.enums import Termination
from arena.base.errors import ArenaError
from arena.base.live_match import LiveMatch
from arena.base.records import MatchRecord, ScheduledMatch, SeatReport
from arena.games import make_game
from arena.games.checked_game import checked_game
from arena.site.matches.match_model import Asked
from arena.store.home import ArenaHome
from arena.store.results.values import StoredTournament

MAX_REASON_CHARACTERS = 500

NOT_SHOWN_LIVE = (
    "This match has no result yet. Its tournament is played on other machines: plies of a match played there aren’t"
    " shown live."
)


class UnfinishedMatch(NamedTuple):
    """A match without a result.

    Attributes:
        record: as far as it has got, in the form of a record.
        sentence: why it has no result.
        asked: whose action is awaited; None if it is not being played.
    """

    record: MatchRecord
    sentence: str
    asked: Asked | None


def unfinished_match(home: ArenaHome, tournament: StoredTournament, line: ScheduledMatch) -> UnfinishedMatch:
    """Return a match that has no record.

    Raises:
        StoreError: if what is stored is malformed.
    """
    before = _before_its_first_question(tournament, line)
    correction = home.store.corrections.skipping(tournament, line.match)
    if correction is not None:
        return UnfinishedMatch(before, f"Correction {correction} took this match out of the schedule.", None)
    if tournament.finished_at is not None:
        return UnfinishedMatch(before, "This match was not played.", None)
    if tournament.name in home.store.directors():
        state = home.store.live_state(tournament)
        live = state.live_match(line.match)
        if live is not None:
            asked = Asked(seat=live.state.seat, since=live.state.since, allowed_seconds=live.state.allowed_seconds)
            if live.state.left_out:
                asked = Asked(seat=None, since=live.state.since, allowed_seconds=None)
                return UnfinishedMatch(before, _too_large(live.state.left_out), asked)
            return UnfinishedMatch(_so_far(before, live.state), "This match is being played.", asked)
        progress = state.progress()
        if progress is not None and any(one.match == line.match for one in progress.progress.playing):
            asked = Asked(seat=None, since=progress.at, allowed_seconds=None)
            return UnfinishedMatch(before, "This match is being played; its plies will appear here.", asked)
        if progress is not None and not progress.progress.shows_matches:
            return UnfinishedMatch(before, NOT_SHOWN_LIVE, None)
    reason = home.store.reasons_without_result(tournament).get(line.match)
    why = f": {reason[:MAX_REASON_CHARACTERS]}" if reason and home.audience.reads_all else "."
    void = f" The last try was void{why}" if reason else ""
    return UnfinishedMatch(before, f"This match has not been played yet.{void}", None)


def _too_large(plies: int) -> str:
    return f"This match is being played. Its {plies:,} plies so far are too large to be shown before its end."


def _so_far(before: MatchRecord, live: LiveMatch) -> MatchRecord:
    return replace(
        before,
        actions=live.actions,
        wall_seconds=live.wall_seconds,
        cpu_seconds=live.cpu_seconds,
        faults=live.faults,
        opening_plies=min(before.opening_plies, len(live.actions)),
        started_at=live.started_at,
    )


def _before_its_first_question(tournament: StoredTournament, line: ScheduledMatch) -> MatchRecord:
    """Return a match before its first answer, in the form of a record."""
    definition = tournament.definition
    choice = definition.games[line.game]
    bots = tuple(definition.entrants[seat].label for seat in line.seats)
    opening = _opening(choice, line)
    nothing = (None,) * len(opening)
    return MatchRecord(
        match=line.match,
        tournament=tournament.name,
        game=choice.game,
        options=choice.options,
        bots=bots,
        rng_seed=line.rng_seed,
        encounter=line.encounter,
        opening=line.opening,
        opening_plies=len(opening),
        actions=tuple(opening),
        scores=(0,) * len(bots),
        ranks=(1,) * len(bots),
        termination=Termination.VOID,
        faults=(),
        wall_seconds=nothing,
        cpu_seconds=nothing,
        seats=(SeatReport(),) * len(bots),
        notes=BotText(()),
        time_control=definition.time_control,
        isolation="",
    )


def _opening(choice: GameChoice, line: ScheduledMatch) -> list[list[Any]]:
    """Return the actions of an opening with their seats, as far as the rules can be asked."""
    actions = list[list[Any]]()
    try:
        game = checked_game(make_game(choice.game, **choice.options), choice.game)
        state = game.initial_state()
        for action in line.opening_actions:
            seat, state = game.seat_to_act(state), game.apply(state, action)
            actions.append([seat, action])
    except ArenaError:
        pass  # what the viewer does with this match says what is wrong
    return actions
