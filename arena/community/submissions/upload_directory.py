"""Uploads of authors, each in a file, the owners of the bots of a home, and whether this machine can contain them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from arena.base.errors import UploadError, UsageError, failing_as
from arena.base.folder import read_note, replace_file
from arena.base.names import as_file_name
from arena.base.records import MEBIBYTE
from arena.base.text import size_text
from arena.match.uploads.entry import PROGRAM_STARTS
from arena.sandbox.isolation.levels import choose_isolation, groups_problem, probe_level
from arena.sandbox.isolation.removal import remove_tree
from arena.sandbox.isolation.sandbox_policy import Isolation
from arena.store.home import CHECKING, RECEIVING
from arena.store.people.people_store import PeopleStore
from arena.store.results.store import Store
from arena.store.results.values import OwnedBot

MAX_UPLOAD_BYTES = 32 * MEBIBYTE
PROGRAM_MODE = 0o700
MAX_NAME_CHARACTERS = 60
"""With four bytes each, still a file name. Longer names lose their beginning, as the ending tells the format."""
MAX_RECEIVING = 16
"""Uploads at a time: together they fit into ``SPARE_BYTES``."""
RECEIVING_OF_A_PERSON = 2
"""Of these, so that one person can't block all others."""
SPARE_BYTES = 512 * MEBIBYTE
"""No upload is taken if less is free on the disk."""

_NAME = re.compile(r"[0-9a-f]{16}-[0-9a-f]{16}")
UNFINISHED_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Received:
    """A complete upload. No two uploads share a file, so that either can be removed."""

    name: str
    digest: str
    size_bytes: int


class UploadDirectory:
    """A directory of uploads."""

    def __init__(self, directory: Path, upload_obstacle: Callable[[], str] = lambda: "") -> None:
        """Prepare; ``upload_obstacle`` returns why no uploads are taken here, "" if they are."""
        self._directory, self.upload_obstacle = directory, upload_obstacle
        self._receiving: list[int | None] = []  # the people whose uploads are coming in

    def path(self, name: str) -> Path:
        """Return where an upload is, or would be."""
        assert _NAME.fullmatch(name), name
        return self._directory / name

    def receive(self, person: int | None = None) -> Receiving:
        """Return the receiver of a new upload, of a person with an account or of nobody.

        Raises:
            UsageError: if nothing is taken here, the person sends too many already, the directory can't be written, or
                the disk is nearly full.
        """
        if obstacle := self.upload_obstacle():
            raise UsageError(obstacle)
        if person is not None and self._receiving.count(person) >= RECEIVING_OF_A_PERSON:
            raise UsageError(
                f"you are sending {RECEIVING_OF_A_PERSON} uploads already, and the arena takes no more of you at once;"
                " send this one again when one of them is complete"
            )
        if len(self._receiving) >= MAX_RECEIVING:
            raise UsageError("the arena can't take uploads now: too many arrive at once; try again in a minute")
        with cannot_be_taken():
            self._directory.mkdir(parents=True, exist_ok=True)
            disks = [
                os.statvfs(place) for place in (self._directory, tempfile.gettempdir())
            ]  # which has the files of forms
            if any(disk.f_bavail * disk.f_frsize < SPARE_BYTES for disk in disks):
                raise UsageError("the arena can't take uploads now: its disk is nearly full")
            descriptor, name = tempfile.mkstemp(prefix=RECEIVING, dir=self._directory)
        self._receiving.append(person)
        return Receiving(self._directory, descriptor, Path(name), lambda: self._receiving.remove(person))

    def remove(self, name: str) -> None:
        """Remove an upload that nobody needs any more."""
        self.path(name).unlink(missing_ok=True)

    @contextlib.contextmanager
    def named(self, name: str, file_name: str) -> Iterator[Path]:
        """Give an upload under its author's name for it, made a valid file name: the ending tells the format."""
        with tempfile.TemporaryDirectory(prefix=CHECKING, dir=self._directory) as directory:
            path = Path(directory) / as_file_name(file_name[-MAX_NAME_CHARACTERS:])
            path.hardlink_to(self.path(name))
            with path.open("rb") as file:
                if file.read(4).startswith(PROGRAM_STARTS):
                    path.chmod(PROGRAM_MODE)
            yield path

    def remove_unfinished(self, prefix: str) -> None:
        """Remove what a process left that was killed long ago; ``prefix`` is ``RECEIVING`` or ``CHECKING``."""
        for path in self._directory.glob(f"{prefix}*"):
            with contextlib.suppress(OSError):
                if time.time() - path.lstat().st_mtime > UNFINISHED_SECONDS:
                    remove_tree(str(path))


