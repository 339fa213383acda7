"""The two homes of a contest: the hidden one, and how matches get from it to the public one."""

from __future__ import annotations

import os

from arena.base.errors import StoreError, UsageError
from arena.community.contests.contest_places import embargoed_home_path, has_embargoed_home
from arena.community.contests.visibility import ContestHome, playing_home
from arena.community.submissions.upload_directory import tell_owners
from arena.sandbox.isolation.removal import remove_tree
from arena.store.home import DATABASE_FILE, ArenaHome, move_log
from arena.store.people.contest import Contest, StoredContest
from arena.store.people.people_store import PeopleStore
from arena.store.results.values import StoredTournament
from arena.tournament.transfer.new_tournament import NewTournament

# What is in the home of the arena can be seen by everybody, in one way or another. So hidden matches are not there:
# results are frozen by copying what was played into this home and playing on here, and revealed by taking it back.

MODE = 0o700


def open_embargoed_home(directory: str | os.PathLike[str] | None, name: str) -> ArenaHome:
    """Open the embargoed home of a contest; create it if it does not exist."""
    path = embargoed_home_path(directory, name)
    try:
        for place in (path.parent, path):
            place.mkdir(MODE, parents=True, exist_ok=True)
            place.chmod(MODE)
    except OSError as error:
        raise StoreError(f"{path}: can't be written: {error.strerror}") from error
    return ArenaHome(path, store=path / DATABASE_FILE)


def hide(home: ArenaHome, hidden: ArenaHome, stored: StoredContest, tournament: str) -> None:
    """Copy what was played of a tournament into the embargoed home, all of it or nothing, unless it is there."""
    if _own(home, stored, tournament) is None or hidden.store.find_tournament(tournament) is not None:
        return
    with home.store.lock(tournament), hidden.store.lock(tournament):
        shown = _own(home, stored, tournament)
        if shown is not None:
            NewTournament(home.store.as_source(), shown).copy(hidden.store)


def take_back(home: ArenaHome, hidden: ArenaHome, stored: StoredContest) -> None:
    """Move what was played in the embargoed home into the public home, in the place of what was shown.

    Each tournament moves in one transaction; done again, it is the same.
    """
    for name in stored.contest.tournaments:
        _own(home, stored, name)
    for name in stored.contest.tournaments:
        with hidden.store.lock(name), home.store.lock(name):
            played = _own(hidden, stored, name)
            if played is None:
                continue
            taken, shown = NewTournament(hidden.store.as_source(), played), _own(home, stored, name)
            if shown is None:
                taken.copy(home.store)
            else:
                taken.copy(home.store, in_place_of=shown)


def _own(home: ArenaHome, stored: StoredContest, tournament: str) -> StoredTournament | None:
    """Return a tournament, None if it is not in this home; raise UsageError if it is not the contest's."""
    found = home.store.find_tournament(tournament)
    if found is not None and found.definition.rng_seed != stored.rng_seed_of(tournament):
        raise UsageError(
            f"contest {stored.name!r}: there is a tournament {tournament!r} already that is not the contest's"
        )
    return found


def remove_embargoed_home_of(home: ArenaHome, contest: Contest) -> None:
    """Remove what is left of the embargoed home of a contest whose results everybody can see."""
    if has_embargoed_home(home.directory, contest.name):
        remove_embargoed_home(home, open_embargoed_home(home.directory, contest.name), contest)
    remove_tree(str(embargoed_home_path(home.directory, contest.name)))


def remove_embargoed_home(home: ArenaHome, hidden: ArenaHome, contest: Contest) -> None:
    """Remove an embargoed home of which everything was taken back; its logs follow those of the arena's home."""
    for name in contest.tournaments:
        move_log(hidden.log_path(name), home.log_path(name))
    hidden.close()
    remove_tree(str(hidden.directory))


class ContestHomes:
    """The home of the arena, and the hidden one of a contest. Closed with ``close``."""

    def __init__(self, home: ArenaHome, people: PeopleStore) -> None:
        self.public, self._people = home, people
        self._embargoed: ArenaHome | None = None

    def close(self) -> None:
        """Close the embargoed home."""
        if self._embargoed is not None:
            self._embargoed.close()
            self._embargoed = None

    def of(self, stored: StoredContest) -> tuple[ContestHome, ArenaHome]:
        """Return the home in which matches of a contest are now, with all that was played before.

        Embargoed results stay so until the reveal, also if the clock is put back.
        """
        is_hidden = playing_home(stored, self._people.contests.now()) is ContestHome.EMBARGOED
        if not is_hidden and (stored.revealed_at is not None or not self._has_embargoed(stored)):
            return ContestHome.PUBLIC, self.public
        hidden = self._opened(stored)
        for tournament in stored.contest.tournaments:
            hide(self.public, hidden, stored, tournament)
        tell_owners(self._people, self.public.store, [hidden.store])
        return ContestHome.EMBARGOED, hidden

    def reveal(self, stored: StoredContest) -> None:
        """Let everybody see everything. Killed at any moment, it is done again."""
        if self._has_embargoed(stored):
            take_back(self.public, self._opened(stored), stored)
        self._people.contests.set_revealed(stored)
        if self._embargoed is not None:
            remove_embargoed_home(self.public, self._embargoed, stored.contest)
            self._embargoed = None

    def _has_embargoed(self, stored: StoredContest) -> bool:
        return has_embargoed_home(self.public.directory, stored.name)

    def _opened(self, stored: StoredContest) -> ArenaHome:
        if self._embargoed is None:
            self._embargoed = open_embargoed_home(self.public.directory, stored.name)
            self._embargoed.bots = self.public.bots  # where those are that play in it
        return self._embargoed
