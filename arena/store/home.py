"""The arena's home: one directory with the submitted bots, the logs, the locks and the database, which may also be on a
server that several machines use ($ARENA_STORE).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import closing
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

from arena.base.bot_text import EVERYBODY, OPERATOR, Audience
from arena.base.errors import NoHomeError, StoreError, UsageError, failing_as
from arena.base.folder import check_unlinked, open_ordinary, path_to_write, replace_file
from arena.base.known_server import PEOPLE, RESULTS, identity_of, note_server, noted_server, reminder
from arena.base.names import as_file_name, check_tournament_name
from arena.base.programs.systemd import credential
from arena.base.text import shortened_text
from arena.store.results.values import StoredTournament

if TYPE_CHECKING:
    from arena.store.bot_registry import BotRegistry
    from arena.store.people.answers import Vote
    from arena.store.people.people_store import PeopleStore
    from arena.store.results.store import Store

DEFAULT_HOME = ".arena"
DATABASE_FILE = "arena.sqlite3"
PEOPLE_FILE = "people.sqlite3"
VISITORS_FILE = "visitors.sqlite3"
ANNOTATOR_LOCK = "annotator.lock"
VISITORS_LOCK = "visitors.lock"
"""Held by the process that works for visitors of a home: others only show it."""
CONTESTS_DIRECTORY = "contests"
"""The directory with the embargoed homes of contests."""
RECEIVING, CHECKING = "receiving-", "checking-"
"""Prefixes of the names of temporary uploads."""
HOME_VARIABLE = "ARENA_HOME"
STORE_VARIABLE = "ARENA_STORE"
PEOPLE_VARIABLE = "ARENA_PEOPLE"
VISITORS_VARIABLE = "ARENA_VISITORS"
"""Set for the programs of a site without accounts: the matches of its visitors are in a database of their own."""
STORE_CREDENTIAL, PEOPLE_CREDENTIAL = "arena.store-url", "arena.people-url"
"""Credentials that systemd passes to services in place of these variables: bots and ``/proc`` can't see them."""


def home_path(directory: str | os.PathLike[str] | None = None) -> Path:
    """Return where a home is: by default $ARENA_HOME, or ``.arena`` in the working directory."""
    return Path(directory or os.environ.get(HOME_VARIABLE) or DEFAULT_HOME)


def resolved_home(directory: str | os.PathLike[str] | None = None) -> Path:
    """Return where a home is, without links; StoreError if it can be nowhere."""
    chosen = home_path(directory)
    try:
        return chosen.resolve()
    except (OSError, ValueError, RuntimeError) as error:  # too long a name, a NUL, a loop of links
        raise _no_home(chosen, error) from error


def has_file(home: Path, name: str) -> bool:
    """Return whether a home has a file; StoreError if that can't be seen, as in the directory of another user."""
    try:
        (home / name).stat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise _no_home(home, error) from error
    return True


def _no_home(directory: Path, error: Exception) -> StoreError:
    reason = getattr(error, "strerror", None) or "this is no path"
    return StoreError(f"home {shortened_text(str(directory))!r}: {reason}")


def store_url() -> str | None:
    """Return the URL of the database of results from $ARENA_STORE or a credential; None for a file in the home."""
    return os.environ.get(STORE_VARIABLE) or credential(STORE_CREDENTIAL) or None


def people_url() -> str | None:
    """Return the URL of the database of people from $ARENA_PEOPLE or a credential; None for a file in the home."""
    return os.environ.get(PEOPLE_VARIABLE) or credential(PEOPLE_CREDENTIAL) or None


def open_people(directory: str | os.PathLike[str] | None = None) -> PeopleStore:
    """Open a home's database of people, on a server if ``people_url`` names one.

    Raises:
        StoreError: if it can't be opened, or there is no such file and the people were on a server.
    """
    from arena.store.people.people_store import PeopleStore

    if os.environ.get(VISITORS_VARIABLE):
        return open_visitors(directory)
    home = resolved_home(directory)
    url = people_url()
    if url is None and not has_file(home, PEOPLE_FILE) and (server := noted_server(home, PEOPLE)):
        raise StoreError(reminder(home, PEOPLE, server))
    people = PeopleStore(url or home / PEOPLE_FILE)
    if people.server is not None:
        note_server(home, PEOPLE, people.server)
    return people


def open_visitors(directory: str | os.PathLike[str] | None = None) -> PeopleStore:
    """Open the database of who only looks, on this machine: it has no accounts, and the home has no people by it."""
    from arena.store.people.people_store import PeopleStore

    return PeopleStore(path_to_write(home := resolved_home(directory), home / VISITORS_FILE))


