"""Bots that a director has collected: in folders, archives, downloads of Moodle, and commits of git repositories.

Each is named after its file or folder. In a download a folder is named after a person, and holds one archive or one
program.
"""

from __future__ import annotations

import contextlib
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from glob import glob, has_magic
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from arena.base.definition import Rejected
from arena.base.errors import BotDefinitionError, UnknownNameError, UploadError, UsageError, failing_as
from arena.base.names import MAX_REASON_CHARACTERS
from arena.base.records import MEBIBYTE, Bot
from arena.base.text import counted, shortened_text
from arena.match.players.bot_files import left_out_as, open_at_once
from arena.match.players.entrants import GIT, KnownBots
from arena.match.players.manifest import LEAST, MANIFEST, as_submitted, check_name, load_bot
from arena.match.uploads.entry import DEFAULT_LIMITS, PROGRAM_STARTS, UnpackLimits
from arena.match.uploads.unpacking import is_archive, opened_bot, unpack, unpacking_place
from arena.sandbox.isolation.git_export import export_commit

SUBMITTED = "submitted:"
MAX_COLLECTED = 2000
"""The most files and folders in a folder of submissions."""
DOWNLOAD = UnpackLimits(
    upload_bytes=512 * MEBIBYTE, entries=20_000, total_bytes=512 * MEBIBYTE, cpu_seconds=20, wall_seconds=120.0
)
"""The limits of an archive with the submissions of a whole class; each archive in it has those of a submission."""
GIT_SUFFIX, GIT_TAR = ".git", "commit.tar"
COMMIT_DIGITS = 12
EXPECTED = 'expected a folder, a pattern such as "submissions/*", or an archive'
MAIN_FILES = ("bot.py", "main.py", "__main__.py")
"""The names by which one of several programs in a folder is known to be the bot, the preferred ones first."""

OF_MOODLE = re.compile(r"(?P<person>.+?)_[0-9]+_assignsubmission_file_?")


class Opened(NamedTuple):
    """A bot that can be launched; ``is_temporary`` says that its files will be removed."""

    bot: Bot
    is_temporary: bool


@dataclass(frozen=True, slots=True)
class Collected:
    """One of the bots that were collected: its name, what sentences call it, and what gives the bot."""

    name: str
    shown: str
    opened: Callable[[], contextlib.AbstractContextManager[Opened]]

    @contextlib.contextmanager
    def opened_bot(self) -> Iterator[Bot]:
        """Yield the bot, without ``is_temporary``."""
        with self.opened() as (bot, _):
            yield bot

    def load(self, bots: KnownBots | None) -> Bot:
        """Return the bot as it enters a tournament; what is there only for a while is copied into the home.

        Raises:
            BotDefinitionError, UploadError: if there is no bot that can play.
            UsageError: if there is no home, or this machine can't unpack or export anything now.
        """
        with self.opened() as (bot, is_temporary):
            if not is_temporary:
                return bot
            if bots is None:
                raise UsageError(f"bot {self.shown!r}: it is unpacked into a home; expected home.bots beside the file")
            own = bots.copy_in(bot.own_files[0] if bot.own_files else bot.directory)
            return replace(own, name=bot.name, version=bot.version)


@contextlib.contextmanager
def collected(text: str, base: Path, bots: KnownBots | None = None) -> Iterator[list[Collected]]:
    """Give the bots that a text names, in the order of their names, for as long as they are needed.

    Args:
        text: a pattern such as ``submissions/*``; a folder of submissions; an archive of one, or of a bot; a bot;
            ``submitted:PATTERN``; or ``git:PATH@REF``.
        base: what paths are relative to.
        bots: the submitted bots, ``home.bots``.

    Raises:
        UsageError: if nothing is there, or an archive of submissions can't be unpacked.
    """
    with contextlib.ExitStack() as stack:
        entries = _entries_of(text, base, bots, stack)
        _refuse_equal_names(text, entries)
        yield entries


class LoadedBots(NamedTuple):
    """The bots that a text names, what of it was rejected, and sentences about what is wrong with it."""

    bots: list[Bot]
    rejected: list[Rejected]
    faults: list[str]


def load_collected(text: str, base: Path, bots: KnownBots | None, check: Callable[[Bot], None] | None) -> LoadedBots:
    """Load all bots that a text names, and treat them as submitted bots: nobody vouches for any of them.

    Args:
        check: raises BotDefinitionError for what is broken in another way; with it, what is broken is only rejected.
    """
    loaded = LoadedBots([], [], [])
    try:
        with collected(text, base, bots) as entries:
            for entry in entries:
                try:
                    bot = entry.load(bots)
                    if check is not None:
                        check(bot)
                    loaded.bots.append(bot)
                except (BotDefinitionError, UploadError) as error:
                    first = str(error).partition("\n")[0].replace(f"{base.resolve()}/", "")[:MAX_REASON_CHARACTERS]
                    loaded.rejected.append(Rejected(name=entry.name, reason=first))
                    if check is None:
                        loaded.faults.append(str(error))
    except UsageError as error:
        loaded.faults.append(str(error))
    if loaded.rejected and check is None:
        loaded.faults[-1] += " (skip_broken = true leaves out what can't play)"
    return loaded


