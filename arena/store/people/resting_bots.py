"""Which bots play nowhere in public while results of a contest are hidden: their other matches would reveal them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from arena.store.people.contest import Contest, ContestEntrants, ContestResults, StoredContest
from arena.store.people.schema import bot_owners, people, submissions
from arena.store.people.stored_contests import all_contests, contest_entries
from arena.store.people.values import UNFINISHED, SubmissionState, look_alike_key

_BEING_LISTED = (SubmissionState.ACCEPTED, *UNFINISHED)
"""A bot may begin to play a moment before its submission is marked as accepted; its name is known before that."""


@dataclass(frozen=True, slots=True)
class Rest:
    """The rest of the bots of a contest.

    Attributes:
        since: the first second in which they rest.
        names: of every bot that its author could enter, whatever games it plays. All versions of a bot rest, since an
            earlier one tells as much.
    """

    contest: StoredContest
    since: str
    names: frozenset[str]

    def holds(self, name: str, games: Collection[str], now: str) -> bool:
        """Return whether a bot of this name, which plays these games (none for all), rests at a stored time."""
        plays = not games or self.contest.contest.game in games
        return self.since <= now and plays and name in self.names


def rest_begins_at(stored: StoredContest) -> str | None:
    """Return from when on the bots of a contest rest; None if they never do, or not any more.

    A cancelled contest has no result to give away: its bots play again.
    """
    contest = stored.contest
    if contest.ladders or stored.revealed_at is not None or stored.cancelled_at is not None:
        return None
    return contest.opens_at if contest.results is ContestResults.SEALED else stored.freeze_at


def rest_of(rests: Iterable[Rest], label: str, games: Collection[str], now: str) -> Rest | None:
    """Return the rest that ends last of a bot (``name@version``, or its name); None if it plays.

    It plays ``games``, none for all; ``now`` is a stored time.
    """
    name = label.rpartition("@")[0] or label
    current = [rest for rest in rests if rest.holds(name, games, now)]
    return max(current, key=lambda rest: (rest.contest.contest.reveal_at or "~", rest.contest.number), default=None)


def rest_sentence(rest: Rest, now: str) -> str:
    """Return until when a bot rests, to follow its name in a sentence."""
    stored = rest.contest
    contest = stored.contest
    if contest.reveal_at is None:
        until = "a director reveals them"
    elif contest.reveal_at <= now:
        until = "everything is played"
    else:
        until = f"{contest.local(contest.reveal_at):%Y-%m-%d %H:%M} ({contest.time_zone})"
    return f"rests while results of the contest {contest.name} are hidden, until {until}"


def all_rests(connection: Connection) -> list[Rest]:
    """Return the rests of all contests, those included that have not begun."""
    beginnings = [
        (stored, since) for stored in all_contests(connection) if (since := rest_begins_at(stored)) is not None
    ]
    if not beginnings:
        return []
    submitted, entered = _submitted(connection), _entered(connection)
    return [
        Rest(stored, since, frozenset(_names(stored.contest, submitted)) | entered.get(stored.number, frozenset()))
        for stored, since in beginnings
    ]


def _names(contest: Contest, submitted: list[Row[Any]]) -> Iterator[str]:
    """Yield the names of the bots that can enter; also of authors whose account is closed, for it can be opened."""
    invited = {name.lower() for name in contest.invited}
    for row in submitted:
        may_enter = contest.entrants is ContestEntrants.EVERYBODY or row.name.lower() in invited
        if may_enter and row.created_at <= contest.deadline_at:
            yield row.bot.rpartition("@")[0]


def _submitted(connection: Connection) -> list[Row[Any]]:
    """Return the author, the label and the time of each submission whose bot may play, and belongs to its author."""
    owners = {row.look_alike_key: row.person_id for row in connection.execute(select(bot_owners))}
    query: Select[Any] = (
        select(people.c.name, submissions.c.bot, submissions.c.created_at, submissions.c.person_id)
        .join(people, submissions.c.person_id == people.c.id)
        .where(submissions.c.state.in_(_BEING_LISTED), submissions.c.bot.is_not(None))
    )

    def is_theirs(row: Row[Any]) -> bool:
        return bool(owners.get(look_alike_key(row.bot.rpartition("@")[0]), row.person_id) == row.person_id)

    return [row for row in connection.execute(query) if is_theirs(row)]


def _entered(connection: Connection) -> dict[int, frozenset[str]]:
    names_in: dict[int, frozenset[str]] = {}
    for row in connection.execute(select(contest_entries.c.contest_id, contest_entries.c.bot)):
        names_in[row.contest_id] = names_in.get(row.contest_id, frozenset()) | {row.bot.rpartition("@")[0]}
    return names_in