class Receiving:
    """An upload that is coming in. A context manager: unless kept, the upload is removed at the end."""

    def __init__(self, directory: Path, descriptor: int, path: Path, when_over: Callable[[], None]) -> None:
        self._directory, self._path, self._when_over = directory, path, when_over
        self._file = os.fdopen(descriptor, "wb")
        self._digest = hashlib.sha256()
        self._size_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._when_over()
        with contextlib.suppress(OSError):  # buffered bytes may not fit on the disk
            self._file.close()
        self._path.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Write a piece; raise UploadError if the upload is too large, UsageError if the disk is full."""
        self._size_bytes += len(data)
        if self._size_bytes > MAX_UPLOAD_BYTES:
            raise UploadError(f"the upload is larger than {size_text(MAX_UPLOAD_BYTES)}")
        self._digest.update(data)
        with cannot_be_taken():
            self._file.write(data)

    def keep(self) -> Received:
        """Keep the upload for good; raise UploadError if it is empty, UsageError if the disk is full."""
        if not self._size_bytes:
            raise UploadError("the upload is empty")
        with cannot_be_taken():
            self._file.flush()
            os.fsync(self._file.fileno())
        digest = self._digest.hexdigest()
        received = Received(f"{digest[:16]}-{secrets.token_hex(8)}", digest, self._size_bytes)
        self._path.replace(self._directory / received.name)
        return received


def cannot_be_taken() -> AbstractContextManager[None]:
    """Raise UsageError for an error of the disk to which uploads are written."""
    return failing_as(UsageError, "uploads can't be taken now")


# Homes get the owners of their bots from the database of people, because pages read only the homes.
#
# Of a person, a home has only the name, beside each accepted bot, and nothing after the person has left.


def tell_owners(people: PeopleStore, home: Store, others: Iterable[Store] = ()) -> None:
    """Write the owners of bots into homes, without the names of those who have left."""
    listed_digests = {bot.label: bot.digest for bot in home.submitted_bots()}
    earlier_owners = home.owners().by_bot
    owned = []
    for label, person in people.submissions.owners().items():
        digest = listed_digests.get(label) or (earlier_owners[label].digest if label in earlier_owners else "")
        owned += [OwnedBot(label, digest, person)] if digest else []
    for store in (home, *others):
        store.set_owners(owned)


# Whether this machine can contain uploads of strangers, and the note of the checker about it.


@dataclass(frozen=True, slots=True)
class Containment:
    """Whether this machine contains uploads of strangers, why, and the isolation they would have (None without any)."""

    is_enough: bool
    reason: str
    isolation: Isolation | None

    @property
    def refusal(self) -> str:
        """Why nothing is taken from strangers here; "" if it is."""
        return "" if self.is_enough else self.reason


def can_contain_uploads(wanted: str = "auto") -> Containment:
    """Return whether strangers may submit bots: only where files, network and the sum of memory are confined."""
    try:
        isolation = choose_isolation(wanted)
    except UsageError as error:
        return Containment(False, f"uploads can't be contained: {error}", None)
    if not isolation.confines_files:
        return Containment(
            False,
            f"uploads can't be contained: at the level {isolation.label} a bot can read the files of the arena and use"
            " the network; landlock or bubblewrap is needed",
            isolation,
        )
    if not isolation.groups:
        reason = groups_problem(probe_level(isolation.level))
        return Containment(False, f"uploads can't be contained: {reason}", isolation)
    return Containment(True, f"uploads are contained: unpacked, built and run at {isolation.label}", isolation)


# The checker notes its finding for the web process, which can't test the machine itself.

MAX_CHARACTERS = 2000
NO_CHECKER = "the site takes no bots before its checker has started: arena serve --only work"


def note_containment(directory: str | os.PathLike[str], refusal: str) -> None:
    """Note in a home why no uploads are checked here; "" if they are."""
    path = _note_path(directory)
    with failing_as(UsageError, f"{path}: can't be written"):
        replace_file(path, refusal.encode())


def noted_refusal(directory: str | os.PathLike[str]) -> str:
    """Return why the checker of a home checks nothing; "" if it does."""
    with contextlib.suppress(OSError):
        return read_note(_note_path(directory), MAX_CHARACTERS)
    return NO_CHECKER


def _note_path(directory: str | os.PathLike[str]) -> Path:
    return Path(directory) / "parts" / "containment"