def is_collection(path: Path) -> bool:
    """Return whether a path on the command line is that of a folder of submissions, and not of a bot."""
    if not _is_folder(path) or has_manifest(path):
        return False
    if OF_MOODLE.fullmatch(path.name):
        return True
    entries = paths_in(path)
    if any(is_archive(entry) or (_is_folder(entry) and is_one_submission(entry)) for entry in entries):
        return True
    programs = [entry.name for entry in entries if is_program(entry)]
    return len(programs) > 1 and not set(programs) & set(MAIN_FILES)


def is_one_submission(folder: Path) -> bool:
    """Return whether a folder is a bot's, or that of a person in a download."""
    return has_manifest(folder) or OF_MOODLE.fullmatch(folder.name) is not None


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - no exception where nobody may look


def has_manifest(folder: Path) -> bool:
    """Return whether a folder has a manifest."""
    return os.path.exists(folder / MANIFEST)  # noqa: PTH110


def _entries_of(text: str, base: Path, bots: KnownBots | None, stack: contextlib.ExitStack) -> list[Collected]:
    if text.startswith(SUBMITTED):
        return _submitted_entries(text, bots)
    if text.startswith(GIT):
        return [of_git(text, base, bots)]
    if has_magic(text) and not os.path.lexists(base / text):
        names = sorted(glob(text, root_dir=base))  # noqa: PTH207 - hidden files don't match, as in a shell
        if not names:
            raise BotDefinitionError(f"{text!r}: no file matches it")
        return [_entry_at(base / name, name, bots) for name in names]
    path = base / text
    try:
        path.lstat()
    except OSError as error:  # whoever names it has mistyped it: nothing was submitted broken
        raise BotDefinitionError(f"{shortened_text(repr(text))}: {error.strerror}; {EXPECTED}") from error
    if is_archive(path):
        return _entries_of_archive(path, text, bots, stack)
    return _entries_in(path, text, bots)


def _entries_in(path: Path, shown: str, bots: KnownBots | None, is_temporary: bool = False) -> list[Collected]:
    """Return the submissions in a folder; a bot, or the folder of a person, is a single one."""
    if not _is_folder(path) or is_one_submission(path):
        return [_entry_at(path, shown, bots, is_temporary)]
    if not (names := _names_in(path, shown)):
        raise BotDefinitionError(f"{shown!r}: it holds no submission; {EXPECTED}")
    return [_entry_at(path / name, f"{shown.rstrip('/')}/{name}", bots, is_temporary) for name in names]


def _names_in(folder: Path, shown: str) -> list[str]:
    with failing_as(BotDefinitionError, f"{shown!r}: can't be read"), os.scandir(folder) as entries:
        listed = [entry.name for entry in islice(entries, MAX_COLLECTED + 1)]
    if len(listed) > MAX_COLLECTED:
        raise BotDefinitionError(f"{shown!r}: more than {MAX_COLLECTED:,} files and folders; expected submissions")
    return sorted(name for name in listed if not name.startswith(".") and not left_out_as(name))


def _entries_of_archive(path: Path, shown: str, bots: KnownBots | None, stack: contextlib.ExitStack) -> list[Collected]:
    """Return the bot in an archive, or what an archive of submissions holds, at its top or in its only folder."""
    directory = stack.enter_context(unpacking_place())
    try:
        folder = unpack(path, directory / "tree", DOWNLOAD, may_hold_many=True).bot
    except UploadError:  # reported by whoever opens it
        return [_entry_at(path, shown, bots)]
    only = _only_path_in(folder) if folder.is_dir() and not _is_download(folder) else None
    folder = folder if only is None else only
    return (
        _entries_in(folder, shown, bots, is_temporary=True) if _is_download(folder) else [_entry_at(path, shown, bots)]
    )


def _is_download(folder: Path) -> bool:
    """Return whether a folder was unpacked from a download: folders of persons or archives, and not two bots."""
    if not folder.is_dir() or has_manifest(folder):
        return False
    entries = [folder / name for name in _names_in(folder, folder.name)]
    return any(is_archive(entry) or OF_MOODLE.fullmatch(entry.name) for entry in entries)


def _submitted_entries(text: str, bots: KnownBots | None) -> list[Collected]:
    pattern = text.removeprefix(SUBMITTED)
    labels = () if bots is None else bots.labels()
    label_of = {label if "@" in pattern else label.rpartition("@")[0]: label for label in labels}  # the latest counts
    matching = sorted(label for name, label in label_of.items() if fnmatchcase(name, pattern))
    if bots is None or not matching:
        raise UnknownNameError("submitted bot", pattern, label_of)
    return [Collected(label, label, partial(_open_submitted, bots, label)) for label in matching]


