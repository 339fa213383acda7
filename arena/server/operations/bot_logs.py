"""The output of bots, for their authors and for directors.

Public pages have no output of bots, so it has its own addresses. A person who may not read it gets the same answer
whether there is any or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import NoReturn

from arena.base.bot_text import OPERATOR, Audience, author_of
from arena.base.errors import UnknownNameError
from arena.base.records import MatchRecord
from arena.base.shipped import PREFIX
from arena.server.gate.operation import Operation, Visit, Who
from arena.server.http.problems import bad_address
from arena.server.operations.contest_form import ContestName
from arena.server.operations.contest_results import embargoed_contest
from arena.site.frame.building import authors_of
from arena.site.links import address_of
from arena.site.matches.match_model import MatchFault, MatchParameters
from arena.site.matches.viewed_match import note_text
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.bot_profile_model import BotParameters
from arena.site.pages.results_model import BotLogs, MatchLogs, Noted, SeatLog, reported_numbers
from arena.store.home import ArenaHome
from arena.store.people.values import Permission, Person
from arena.store.results.values import StoredTournament

MAX_MATCHES = 20
MAX_NOTED_MATCHES = 50
NOTHING = "There are no logs here that you may read."


class EmbargoedMatch(MatchParameters):
    """Which match of a contest."""

    name: ContestName


def audience_of(visit: Visit) -> Audience:
    """Return the output that the person who asks may read: all, that of their own bots, or none."""
    actor = visit.actor
    if Permission.DIRECT in actor.permissions:
        return OPERATOR
    if actor.person is None or Permission.SUBMIT not in actor.permissions:
        return Audience()
    return author_of(visit.people.submissions.accepted_labels(actor.person))


def reads_bot(audience: Audience, bot: str) -> bool:
    """Return whether an audience may read the output of a bot; everybody may read that of example bots."""
    return bot.startswith(PREFIX) or audience.may_read(bot)


def _audience_in(tournament: StoredTournament, audience: Audience, person: Person) -> Audience:
    """Return whose output a person reads in a tournament: an author only that of own files, whatever their names."""
    if audience.reads_all:
        return audience
    owners = authors_of([tournament])
    return author_of(label for label in audience.bots if owners.get(label) == person.name)


@Operation("GET", "/tournaments/{tournament}/matches/{match}/logs", Who.MEMBER, "bot_logs", room="overview")
def show_match_logs(visit: Visit, sent: MatchParameters) -> MatchLogs:
    """What bots have said in a match, for their authors and directors."""
    address = address_of(PAGE_BY_NAME["match"], {"tournament": sent.tournament, "match": sent.match})
    home, audience = visit.homes.public(), Audience()
    with suppress(UnknownNameError):
        audience = _audience_in(home.store.tournament(sent.tournament), audience_of(visit), visit.person)
    return _match_logs(home, sent, audience, address or "")


@Operation(
    "GET",
    "/contests/{name}/hidden/tournaments/{tournament}/matches/{match}/logs",
    Permission.DIRECT,
    "bot_logs",
    room="contests",
)
def show_embargoed_logs(visit: Visit, sent: EmbargoedMatch) -> MatchLogs:
    """For directors, while results are hidden. What bots have said in a match."""
    stored, _ = embargoed_contest(visit, sent.name)
    address = address_of(PAGE_BY_NAME["match"], {"tournament": sent.tournament, "match": sent.match})
    with visit.homes.embargoed(stored.name) as home:
        if home is None or sent.tournament not in stored.contest.tournaments:
            _raise_nothing_here()
        logs = _match_logs(home, sent, OPERATOR, f"/contests/{stored.name}/hidden{address}")
        return logs.model_copy(update={"is_hidden": True})


@Operation("GET", "/bots/{bot}/logs", Who.MEMBER, "bot_logs", room="bots")
def show_bot_logs(visit: Visit, sent: BotParameters) -> BotLogs:
    """What a bot has said in its latest matches with a fault, for its author and directors."""
    audience, store = audience_of(visit), visit.homes.public().store
    labels = [label for label in store.labels_of(sent.bot) if audience.may_read(label)]
    if not labels:
        _raise_nothing_here()
    tournaments = {one.number: one for one in store.tournaments()}
    numbers = {one.name: number for number, one in tournaments.items()}

    @cache  # to know who owns the bots of a tournament, its definition is read
    def reader(number: int) -> Audience:
        return _audience_in(tournaments[number], audience, visit.person) if number in tournaments else Audience()

    faults = {
        (number, fault.match, fault.tournament)
        for label in labels
        for fault in store.faults_of(label, MAX_MATCHES)
        if reader(number := numbers.get(fault.tournament, 0)).may_read(label)
    }
    logs = []
    for number, match, tournament in sorted(faults, reverse=True)[:MAX_MATCHES]:
        address = address_of(PAGE_BY_NAME["match"], {"tournament": tournament, "match": match}) or ""
        logs.append(_logs(store.record_of(tournament, match), tournament, reader(number), address, labels))
    latest = (
        record
        for number, record in store.matches_of(labels).latest(MAX_NOTED_MATCHES)
        if all(reader(number).may_read(bot) for bot in record.bots if bot in labels)
    )
    return BotLogs(bot=sent.bot, numbers=reported_numbers(latest, labels), matches=tuple(logs))


def _raise_nothing_here() -> NoReturn:
    raise bad_address(NOTHING, 404)


def _match_logs(home: ArenaHome, sent: MatchParameters, audience: Audience, address: str) -> MatchLogs:
    if audience == Audience():
        _raise_nothing_here()
    record = None
    with suppress(UnknownNameError):
        record = home.store.find_record(sent.tournament, sent.match)
    if record is None or not any(map(audience.may_read, record.bots)):
        _raise_nothing_here()
    return _logs(record, sent.tournament, audience, address, record.bots)


def _logs(record: MatchRecord, tournament: str, audience: Audience, address: str, bots: Sequence[str]) -> MatchLogs:
    noted = record.notes_for(audience)
    return MatchLogs(
        tournament=tournament,
        match=record.match,
        address=address,
        seats=tuple(
            SeatLog(
                bot=bot,
                seat=seat,
                exit=report.exit_shown_to(audience, bot, has_fault=any(fault.seat == seat for fault in record.faults)),
                stderr=report.stderr.shown_to(audience, bot) or "",
                faults=tuple(
                    MatchFault.of(fault, detail=fault.told_to(audience, bot))
                    for fault in record.faults
                    if fault.seat == seat
                ),
                notes=tuple(
                    Noted(ply=ply + 1, text=note_text(note)) for ply, note in noted if record.actions[ply][0] == seat
                ),
            )
            for seat, (bot, report) in enumerate(zip(record.bots, record.seats, strict=True))
            if bot in bots and audience.may_read(bot)
        ),
    )
