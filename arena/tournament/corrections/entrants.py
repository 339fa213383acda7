"""Corrections of entrants: withdrawn, disqualified, with new files, and late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from arena.base.definition import Absence, Definition, bot_identity, bot_to_json
from arena.base.enums import CorrectionKind, DisqualifiedMatches
from arena.base.errors import BotDefinitionError, DefinitionError, UsageError, expect
from arena.base.records import Bot, ScheduledMatch, TimeControl
from arena.match.check.check import check_bot
from arena.match.players.manifest import claims_problem
from arena.sandbox.isolation.levels import choose_isolation
from arena.store.results.store import Store
from arena.store.results.values import Correction, CorrectionDetails, taken_out
from arena.tournament.corrections.corrected_tournament import CorrectedTournament, corrected_tournament, with_entrants
from arena.tournament.formats.format import formats_of
from arena.tournament.schedule import Scheduler


def withdraw(store: Store, tournament: str, bot: str, *, reason: str) -> Correction:
    """Withdraw an entrant: its recorded matches stay, and it is not paired any more.

    In a Swiss its later rounds count nothing, and whoever was to meet it has the point of a bye; in a knockout its
    rival advances.

    Args:
        bot: the entrant, as ``name`` or ``name@version``.

    Raises:
        UsageError: if the entrant can't withdraw, or has done so already.
        StoreError: if the tournament is being run.
    """
    with corrected_tournament(store, tournament, reason) as corrected:
        corrected.require_loose_field()
        entrant = corrected.entrant(bot)
        corrected.require_takes_part(entrant)
        departure = _departure(corrected, entrant)
        may_go_on = corrected.format.open_entry or departure.is_waited_for  # a ladder only waits for somebody new
        if corrected.stored.finished_at is not None and not may_go_on:
            raise UsageError(
                f"tournament {tournament!r} is finished: {corrected.label(entrant)} has no match left to withdraw from"
            )
        details = CorrectionDetails(
            entrant=entrant,
            bot=corrected.label(entrant),
            absent_from=corrected.last_round + 1,
            missed=departure.missed,
        )
        return corrected.make(CorrectionKind.WITHDRAW, details, skip=departure.unplayed)


def disqualify(
    store: Store,
    tournament: str,
    bot: str,
    *,
    reason: str,
    matches: DisqualifiedMatches = DisqualifiedMatches.ANNUL,
) -> Correction:
    """Disqualify an entrant: it is not paired any more, and has no line in the table.

    Args:
        bot: the entrant, as ``name`` or ``name@version``.
        matches: "annul": its matches count for nobody; "keep": they count for its rivals.

    Raises:
        UsageError: if the entrant is disqualified already, or it is a knockout, and its matches are to be annulled.
        StoreError: if the tournament is being run.
    """
    with corrected_tournament(store, tournament, reason) as corrected:
        corrected.require_loose_field()
        entrant = corrected.entrant(bot)
        for c in corrected.in_force:
            if c.kind is CorrectionKind.DISQUALIFY and c.details.entrant == entrant:
                raise UsageError(
                    f"{corrected.label(entrant)} is disqualified in tournament {tournament!r} already (correction"
                    f" {c.number}); nothing was changed"
                )
        details = CorrectionDetails(
            entrant=entrant, bot=corrected.label(entrant), disqualified_matches=matches, absent_from=1
        )
        if matches is DisqualifiedMatches.KEEP:
            departure = _departure(corrected, entrant)
            details = replace(details, absent_from=corrected.last_round + 1, missed=departure.missed)
            return corrected.make(CorrectionKind.DISQUALIFY, details, skip=departure.unplayed)
        if corrected.format.has_later_stages:
            raise UsageError(
                f"tournament {tournament!r}: in a {corrected.definition.format} later duels follow from earlier ones,"
                " so these can't be annulled; expected the rule 'keep'"
            )
        every = [line.match for line in corrected.matches_of(entrant)]
        recorded = [match for match in every if match in corrected.recorded]
        return corrected.make(CorrectionKind.DISQUALIFY, details, skip=every, set_aside=recorded)


class _Departure(NamedTuple):
    """The matches that a leaving entrant has not played, whether any was scheduled, and the rounds it misses."""

    unplayed: list[int]
    is_waited_for: bool
    missed: tuple[Absence, ...]


def _departure(corrected: CorrectedTournament, entrant: int) -> _Departure:
    """Return what an entrant has not played.

    A match of an earlier round that was left out for the rival's sake is no absence of this entrant.
    """
    unplayed = [line for line in corrected.matches_of(entrant) if line.match not in corrected.recorded]
    waiting = [line for line in unplayed if line.match not in corrected.left_out]
    rounds = {line.round for line in waiting}
    rounds |= {line.round for line in unplayed if line.round == corrected.last_round}
    missed = (Absence(entrant=entrant, first_round=number, last_round=number) for number in sorted(rounds))
    return _Departure([line.match for line in unplayed], bool(waiting), tuple(missed))


# Other bots than those a tournament began with: an entrant with new files, and a late entrant.

MAX_CHECK_SECONDS = 5.0
"""The time for each action of a check, if only the whole match has a limit."""


def replace_bot(store: Store, tournament: str, bot: str, new: Bot, *, reason: str) -> Correction:
    """Give an entrant new files: its matches are set aside and played again, all others stay.

    The entrant keeps its name and its time control, and takes the version of the new bot.

    Args:
        bot: the entrant, as ``name`` or ``name@version``.

    Raises:
        BotDefinitionError: if the new bot does not play the games, or does not pass its check.
        UsageError: if it is the same bot, the entrant does not take part any more, or in a knockout later duels follow
            from its matches.
        StoreError: if the tournament is being run.
    """
    expect(isinstance(new, Bot), "new", new, "a Bot, such as load_bot returns")
    definition = store.tournament(tournament).definition
    check_entrant(new, definition)
    with corrected_tournament(store, tournament, reason) as corrected:
        corrected.require_closed_entry()
        corrected.require_loose_field()
        entrant = corrected.entrant(bot)
        corrected.require_takes_part(entrant)
        before = corrected.definition.entrants[entrant]
        new = replace(new, name=before.name, time_control=before.time_control)
        if bot_identity(new) == bot_identity(before):
            raise UsageError(f"bot {new.label!r}: these are the files it has played with; there is nothing to replace")
        own = [line for line in corrected.matches_of(entrant) if line.match in corrected.recorded]
        corrected.require_current_stage(own)
        replays = corrected.replays(own)
        entrants = list(corrected.definition.entrants)
        entrants[entrant] = new
        changed = with_entrants(corrected.definition, tuple(entrants), advice="give the new files another version")
        details = CorrectionDetails(
            entrant=entrant,
            bot=before.label,
            replaced=bot_to_json(before),
            settings=_earlier_settings(corrected, changed),
            missed=replays.missed,
        )
        return corrected.make(
            CorrectionKind.REPLACE,
            details,
            set_aside=[line.match for line in own],
            skip=replays.skip,
            definition=changed,
        )


def enter_late(store: Store, tournament: str, bot: Bot, *, reason: str, is_challenger: bool = False) -> Correction:
    """Let a bot enter a round robin or a gauntlet that has begun: it meets everybody it would have met.

    Args:
        is_challenger: whether it enters a gauntlet as a challenger, and not in the field.

    Raises:
        BotDefinitionError: if the bot does not play the games, or does not pass its check.
        UsageError: if the format takes no late entrants, or an entrant has the bot's name and version.
        StoreError: if the tournament is being run.
    """
    expect(isinstance(bot, Bot), "bot", bot, "a Bot, such as load_bot returns")
    stored = store.tournament(tournament)
    _definition_with(CorrectedTournament(store, stored, reason), bot, is_challenger)
    check_entrant(bot, stored.definition)
    with corrected_tournament(store, tournament, reason) as corrected:
        changed = _definition_with(corrected, bot, is_challenger)
        number = _number_of_late(corrected, bot)
        details = CorrectionDetails(entrant=number, bot=bot.label, settings=_earlier_settings(corrected, changed))
        lines = list(_late_lines(corrected, changed, number))
        absent = corrected.absent - {number}
        skip = [line.match for line in lines if not absent.isdisjoint(line.seats)]
        return corrected.make(CorrectionKind.ENTER, details, definition=changed, lines=lines, skip=skip)


def _definition_with(corrected: CorrectedTournament, bot: Bot, is_challenger: bool) -> Definition:
    name = corrected.stored.name
    corrected.require_closed_entry()
    challengers = corrected.definition.settings.get("challengers")
    if is_challenger and challengers is None:
        raise UsageError(f"tournament {name!r}: only a gauntlet has challengers")
    number = _number_of_late(corrected, bot)
    entrants = corrected.definition.entrants
    changed = with_entrants(
        corrected.definition, (*entrants[:number], bot, *entrants[number + 1 :]), advice="enter it under another name"
    )
    if challengers is not None:
        names = [*changed.settings["challengers"]]
        own = changed.shown_names[bot.label]
        names = [shown for shown in names if shown != own] + [own] * is_challenger
        changed = replace(changed, settings={**changed.settings, "challengers": names})
    try:
        for planned in formats_of(changed):
            planned.late_pairings(number)
    except DefinitionError as error:
        raise UsageError(f"tournament {name!r}: {error}") from error
    return changed


def _number_of_late(corrected: CorrectedTournament, bot: Bot) -> int:
    """Return the number of a late entrant: the one it had before, if it was taken out again; else the next."""
    entrants = corrected.definition.entrants
    out = taken_out(corrected.stored.corrections)
    return next((k for k in out if entrants[k].label == bot.label), len(entrants))


def _late_lines(corrected: CorrectedTournament, changed: Definition, number: int) -> Iterator[ScheduledMatch]:
    """Yield the matches of a late entrant, from the same openings as everybody's; also those with who may come back."""
    scheduler = Scheduler(changed)
    scheduler.continue_after(corrected.lines)
    out = taken_out(corrected.stored.corrections) - {number}
    late = [[p for p in planned.late_pairings(number) if out.isdisjoint(p)] for planned in formats_of(changed)]
    for opening in range(changed.encounters):
        for game, pairings in enumerate(late):
            yield from scheduler.lines(pairings, game, opening)
            scheduler.round += 1


def _earlier_settings(corrected: CorrectedTournament, changed: Definition) -> dict[str, object] | None:
    before = corrected.definition.settings
    return None if before == changed.settings else dict(before)


def check_entrant(bot: Bot, definition: Definition) -> None:
    """Try a bot in the games of a tournament; a Python function, which no process runs, is not tried."""
    games = tuple(dict.fromkeys(choice.game for choice in definition.games))
    for game in games:
        if (problem := claims_problem(bot, game)) is not None:
            raise BotDefinitionError(f"bot {bot.label!r} {problem}")
    if bot.is_function:
        return
    isolation = choose_isolation(definition.isolation)
    seconds = definition.time_control.per_action_seconds or MAX_CHECK_SECONDS
    for step in check_bot(bot, isolation, TimeControl(per_action_seconds=seconds), games, definition.limits):
        if not step.is_passed:
            raise BotDefinitionError(
                f"bot {bot.label!r} does not pass its check ({step.name}): {step.detail}; nothing was changed;"
                " see: arena check"
            )