def _open_submitted(bots: KnownBots, label: str) -> contextlib.AbstractContextManager[Opened]:
    return contextlib.nullcontext(Opened(bots.find(label), False))


def _entry_at(path: Path, shown: str, bots: KnownBots | None, is_temporary: bool = False) -> Collected:
    """Return the bot at a path, named after its file or folder, and not as its author calls it."""
    person = OF_MOODLE.fullmatch(path.name)
    title = person["person"] if person else path.name if _is_folder(path) else path.stem
    if not person and is_archive(path):
        title = title.removesuffix(".tar")
    name = unicodedata.normalize("NFC", title)
    return Collected(name, shown, partial(_opened_at, path, shown, name, person is not None, bots, is_temporary))


@contextlib.contextmanager
def _opened_at(
    path: Path, shown: str, name: str, is_of_person: bool, bots: KnownBots | None, is_temporary: bool
) -> Iterator[Opened]:
    """Give the bot of a file or a folder; the folder of a person, or one with nothing but an archive, has it inside."""
    is_known = None if bots is None else bots.is_known
    inner = _only_path_in(path) if _is_folder(path) and not has_manifest(path) else None
    if inner is not None and (is_of_person or is_archive(inner)):
        path = inner
    elif is_of_person and not has_manifest(path):
        raise BotDefinitionError(
            f"bot {shown!r}: it holds {counted(len(_names_in(path, shown)), 'file')}; expected one archive, or one"
            f" program, or a {MANIFEST} ({LEAST})"
        )
    try:
        with opened_bot(path) as opened:
            bot = as_submitted(load_bot(opened, is_known=is_known))
            check_name(f"bot {shown!r}: name", name, is_known)
            yield Opened(replace(bot, name=name), is_temporary or is_archive(path))
    except (BotDefinitionError, UploadError) as error:
        sentence = str(error).replace(str(path), shown) if is_temporary else str(error)
        if path == inner and sentence.startswith(f"{path.name}: "):  # everybody's may be called bot.zip
            sentence = f"{shown}/{sentence}"
        raise type(error)(sentence) from error


def _only_path_in(folder: Path) -> Path | None:
    """Return the only file or folder in a folder; None if it holds several, or nothing."""
    names = _names_in(folder, folder.name)
    return folder / names[0] if len(names) == 1 else None


def _refuse_equal_names(text: str, entries: Sequence[Collected]) -> None:
    first_of_name: dict[str, Collected] = {}
    for entry in entries:
        before = first_of_name.setdefault(entry.name, entry)
        if before is not entry:
            raise BotDefinitionError(
                f"{text!r}: {before.shown!r} and {entry.shown!r} would both be named {entry.name!r}; rename one of them"
            )


def paths_in(folder: Path) -> list[Path]:
    """Return what a folder holds, without hidden files and those that are no part of a bot."""
    return [folder / name for name in _names_in(folder, str(folder))]


def is_program(path: Path) -> bool:
    """Return whether a path is that of a Python file, or of another program."""
    if not path.is_file():
        return False
    if path.suffix == ".py":
        return True
    with contextlib.suppress(OSError), open(path, "rb", opener=open_at_once) as file:
        return os.access(path, os.X_OK) and file.read(4).startswith(PROGRAM_STARTS)
    return False


# A commit of a git repository: its files, exported and unpacked as an archive is.


def of_git(text: str, base: Path, bots: KnownBots | None) -> Collected:
    """Return the bot of ``git:PATH@REF``; its version is the commit."""
    where, at, reference = text.removeprefix(GIT).partition("@")
    while at and not _is_folder(base / where) and "@" in reference:  # a path may have one, too
        more, _, reference = reference.partition("@")
        where = f"{where}@{more}"
    if not where or not reference:
        raise BotDefinitionError(f"{text!r}: expected {GIT}PATH@REF, such as {GIT}../bot@v1.2")
    path = base / where
    if not _is_folder(path):
        raise BotDefinitionError(f"{text!r}: there is no directory {str(path)!r}; expected a git repository")
    name = unicodedata.normalize("NFC", path.resolve().name.removesuffix(GIT_SUFFIX))
    return Collected(name, text, partial(_opened_of_git, text, path, reference, name, bots))


@contextlib.contextmanager
def _opened_of_git(text: str, path: Path, reference: str, name: str, bots: KnownBots | None) -> Iterator[Opened]:
    with unpacking_place() as directory:
        tar, tree = directory / GIT_TAR, directory / "tree"
        commit = export_commit(text, path, reference, tar, DEFAULT_LIMITS.upload_bytes)
        try:
            unpacked = unpack(tar, tree, name=GIT_TAR).bot
            bot = as_submitted(load_bot(unpacked, is_known=None if bots is None else bots.is_known))
        except (BotDefinitionError, UploadError) as error:
            raise BotDefinitionError(str(error).replace(str(tree), text).replace(GIT_TAR, text, 1)) from error
        check_name(f"{text!r}: name", name)
        yield Opened(replace(bot, name=name, version=commit[:COMMIT_DIGITS]), True)
