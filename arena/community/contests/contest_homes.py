"""The two homes of a contest: which of them its matches are in now, and how they get from one to the other."""

from __future__ import annotations

from arena.community.contests.hidden_home import hide, open_hidden_home, remove_hidden_home, take_back
from arena.community.contests.hidden_place import has_hidden_home
from arena.community.contests.visibility import ContestHome, playing_home
from arena.community.submissions.owners import tell_owners
from arena.store.home import ArenaHome
from arena.store.people.contest import StoredContest
from arena.store.people.people_store import PeopleStore


class ContestHomes:
    """The home of the arena, and the hidden one of a contest. Closed with ``close``."""

    def __init__(self, home: ArenaHome, people: PeopleStore) -> None:
        """Prepare.

        Args:
            home: of the arena.
            people: has the time, and the contest.
        """
        self.public, self._people = home, people
        self._hidden: ArenaHome | None = None

    def close(self) -> None:
        """Close the hidden home."""
        if self._hidden is not None:
            self._hidden.close()
            self._hidden = None

    def of(self, stored: StoredContest) -> tuple[ContestHome, ArenaHome]:
        """Return the home in which matches of a contest are now, with all that was played before.

        What is hidden stays so until it is revealed, also if the clock is put back.
        """
        is_hidden = playing_home(stored, self._people.contests.now()) is ContestHome.HIDDEN
        if not is_hidden and (stored.revealed_at is not None or not self._has_hidden(stored)):
            return ContestHome.PUBLIC, self.public
        hidden = self._opened(stored)
        for tournament in stored.contest.tournaments:
            hide(self.public, hidden, stored, tournament)
        tell_owners(self._people, self.public.store, [hidden.store])
        return ContestHome.HIDDEN, hidden

    def reveal(self, stored: StoredContest) -> None:
        """Let everybody see everything. Killed at any moment, it is done again."""
        if self._has_hidden(stored):
            take_back(self.public, self._opened(stored), stored)
        self._people.contests.set_revealed(stored)
        if self._hidden is not None:
            remove_hidden_home(self.public, self._hidden, stored.contest)
            self._hidden = None

    def _has_hidden(self, stored: StoredContest) -> bool:
        return has_hidden_home(self.public.directory, stored.name)

    def _opened(self, stored: StoredContest) -> ArenaHome:
        if self._hidden is None:
            self._hidden = open_hidden_home(self.public.directory, stored.name)
            self._hidden.bots = self.public.bots  # where those are that play in it
        return self._hidden