def votes_between(game: str, directory: str | os.PathLike[str] | None = None) -> list[Vote]:
    """Return the votes between variations of a game in a home: those of its people and of its visitors."""
    opens = [open_people] if has_people(directory) else []
    opens += [open_visitors] if has_file(home_path(directory), VISITORS_FILE) else []
    votes = []
    for opening in opens:
        with opening(directory) as people:
            votes += people.votes.found(game=game)
    return votes


def own_databases(
    directory: str | os.PathLike[str] | None = None, store: str | Path | None = None, is_adopted: bool = False
) -> list[str]:
    """Let the site of a home work on its databases on servers, and return which these are.

    Raises:
        StoreError: if one can't be opened, or belongs to another home and ``is_adopted`` does not say to take it over.
    """
    from arena.store.results.whole_database import Owner

    path = resolved_home(directory)
    with contextlib.ExitStack() as opened:
        stores: list[Store | PeopleStore] = [opened.enter_context(ArenaHome(path, store=store)).store]
        if has_people(path):
            stores.append(opened.enter_context(open_people(path)))
        on_servers = [database for database in stores if database.server is not None]
        if on_servers:
            home = Owner(identity_of(path), f"{path} on {socket.gethostname()}")
        for database in on_servers:
            database.belong_to(home, is_adopted)
        return [database.server or "" for database in on_servers]


def has_people(directory: str | os.PathLike[str] | None = None) -> bool:
    """Return whether a home has people; if not, ``open_people`` would create their database.

    Raises:
        StoreError: if this user can't see it.
    """
    home = home_path(directory)
    return people_url() is not None or has_file(home, PEOPLE_FILE) or noted_server(home, PEOPLE) != ""


def uploads_path(directory: str | os.PathLike[str] | None = None) -> Path:
    """Return where a home keeps what authors have submitted."""
    return resolved_home(directory) / "uploads"


def kept_path(cache_directory: Path, tournament: str, kind: Literal["standings", "results", "fit"]) -> Path:
    """Return the file in which standings of a tournament, its results so far or their fit are cached."""
    return cache_directory / f"{blake2b(tournament.encode(), digest_size=8).hexdigest()}.{kind}"


class ArenaHome:
    """The arena's directory. A context manager, or closed with ``close``.

    Attributes:
        other_server: the server that had its results too, if they are read from its file; "" without one.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        must_exist: bool = False,
        *,
        store: str | Path | None = None,
        audience: Audience | None = None,
    ) -> None:
        """Open the directory; create it if it does not exist.

        Args:
            directory: by default $ARENA_HOME, or ``.arena`` in the working directory.
            store: address of a PostgreSQL database, or the path of a file; by default as ``store_url`` says,
                or a file in the directory.
            must_exist: raise an error instead of creating it, for commands that only read.
            audience: who reads its pages; by default as ``audience`` says.

        Raises:
            StoreError: if its database can't be opened, does not exist although it must, or has been on a server that
                is not named.
        """
        from arena.store.results.store import Store

        self._audience = audience
        self.directory = resolved_home(directory)
        path = self.directory / DATABASE_FILE
        is_there = has_file(self.directory, DATABASE_FILE)
        server = store or store_url()
        known = "" if server else noted_server(self.directory, RESULTS)
        if known and not is_there:
            raise StoreError(reminder(self.directory, RESULTS, known))
        if must_exist and not server and not is_there:
            raise NoHomeError(f"{self.directory}: there is no tournament yet; begin one with: arena run FILE")
        self.other_server = known
        self.store = Store(server or path)
        if self.store.server is not None and not must_exist:  # commands that only read note nothing
            with contextlib.suppress(OSError):
                self.directory.mkdir(parents=True, exist_ok=True)
            note_server(self.directory, RESULTS, self.store.server)

    def __getattr__(self, name: str) -> NoReturn:
        """Raise AttributeError; if the store has the attribute, the message says so."""
        from arena.store.results.store import Store

        hint = f"; its store has: home.store.{name}" if not name.startswith("_") and hasattr(Store, name) else ""
        if name == "standings_of":
            hint = "; it is a function: arena.standings_of(home.store, NAME)"
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=self)

    @cached_property
    def bots(self) -> BotRegistry:
        """The bots it knows."""
        from arena.store.bot_registry import BotRegistry  # takes time to import

        return BotRegistry(self.directory / "bots", self.store, self._embargoed_stores)

    def _embargoed_stores(self) -> Iterator[Store]:
        from arena.store.results.store import Store

        for path in sorted(self.directory.glob(f"{CONTESTS_DIRECTORY}/*/{DATABASE_FILE}")):
            with closing(Store(path)) as store:
                yield store

    @property
    def audience(self) -> Audience:
        """Who reads what bots have said on its pages: whoever has the home, but everybody once it has people."""
        if self._audience is not None:
            return self._audience
        of_contest = self.directory.parent.name == CONTESTS_DIRECTORY
        return EVERYBODY if of_contest or has_people(self.directory) else OPERATOR

    def __enter__(self) -> ArenaHome:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self.store.close()

    def log_path(self, tournament: str) -> Path:
        """Return the path of a tournament's log."""
        path = self.directory.joinpath("logs", *map(as_file_name, tournament.split("/")))
        return path.with_name(f"{path.name}.log")

    @property
    def cache_directory(self) -> Path:
        """The directory of the standings cache; everything in it can be computed again."""
        return self.directory / "cache"

    def keep_input(self, name: str, data: bytes) -> Path:
        """Write what a bot was sent to a file, and return its path; UsageError if it can't be written."""
        path = self.directory / "repro" / f"{name}.stdin"
        with failing_as(UsageError, f"{path}: can't be written"):
            replace_file(path, data)
        return path


