"""The page of a match: recorded, being played, or still to be played; and how far its analysis is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from arena.base.bot_text import Audience
from arena.base.definition import GameChoice
from arena.base.enums import AnalysisState
from arena.base.errors import ArenaError, UnknownNameError
from arena.base.live_match import LiveMatch
from arena.base.records import MatchRecord, ScheduledMatch, time_controls_of
from arena.games import make_game
from arena.games.checked_game import checked_game
from arena.lab.matches.annotation import Annotation, annotation_of, is_analysed_here
from arena.site.matches.match_model import Asked, MatchAnalysis, MatchPage, MatchParameters, SeatDetails
from arena.site.matches.positions import record_without_result
from arena.site.matches.viewed_match import viewed_match
from arena.store.home import ArenaHome
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament

MAX_REASON_CHARACTERS = 500

NOT_SHOWN_LIVE = (
    "This match has no result yet. Its tournament is played on other machines: plies of a match played there aren’t"
    " shown live."
)


class UnfinishedMatch(NamedTuple):
    """A match without a result.

    Attributes:
        record: the actions so far, in the form of a record.
        sentence: why it has no result.
        asked: whose action is awaited; None if it is not being played.
    """

    record: MatchRecord
    sentence: str
    asked: Asked | None


def unfinished_match(home: ArenaHome, tournament: StoredTournament, line: ScheduledMatch) -> UnfinishedMatch:
    """Return a match that has no record; StoreError if its state is malformed."""
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
            sentence = "This match is being played."
            if plies := live.state.left_out:
                sentence = f"{sentence} Its {plies:,} plies so far are too large to be shown before its end."
                return UnfinishedMatch(before, sentence, Asked(seat=None, since=live.state.since, allowed_seconds=None))
            return UnfinishedMatch(_so_far(before, live.state), sentence, Asked.of(live.state))
        progress = state.progress()
        if progress is not None and any(one.match == line.match for one in progress.progress.playing):
            asked = Asked(seat=None, since=progress.at, allowed_seconds=None)
            return UnfinishedMatch(before, "This match is being played; its plies will appear here.", asked)
        if progress is not None and not progress.progress.shows_matches:
            return UnfinishedMatch(before, NOT_SHOWN_LIVE, None)
    reason = home.store.reasons_without_result(tournament).get(line.match)
    explanation = f": {reason[:MAX_REASON_CHARACTERS]}" if reason and home.audience.reads_all else "."
    void = f" The last try was void{explanation}" if reason else ""
    return UnfinishedMatch(before, f"This match has not been played yet.{void}", None)


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
    definition = tournament.definition
    choice = definition.games[line.game]
    entrants = [definition.entrants[seat] for seat in line.seats]
    opening = _opening(choice, line)
    return replace(
        record_without_result(choice.game, choice.options, [bot.label for bot in entrants], opening),
        match=line.match,
        tournament=tournament.name,
        rng_seed=line.rng_seed,
        encounter=line.encounter,
        opening=line.opening,
        opening_plies=len(opening),
        time_control=definition.time_control,
        time_controls=time_controls_of(entrants, definition.time_control),
    )


def _opening(choice: GameChoice, line: ScheduledMatch) -> list[list[Any]]:
    """Return the actions of an opening with their seats, up to the first that the rules do not know."""
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


MAX_STDERR_CHARACTERS = 4000
"""Of a bot's text, on the page; ``arena bot repro`` and the record have all of it."""

MAX_VERSIONS = 20


