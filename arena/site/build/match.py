"""The page of a match: recorded, being played, or still to be played."""

from __future__ import annotations

from typing import Any

from arena.definition import GameChoice
from arena.enums import Termination
from arena.errors import ArenaError, UnknownNameError
from arena.games import make_game
from arena.games.checked_game import checked_game
from arena.home import ArenaHome
from arena.records import MatchRecord, ScheduledMatch, SeatReport, TimeControl
from arena.site.build.viewed_match import viewed_match
from arena.site.models.match import Asked, MatchPage, MatchParameters, SeatDetails
from arena.store.values import StoredTournament

MAX_STDERR_CHARACTERS = 4000
"""Of a bot's text, on the page; ``arena repro`` and the record have all of it."""

MAX_VERSIONS = 20


def build_match(home: ArenaHome, parameters: MatchParameters) -> MatchPage:
    """Build the page of a match.

    Raises:
        UnknownNameError: if there is no such tournament or match.
        StoreError: if what is stored is malformed.
    """
    tournament = home.store.tournament(parameters.tournament)
    last = home.store.last_match(tournament)
    if parameters.match > last:
        raise UnknownNameError("match", str(parameters.match), [f"1 to {last}"] if last else [])
    found = home.store.find_record(tournament, parameters.match)
    is_recorded = found is not None
    record = found or _unplayed(tournament, home.store.scheduled_match(tournament, parameters.match))
    asked = None if is_recorded else Asked(seat=None, since="", allowed_seconds=None)
    shown = viewed_match(record, tournament.definition.shown_names, parameters.ply, asked)
    return MatchPage(
        tournament=tournament.name,
        is_recorded=is_recorded,
        shown=shown,
        ply=_ply_within(shown.first_ply, len(shown.positions), parameters.ply),
        encounter=record.encounter,
        rng_seed=record.rng_seed,
        seats=tuple(map(_seat_details, record.seats)) if is_recorded else (),
        time_rules=time_rules(record.time_control),
        isolation=record.isolation,
        versions=dict(list(record.versions.items())[:MAX_VERSIONS]),
        started_at=record.started_at,
        previous=parameters.match - 1 if parameters.match > 1 else None,
        following=parameters.match + 1 if parameters.match < last else None,
    )


def _ply_within(first: int, count: int, wanted: int | None) -> int:
    last = first + count - 1
    return last if wanted is None else min(max(wanted, first), last)


def _unplayed(tournament: StoredTournament, line: ScheduledMatch) -> MatchRecord:
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
        notes=(),
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


def _seat_details(report: SeatReport) -> SeatDetails:
    text, most = report.stderr, MAX_STDERR_CHARACTERS
    return SeatDetails(
        wall_seconds=report.wall_seconds,
        cpu_seconds=report.cpu_seconds,
        off_turn_cpu_seconds=report.off_turn_cpu_seconds,
        exit=report.exit,
        stderr=text if len(text) <= most else f"{text[: most // 2]}\n…\n{text[-most // 2 :]}",
    )


def time_rules(rules: TimeControl) -> str:
    """Return the time rules in a few words."""
    parts = []
    if rules.per_action_seconds is not None:
        parts.append(f"{rules.per_action_seconds:g} s an action")
    if rules.bank_seconds is not None:
        increment = f" + {rules.increment_seconds:g} s an action" if rules.increment_seconds else ""
        parts.append(f"{rules.bank_seconds:g} s a match{increment}")
    return f"{', '.join(parts) or 'no time limit'} ({rules.clock} time)"
