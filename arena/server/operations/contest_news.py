"""Whether anything has changed that everybody may know of contests: what their pages follow.

Nothing else is in it: what is played in secret, what a program notes and what directors ask for must not show in when
pages change.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any

from arena.base.errors import StoreError
from arena.community.contests.visibility import visible, visible_phase
from arena.server.operations.contest_view import contest_time
from arena.site.frame.model import Frozen
from arena.store.people.contest import ContestResults, StoredContest
from arena.store.people.people_store import PeopleStore
from arena.store.people.stored_contests import ContestRows

_log = logging.getLogger("arena.server.http")


class ContestNews:
    """What everybody may know of contests, as a number that is another one when it has changed."""

    def __init__(self, people: PeopleStore, result_path: Callable[[str], Path]) -> None:
        """Prepare; nothing is read yet.

        Args:
            people: where contests are.
            result_path: returns where the signed result of a contest is, or would be.
        """
        self._people, self._result_path = people, result_path
        self._signal = people.contest_rows.commit_signal()
        self._signalled = ""
        self._read_at = ""
        self._rows = ContestRows((), {}, ())
        self._number = 0
        self._is_lost = False

    def number(self) -> int:
        """Return the number. Cheap where nothing was committed since the last time, within the same second."""
        try:
            signalled, now = self._signal.read(), self._people.contests.now()
            if signalled != self._signalled:
                self._rows, self._signalled, self._read_at = self._people.contest_rows.read(), signalled, ""
        except StoreError as error:  # it is read again
            if not self._is_lost:
                _log.warning("%s", error)
            self._is_lost = True
            return self._number
        self._is_lost = False
        if now != self._read_at:
            self._read_at = now
            self._number = self._number_at(now)
        return self._number

    def frozen(self, tournament: str) -> Frozen | None:
        """Return whether results of a tournament are hidden now, or may be later; None if neither.

        This reads nothing: it is as new as the number, for which whoever watches asks many times a second.
        """
        return frozen_results(self._rows.contests, tournament, self._people.contests.now())

    def close(self) -> None:
        """Close the connection that looks for commits."""
        self._signal.close()

    def _number_at(self, now: str) -> int:
        seen = [self._seen(stored, now) for stored in self._rows.contests]
        text = json.dumps([seen, self._rows.unfinished])
        return int.from_bytes(blake2b(text.encode(), digest_size=6).digest())

    def _seen(self, stored: StoredContest, now: str) -> list[Any]:
        """Return what everybody may know of a contest now."""
        contest, hidden_since = stored.contest, visible(stored, (), now).hidden_since
        return [
            repr(contest),
            visible_phase(stored, (), now),
            hidden_since,
            stored.closed_at is not None,
            stored.revealed_at,
            stored.cancelled_at,
            self._rows.entries.get(stored.number),
            hidden_since is None and self._result_path(contest.name).is_file(),
        ]


def frozen_results(contests: Iterable[StoredContest], tournament: str, now: str) -> Frozen | None:
    """Return whether results of a tournament of a contest are hidden, or may be later; None if neither."""
    stored = next((one for one in contests if tournament in one.contest.tournaments), None)
    if stored is None or stored.revealed_at is not None or stored.contest.results is ContestResults.OPEN:
        return None
    since = visible(stored, (), now).hidden_since
    sentence = f"Frozen since {_moment(stored, since, now)}; {_until(stored, now)}." if since is not None else ""
    return Frozen(sentence=sentence, address=f"/contests/{stored.name}")


def _moment(stored: StoredContest, at: str, now: str) -> str:
    time = contest_time(stored.contest, at, now)
    return f"{time.local} ({time.zone})"


def _until(stored: StoredContest, now: str) -> str:
    reveal_at = stored.contest.reveal_at
    if stored.cancelled_at is not None:
        return "the contest was cancelled, and they stay hidden"
    if reveal_at is None:
        return "results return when a director reveals them"
    if reveal_at <= now:
        return "results return when everything is played"
    return f"results return on {_moment(stored, reveal_at, now)}"