def build_match(home: ArenaHome, parameters: MatchParameters) -> MatchPage:
    """Build the page of a match; StoreError if its record is malformed."""
    store = home.store
    with store.one_transaction():  # without the rules of the game, which may take long
        tournament = store.tournament(parameters.tournament)
        last = store.last_match(tournament)
        if parameters.match > last:
            raise UnknownNameError("match", str(parameters.match), [f"1 to {last}"] if last else [])
        record = store.find_record(tournament, parameters.match)
        annotation = annotation_of(store, tournament, record) if record is not None else None
        analysis = analysis_of(store, tournament, record, annotation) if record is not None else None
    is_recorded, names = record is not None, tournament.definition.shown_names
    if record is not None:
        shown = viewed_match(record, names, parameters.ply, annotation=annotation, audience=home.audience)
    else:
        unfinished = unfinished_match(home, tournament, store.scheduled_match(tournament, parameters.match))
        record = unfinished.record
        shown = viewed_match(
            record,
            names,
            parameters.ply,
            unfinished=unfinished.sentence,
            asked=unfinished.asked,
            audience=home.audience,
        )
    ply = shown.decided_ply if parameters.ply is None else parameters.ply
    last_ply = shown.first_ply + len(shown.positions) - 1
    return MatchPage.of(
        record,
        tournament=tournament.name,
        is_recorded=is_recorded,
        analysis=analysis,
        shown=shown,
        ply=last_ply if ply is None else min(max(ply, shown.first_ply), last_ply),
        seats=_seat_details(record, home.audience) if is_recorded else (),
        time_rules=_time_rules(record, names),
        versions=dict(list(record.versions.items())[:MAX_VERSIONS]),
        previous=parameters.match - 1 if parameters.match > 1 else None,
        following=parameters.match + 1 if parameters.match < last else None,
    )


def _seat_details(record: MatchRecord, audience: Audience) -> tuple[SeatDetails, ...]:
    return tuple(
        SeatDetails.of(
            report,
            exit=report.exit_shown_to(audience, bot, has_fault=any(fault.seat == seat for fault in record.faults)),
            stderr=shortened_stderr(report.stderr.shown_to(audience, bot) or ""),
        )
        for seat, (bot, report) in enumerate(zip(record.bots, record.seats, strict=True))
    )


def shortened_stderr(text: str) -> str:
    """Return what a bot wrote as a page shows it: its beginning and its end."""
    most = MAX_STDERR_CHARACTERS
    return text if len(text) <= most else f"{text[: most // 2]}\n…\n{text[-most // 2 :]}"


def _time_rules(record: MatchRecord, names: Mapping[str, str]) -> str:
    """Return the time rules in a few words, of each bot if they differ."""
    if not record.time_controls:
        return record.time_control.shown
    own = zip(record.bots, record.time_controls, strict=True)
    return "; ".join(f"{names.get(bot, bot)} {time_control.shown}" for bot, time_control in own)


def analysis_of(
    store: Store, tournament: StoredTournament, record: MatchRecord, annotation: Annotation | None
) -> MatchAnalysis:
    """Return how far the analysis of a match is, from its annotation and what became of a request."""
    asked = store.analysis_requests.find(tournament, record.match)
    if asked is not None and asked.state is AnalysisState.RUNNING:
        return MatchAnalysis(state=asked.state, sentence="Being analysed now, which takes at most about a minute.")
    if asked is not None and asked.state is AnalysisState.WAITING:
        return MatchAnalysis.of(asked, sentence=f"Analysis asked for: place {asked.place} of {asked.waiting}.")
    if annotation is not None and not annotation.unknown_before:
        return MatchAnalysis(state=AnalysisState.DONE)
    unknown = _unknown_positions(annotation)
    if asked is not None:
        sentence = f"Searched for {asked.searched_seconds} s; {unknown} stay unknown."
        return MatchAnalysis(state=AnalysisState.UNKNOWN, sentence=sentence)
    may_be_asked_for = is_analysed_here(record.game, len(record.bots))
    others = "" if may_be_asked_for else " Only matches for two of the arena’s own games are analysed here."
    sentence = f"Not analysed yet.{others}" if annotation is None else f"Not known yet: {unknown}.{others}"
    return MatchAnalysis(state=AnalysisState.NONE, sentence=sentence, may_be_asked_for=may_be_asked_for)


def _unknown_positions(annotation: Annotation | None) -> str:
    if annotation is None:
        return "its positions"
    is_to_the_end = annotation.unknown_before == len(annotation.worths)
    return "positions up to its end" if is_to_the_end else f"positions before ply {annotation.unknown_before}"
