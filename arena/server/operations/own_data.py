"""All that is stored of a person, and how it is erased."""

from __future__ import annotations

import json
from contextlib import ExitStack

from pydantic import Field

from arena.base.bot_text import Audience
from arena.community.submissions.upload_directory import tell_owners
from arena.server.gate.operation import Done, Fields, Operation, Visit, Who
from arena.server.http.value_builder import Snapshots
from arena.server.operations.account import check_present, show_account
from arena.server.operations.bot_logs import audience_of, reads_bot
from arena.server.operations.directory import hidden_tournaments
from arena.server.operations.people import LogLine, OwnDataPage, OwnSubmission, PlayedMatch
from arena.server.operations.submissions import details_of, line_of
from arena.store.people.submissions import LISTED
from arena.store.people.unrated_match import UnratedMatch
from arena.store.people.values import Submission

MAX_LOG_LINES = 10_000


class Before(Fields):
    """Which part of what was handed in: what came before a submission."""

    before: int | None = Field(None, ge=1, le=2**31 - 1)


class EraseAccount(Fields):
    """The password of somebody who wants to leave."""

    present: str


def show_own_data(visit: Visit) -> OwnDataPage:
    """All that is stored of whoever asks."""
    handed_in = visit.people.submissions.of(visit.person, visit.fields.before)
    entries = visit.people.log.lines(hidden=hidden_tournaments(visit), most=MAX_LOG_LINES)
    name, audience = visit.person.name, audience_of(visit)
    return OwnDataPage(
        account=show_account(visit),
        bot_names=tuple(visit.people.submissions.names_of(visit.person)),
        submissions=tuple(_submission(one, visit) for one in handed_in),
        older=handed_in[-1].number if len(handed_in) >= LISTED else None,
        matches=tuple(_match(one, audience) for one in visit.people.unrated_matches.of_person(visit.person.number)),
        log=tuple(LogLine.of(entry) for entry in entries if name in (entry.by, entry.subject)),
    )


def leave(visit: Visit) -> Done:
    """Erase one's own account.

    Raises:
        UsageError: if the password is wrong, or nobody would be left to manage people.
    """
    check_present(visit, visit.fields.present)
    for name in visit.people.accounts.erase(visit.person):
        visit.uploads.remove(name)
    _forget_name(visit)
    return Done(to="/", sentence="the account is erased", session="")


def _forget_name(visit: Visit) -> None:
    """Remove the name of whoever has left from homes, and from pages that are kept for the next start of a server."""
    public = visit.homes.public()
    with ExitStack() as opened:
        hidden = [opened.enter_context(visit.homes.hidden(one.name)) for one in visit.people.contests.all()]
        tell_owners(visit.people, public.store, [home.store for home in hidden if home is not None])
    Snapshots(public.cache_directory).clear()


def _submission(one: Submission, visit: Visit) -> OwnSubmission:
    return OwnSubmission(
        line=line_of(one, visit), details=details_of(one, visit), has_upload=visit.uploads.path(one.upload).is_file()
    )


def _match(one: UnratedMatch, audience: Audience) -> PlayedMatch:
    return PlayedMatch.of(
        one,
        one.choices,
        state=one.position.state,
        actions=one.position.actions if reads_bot(audience, one.choices.bot) else _without_notes(one),
    )


def _without_notes(one: UnratedMatch) -> str:
    """Return the actions of a match as JSON; what the bot noted is for its author."""
    actions = [[seat, action, seconds, None] for seat, action, seconds, *_ in json.loads(one.position.actions)]
    return json.dumps(actions)


OPERATIONS = (
    Operation("GET", "/account/data", Who.MEMBER_IN_BROWSER, show_own_data, Before, OwnDataPage, "own_data.html.jinja"),
    Operation(
        "POST", "/account/erase", Who.MEMBER_IN_BROWSER, leave, EraseAccount, form="/account", takes_password=True
    ),
)