def rename_tournament(home: ArenaHome, name: str, new_name: str) -> StoredTournament:
    """Rename a tournament and its log; its records keep the name they were recorded under.

    Raises:
        UnknownNameError: if there is no such tournament.
        DefinitionError: if a tournament may not have the new name.
        StoreError: if the new name is used already, or a director is running the tournament.
        UsageError: if its log can't be moved.
    """
    check_tournament_name(new_name, "new name", home.bots)
    home.store.tournament(name)
    if name == new_name:
        raise UsageError(f"tournament {name!r} has this name already")
    with home.store.lock(name), home.store.lock(new_name):
        before = home.store.tournament(name)
        renamed = home.store.rename(before, new_name)
        _forget_cached_results(home, before)
        move_log(home, name, new_name)
        return renamed


def delete_tournament(home: ArenaHome, name: str) -> StoredTournament:
    """Move a tournament into the trash, from which ``restore_tournament`` brings it back.

    It counts nowhere any more, and another tournament may have its name.

    Raises:
        UnknownNameError: if there is no such tournament.
        StoreError: if a director is running it.
        UsageError: if its log can't be moved.
    """
    home.store.tournament(name)
    with home.store.lock(name):
        tournament = home.store.tournament(name)
        home.store.delete(tournament)
        _forget_cached_results(home, tournament)
        move_log(home, name, tournament.trash_name)
        return home.store.deleted_tournament(tournament.trash_name)


def restore_tournament(home: ArenaHome, name: str, new_name: str | None = None) -> StoredTournament:
    """Take a tournament out of the trash, with all its matches, into the seasons it was in.

    Args:
        name: its old name, or the one it has in the trash.
        new_name: by default the old one.

    Raises:
        UnknownNameError: if the trash has no such tournament.
        DefinitionError: if a tournament may not have the new name.
        StoreError: if the name is used already, or several in the trash had it.
        UsageError: if its log can't be moved.
    """
    deleted = home.store.deleted_tournament(name)
    if new_name is not None:
        check_tournament_name(new_name, "new name", home.bots)
    restored_name = deleted.name if new_name is None else new_name
    with home.store.lock(deleted.trash_name), home.store.lock(restored_name):
        restored = home.store.restore(home.store.deleted_tournament(deleted.trash_name), restored_name)
        move_log(home, deleted.trash_name, restored_name)
        return restored


def erase_tournament(home: ArenaHome, name: str) -> None:
    """Remove a tournament in the trash forever, by its old name or its name there, with its records and its log.

    Raises:
        UnknownNameError: if the trash has no such tournament.
        StoreError: if several in the trash had this name.
        UsageError: if its log can't be removed.
    """
    deleted = home.store.deleted_tournament(name)
    with home.store.lock(deleted.trash_name):
        home.store.erase(home.store.deleted_tournament(deleted.trash_name))
    log = home.log_path(deleted.trash_name)
    with failing_as(UsageError, f"{log}: the tournament is erased, but its log can't be"):
        check_unlinked(home.directory, log.parent)
        log.unlink(missing_ok=True)


def _forget_cached_results(home: ArenaHome, tournament: StoredTournament) -> None:
    for kind in ("standings", "results", "fit"):
        with contextlib.suppress(OSError):  # there may be anything in the place of the cache
            kept_path(home.cache_directory, tournament.name, kind).unlink(missing_ok=True)


def move_log(home: ArenaHome, name: str, new_name: str, into: ArenaHome | None = None) -> None:
    """Move a log, by default within a home; if there is one at its new place already, append to it."""
    source, target = home.log_path(name), (into or home).log_path(new_name)
    with failing_as(UsageError, f"{source}: the tournament is stored, but its log can't be moved"):
        try:
            check_unlinked(home.directory, source.parent)
            check_unlinked((into or home).directory, target.parent)
            lines = os.fdopen(open_ordinary(source), "rb")
        except FileNotFoundError:
            return
        with lines:
            target.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(open_ordinary(target, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as log:
                shutil.copyfileobj(lines, log)
        source.unlink()
