"""The two homes of a contest, public and embargoed, and how matches move between them."""

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

# Everybody can see what is in the home of the arena, in one way or another. So embargoed matches are not stored there:
# to freeze results, the arena copies the tournaments into the embargoed home and plays on there; to reveal them, it
# moves the tournaments back.

MODE = 0o700


def open_embargoed_home(directory: str | os.PathLike[str] | None, name: str) -> ArenaHome:
    """Open the embargoed home of a contest; create it if it does not exist."""
    path = embargoed_home_path(directory, name)
    try:
        for folder in (path.parent, path):
            folder.mkdir(MODE, parents=True, exist_ok=True)
            folder.chmod(MODE)
    except OSError as error:
        raise StoreError(f"{path}: can't be written: {error.strerror}") from error
    return ArenaHome(path, store=path / DATABASE_FILE)


def hide(home: ArenaHome, embargoed: ArenaHome, stored: StoredContest, tournament: str) -> None:
    """Copy a tournament and its matches into the embargoed home, all or nothing, unless it is there already."""
    if _contest_tournament(home, stored, tournament) is None or embargoed.store.find_tournament(tournament) is not None:
        return
    with home.store.lock(tournament), embargoed.store.lock(tournament):
        shown = _contest_tournament(home, stored, tournament)
        if shown is not None:
            NewTournament(home.store.as_source(), shown).copy(embargoed.store)


def take_back(home: ArenaHome, embargoed: ArenaHome, stored: StoredContest) -> None:
    """Move the tournaments of the embargoed home into the public home, replacing the copies there.

    Each tournament moves in one transaction, and a second call changes nothing.
    """
    for name in stored.contest.tournaments:
        _contest_tournament(home, stored, name)
    for name in stored.contest.tournaments:
        with embargoed.store.lock(name), home.store.lock(name):
            played = _contest_tournament(embargoed, stored, name)
            if played is None:
                continue
            copy, shown = NewTournament(embargoed.store.as_source(), played), _contest_tournament(home, stored, name)
            if shown is None:
                copy.copy(home.store)
            else:
                copy.copy(home.store, in_place_of=shown)


def _contest_tournament(home: ArenaHome, stored: StoredContest, tournament: str) -> StoredTournament | None:
    """Return a tournament of the contest; None if it is not in this home. Raise UsageError if it is another's."""
    found = home.store.find_tournament(tournament)
    if found is not None and found.definition.rng_seed != stored.rng_seed_of(tournament):
        raise UsageError(
            f"contest {stored.name!r}: there is a tournament {tournament!r} already that is not the contest's"
        )
    return found


def remove_embargoed_home_of(home: ArenaHome, contest: Contest) -> None:
    """Remove what is left of the embargoed home of a contest whose results are public."""
    if has_embargoed_home(home.directory, contest.name):
        remove_embargoed_home(home, open_embargoed_home(home.directory, contest.name), contest)
    remove_tree(str(embargoed_home_path(home.directory, contest.name)))


def remove_embargoed_home(home: ArenaHome, embargoed: ArenaHome, contest: Contest) -> None:
    """Remove an embargoed home whose tournaments have moved back; its logs are appended to those of the public home."""
    for name in contest.tournaments:
        move_log(embargoed.log_path(name), home.log_path(name))
    embargoed.close()
    remove_tree(str(embargoed.directory))


class ContestHomes:
    """The home of the arena, and the embargoed one of a contest. Closed with ``close``."""

    def __init__(self, home: ArenaHome, people: PeopleStore) -> None:
        self.public, self._people = home, people
        self._embargoed: ArenaHome | None = None

    def close(self) -> None:
        """Close the embargoed home."""
        if self._embargoed is not None:
            self._embargoed.close()
            self._embargoed = None

    def of(self, stored: StoredContest) -> tuple[ContestHome, ArenaHome]:
        """Return the home that has the matches of a contest now, with all that were played before.

        Embargoed results stay embargoed until the reveal, even if the clock is put back.
        """
        is_embargoed = playing_home(stored, self._people.contests.now()) is ContestHome.EMBARGOED
        if not is_embargoed and (stored.revealed_at is not None or not self._has_embargoed(stored)):
            return ContestHome.PUBLIC, self.public
        embargoed = self._opened(stored)
        for tournament in stored.contest.tournaments:
            hide(self.public, embargoed, stored, tournament)
        tell_owners(self._people, self.public.store, [embargoed.store])
        return ContestHome.EMBARGOED, embargoed

    def reveal(self, stored: StoredContest) -> None:
        """Make all results public. If the process is killed meanwhile, the next call completes it."""
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
            self._embargoed.bots = self.public.bots  # its bots are in the public home
        return self._embargoed
