"""What bots wrote, for their authors and for directors.

Public pages have none of it, so it has addresses of its own. Whoever may not read it gets the same
answer, whether there is something or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NoReturn

from pydantic import Field

from arena.base.bot_text import OPERATOR, Audience, author_of
from arena.base.errors import UnknownNameError
from arena.base.records import MatchRecord
from arena.base.shipped import PREFIX
from arena.server.gate.operation import Operation, Visit, Who
from arena.server.http.problems import bad_address
from arena.server.operations.contest_results import embargoed_contest
from arena.site.links import address_of
from arena.site.matches.match_model import MatchFault, MatchParameters
from arena.site.matches.viewed_match import note_text
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.bot_profile_model import BotParameters
from arena.site.pages.results_model import BotLogs, MatchLogs, Noted, SeatLog, reported_numbers
from arena.store.home import ArenaHome
from arena.store.people.values import Permission

MAX_MATCHES = 20
MAX_NOTED_MATCHES = 50
NOTHING = "There are no logs here that you may read."


class LoggedMatch(MatchParameters):
    """Which match."""


class EmbargoedMatch(MatchParameters):
    """Which match of a contest."""

    name: Annotated[str, Field(min_length=1, max_length=64)]


def audience_of(visit: Visit) -> Audience:
    """Return what whoever asks may read: everything, what the own bots say, or nothing."""
    actor = visit.actor
    if Permission.DIRECT in actor.permissions:
        return OPERATOR
    if actor.person is None or Permission.SUBMIT not in actor.permissions:
        return Audience()
    return author_of(visit.people.submissions.accepted_labels(actor.person))


def reads_bot(audience: Audience, bot: str) -> bool:
    """Return whether an audience reads what a bot says in the browser; what example bots say is for everybody."""
    return bot.startswith(PREFIX) or audience.may_read(bot)


def show_match_logs(visit: Visit) -> MatchLogs:
    """What bots have said in a match, for their authors and directors."""
    sent: MatchParameters = visit.fields
    audience = audience_of(visit)
    address = address_of(PAGE_BY_NAME["match"], {"tournament": sent.tournament, "match": sent.match})
    return _found(visit.homes.public(), sent, audience, address or "")


def show_embargoed_logs(visit: Visit) -> MatchLogs:
    """For directors, while results are hidden. What bots have said in a match."""
    sent: EmbargoedMatch = visit.fields
    stored, _ = embargoed_contest(visit)
    address = address_of(PAGE_BY_NAME["match"], {"tournament": sent.tournament, "match": sent.match})
    with visit.homes.embargoed(stored.name) as home:
        if home is None or sent.tournament not in stored.contest.tournaments:
            _refuse()
        found = _found(home, sent, OPERATOR, f"/contests/{stored.name}/hidden{address}")
        return found.model_copy(update={"is_hidden": True})


def show_bot_logs(visit: Visit) -> BotLogs:
    """What a bot has said in its latest matches with a fault, for its author and directors."""
    sent: BotParameters = visit.fields
    audience, store = audience_of(visit), visit.homes.public().store
    labels = [label for label in store.labels_of(sent.bot) if audience.may_read(label)]
    if not labels:
        _refuse()
    faults = sorted(
        (fault for label in labels for fault in store.faults_of(label, MAX_MATCHES)),
        key=lambda fault: (store.tournament(fault.tournament).number, fault.match),
    )
    places = list(dict.fromkeys((fault.tournament, fault.match) for fault in reversed(faults)))[:MAX_MATCHES]
    found = []
    for tournament, match in places:
        address = address_of(PAGE_BY_NAME["match"], {"tournament": tournament, "match": match}) or ""
        found.append(_logs(store.record_of(tournament, match), tournament, audience, address, labels))
    latest = store.matches_of(labels).latest(MAX_NOTED_MATCHES)
    numbers = reported_numbers((record for _, record in latest), labels)
    return BotLogs(bot=sent.bot, numbers=numbers, matches=tuple(found))


def _refuse() -> NoReturn:
    raise bad_address(NOTHING, 404)


def _found(home: ArenaHome, sent: MatchParameters, audience: Audience, address: str) -> MatchLogs:
    if audience == Audience():
        _refuse()
    try:
        record = home.store.find_record(sent.tournament, sent.match)
    except UnknownNameError:
        record = None
    if record is None or not any(map(audience.may_read, record.bots)):
        _refuse()
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
                exit=report.exit_shown_to(audience, bot, has_fault=any(one.seat == seat for one in record.faults)),
                stderr=report.stderr.shown_to(audience, bot) or "",
                faults=tuple(
                    MatchFault(seat=seat, kind=one.kind, ply=one.ply, detail=one.told_to(audience, bot))
                    for one in record.faults
                    if one.seat == seat
                ),
                notes=tuple(
                    Noted(ply=ply + 1, text=note_text(note)) for ply, note in noted if record.actions[ply][0] == seat
                ),
            )
            for seat, (bot, report) in enumerate(zip(record.bots, record.seats, strict=True))
            if bot in bots and audience.may_read(bot)
        ),
    )


OPERATIONS = (
    Operation(
        "GET",
        "/tournaments/{tournament}/matches/{match}/logs",
        Who.MEMBER,
        show_match_logs,
        LoggedMatch,
        MatchLogs,
        "bot_logs.html.jinja",
        room="overview",
    ),
    Operation(
        "GET", "/bots/{bot}/logs", Who.MEMBER, show_bot_logs, BotParameters, BotLogs, "bot_logs.html.jinja", room="bots"
    ),
    Operation(
        "GET",
        "/contests/{name}/hidden/tournaments/{tournament}/matches/{match}/logs",
        Permission.DIRECT,
        show_embargoed_logs,
        EmbargoedMatch,
        MatchLogs,
        "bot_logs.html.jinja",
        room="contests",
    ),
)
