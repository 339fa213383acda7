"""When a run of a contest's tournament ends before everything is played."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from arena.base.errors import DatabaseError
from arena.community.contests.visibility import ContestHome, playing_home
from arena.store.people.contest import ContestStage, StoredContest
from arena.store.people.contests import Contests
from arena.tournament.run import Order, RunControl

ASK_SECONDS = 0.5
"""Between two times that the database is asked what has become of the contest."""

_log = logging.getLogger("arena.contest")


def told_by(stored: StoredContest, contests: Contests) -> str:
    """Return the contest of the same game and bots whose hidden results public matches would tell; "" for none."""
    names = {entry.bot.rpartition("@")[0] for entry in contests.entries_of(stored)}
    games, now = (stored.contest.game,), contests.now()
    others = (rest for rest in contests.rests() if rest.contest.name != stored.name)
    found = (rest.contest.name for rest in others if any(rest.holds(name, games, now) for name in names))
    return next(found, "")


class StageControl(RunControl):
    """Ends a run when its matches belong into the other home, or when the contest is to go on without them."""

    def __init__(
        self, stored: StoredContest, contests: Contests, home: ContestHome, also: Sequence[RunControl]
    ) -> None:
        """Prepare.

        Args:
            stored: the contest, as it was at the beginning of the run.
            contests: where it is.
            home: in which the run records.
            also: what else may be asked of the run; the first that does not let it continue decides.
        """
        self._stored, self._contests, self._home, self._also = stored, contests, home, also
        self._asked_at = time.monotonic()
        self._is_over = self._tells_others = False

    def order(self) -> Order:
        """Return what the run is to do. What must not be seen is not recorded where it could be."""
        if self._home is ContestHome.PUBLIC and playing_home(self._stored, self._contests.now()) is ContestHome.HIDDEN:
            return Order.ABANDON
        if not self._is_over and time.monotonic() - self._asked_at >= ASK_SECONDS:
            self._asked_at = time.monotonic()
            self._is_over = self._has_moved_on()
        if self._tells_others:
            return Order.ABANDON
        if self._is_over:
            return Order.STOP
        return next((order for one in self._also if (order := one.order()) is not Order.PLAY), Order.PLAY)

    def _has_moved_on(self) -> bool:
        try:
            known = self._contests.get(self._stored.name)
            self._tells_others = self._home is ContestHome.PUBLIC and bool(told_by(known, self._contests))
        except DatabaseError as error:
            _log.warning("contest %s can't be read: %s", self._stored.name, error)
            return False
        before, self._stored = self._stored, known
        has_new_wish = known.cancelled_at is not None or known.reveal_asked_at != before.reveal_asked_at
        return has_new_wish or (known.stage is ContestStage.ENTRIES and are_entries_known(known, self._contests))


def are_entries_known(stored: StoredContest, contests: Contests) -> bool:
    """Return whether the deadline has passed, and all that was handed in before is checked."""
    if contests.now() <= stored.contest.deadline_at:
        return False
    closed = stored if stored.closed_at is not None else contests.close_entries(stored)
    return closed.closed_at is not None and not contests.unfinished_of(closed)
