"""The bots that an arena knows: the submitted ones, of which it has copies, and those in the records of tournaments."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from arena.base.errors import BotDefinitionError, StoreError, UnknownNameError, UsageError, failing_as
from arena.base.names import letters_alike
from arena.base.records import Bot, Limits
from arena.match.players.bot_files import SUBMITTED, BotFile, bot_files, copy_files, digest_of, single_file
from arena.match.players.building import forget_build
from arena.match.players.manifest import MANIFEST, known_by, load_bot
from arena.sandbox.isolation.procfs import process_tag
from arena.sandbox.isolation.reaper import CLEANUP_SECONDS, COPY_PREFIX, remove_stale_directories
from arena.sandbox.isolation.removal import remove_tree
from arena.store.results.store import Store
from arena.store.results.values import StoredBot, StoredTournament

_DIGEST = re.compile(r"[0-9a-f]{16,128}")


class RecordedBot(NamedTuple):
    """A bot that played a recorded match, as it can be launched now.

    Attributes:
        limits: those of its tournament.
        has_changed: whether its files have changed since.
    """

    bot: Bot
    limits: Limits
    has_changed: bool


class BotRegistry:
    """The bots of an arena."""

    def __init__(self, directory: Path, store: Store, others: Callable[[], Iterable[Store]] = tuple) -> None:
        """Open the registry.

        Args:
            directory: where copies of submitted bots are kept, each under the digest of its files.
            others: yields other databases whose tournaments need them, each open until the next is asked for.
        """
        self._directory = directory
        self._store, self._others = store, others

    def is_known(self, name: str) -> bool:
        """Return whether a submitted bot, an entrant or a tournament has this name or version."""
        if any(name in (bot.name, bot.version) for bot in self._store.submitted_bots()):
            return True
        return any(
            name == tournament.name or any(name in (bot.name, bot.version) for bot in tournament.definition.entrants)
            for tournament in self._store.tournaments()
        )

    def labels(self) -> list[str]:
        """Return the submitted bots, as ``name@version``, the latest version of each last."""
        return [bot.label for bot in self._store.submitted_bots()]

    def find(self, text: str, args: Sequence[str] = ()) -> Bot:
        """Return a submitted bot by ``name`` (its latest version) or ``name@version``, or raise UnknownNameError."""
        bots = self._store.submitted_bots()
        matching = [bot for bot in bots if text in (bot.name, bot.label)]
        if not matching:
            raise UnknownNameError("bot", text, [bot.label for bot in bots])
        stored = matching[-1]
        loaded = load_bot(self._directory / stored.digest / stored.entry, args, is_known=self.is_known)
        loaded = known_by(loaded, stored.digest)
        if loaded.digest != stored.digest:
            raise UsageError(f"bot {text!r}: its files in {loaded.directory} were changed after it was submitted")
        return replace(loaded, name=stored.name, version=stored.version, submitted=True)

    def is_submitted(self, bot: Bot) -> bool:
        """Return whether this bot has been submitted, with the same files.

        Raises:
            BotDefinitionError: if its version was submitted with other files, or a version that looks like it.
        """
        submitted = {stored.label: stored for stored in self._store.submitted_bots()}
        if (same := submitted.get(bot.label)) is not None:
            if same.digest == bot.digest:
                return True
            alone = f": a file alone is always version 1, so put it into a directory with a {MANIFEST}"
            raise BotDefinitionError(
                f"{bot.label} has been submitted with other files; raise the version in {MANIFEST}"
                + (alone if bot.own_files else "")
            )
        alike = letters_alike(bot.version)
        for stored in submitted.values():
            if stored.name == bot.name and letters_alike(stored.version) == alike:
                raise BotDefinitionError(
                    f"bot {bot.label!r}: its version looks like that of {stored.label!r}, which has been submitted;"
                    f" choose another one in {MANIFEST}"
                )
        return False

    def copy_in(self, path: str | os.PathLike[str]) -> Bot:
        """Copy a bot's files into the home, by their digest, and return the bot as it runs from there.

        Raises:
            BotDefinitionError: if the bot is too large, has too many files or one that can't be copied, or starts a
                program that submitted bots may not start.
        """
        bot = load_bot(path, bounds=SUBMITTED)
        if (before := self._submitted_before(bot)) is not None:
            return before
        own = [Path(file) for file in bot.own_files]
        files = [single_file(own[0], SUBMITTED)] if own else bot_files(Path(bot.directory), bool(bot.build), SUBMITTED)
        target = self._directory / bot.digest
        is_new = not target.exists()
        if is_new:
            with failing_as(UsageError, f"{target.parent}: the bot can't be copied there"):
                _copy(files, target)
        copy = load_bot(target / own[0].name if own else target)
        if copy.digest != bot.digest and is_new:
            remove_tree(str(target))
            raise BotDefinitionError(f"bot {bot.label!r}: its files have changed while they were copied")
        if copy.digest != bot.digest:
            raise UsageError(f"bot {bot.label!r}: its files in {target} are not those that were submitted; remove them")
        return replace(copy, submitted=True)

    def _submitted_before(self, bot: Bot) -> Bot | None:
        """Return the copy of a bot that was submitted with files that are left out now."""
        stored = next((submitted for submitted in self._store.submitted_bots() if submitted.label == bot.label), None)
        is_same = stored is not None and bot.digest != stored.digest == known_by(bot, stored.digest).digest
        return self.find(bot.label) if is_same else None

    def add(self, bot: Bot) -> None:
        """Add a copied bot to the list of submitted ones."""
        target = self._directory / bot.digest
        program = Path(bot.command[-1])
        entry = "." if (target / MANIFEST).exists() else program.name
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._store.add_bot(StoredBot(bot.name, bot.version, bot.digest, entry, now))

    def discard(self, bot: Bot) -> None:
        """Remove the files of a copied bot that was rejected, unless it has entered a tournament without submission."""
        files = str(self._directory / bot.digest)
        tournaments = (
            tournament for store in chain([self._store], self._others()) for tournament in store.tournaments()
        )
        if any(entrant.directory == files for tournament in tournaments for entrant in tournament.definition.entrants):
            return
        if all(stored.digest != bot.digest for stored in self._store.submitted_bots()):
            self._remove_files(bot.digest)

    def _remove_files(self, digest: str) -> None:
        remove_tree(str(self._directory / digest))
        forget_build(self._directory / digest)

    def removable(self, label: str) -> StoredBot:
        """Return a submitted bot (``name@version``) that may be removed.

        Raises:
            UnknownNameError: if no such bot has been submitted.
            UsageError: if a tournament needs its files.
        """
        submitted = self._store.submitted_bots()
        stored = next((bot for bot in submitted if bot.label == label), None)
        if stored is None:
            raise UnknownNameError("bot", label, [bot.label for bot in submitted])
        if _DIGEST.fullmatch(stored.digest) is None:  # the list may come from another arena, and lead anywhere
            raise StoreError(f"bot {label!r}: its digest in the database, {stored.digest!r}, is malformed")
        if self._is_only_one_with_files(stored):
            self._require_unneeded(stored)
        return stored

    def remove(self, label: str) -> None:
        """Remove a submitted bot (``name@version``), and its files unless another submitted bot has the same ones.

        Its matches stay and can be verified: a record needs no bot.

        Raises:
            UnknownNameError: if no such bot has been submitted.
            UsageError: if a tournament needs its files.
        """
        stored = self.removable(label)
        is_last = self._is_only_one_with_files(stored)
        self._store.remove_bot(stored)
        if is_last:
            try:
                self._require_unneeded(stored)  # a ladder may have paired it meanwhile; from now on none does
            except UsageError:
                self._store.add_bot(stored)
                raise
            self._remove_files(stored.digest)

    def _is_only_one_with_files(self, bot: StoredBot) -> bool:
        return all(other == bot or other.digest != bot.digest for other in self._store.submitted_bots())

    def _require_unneeded(self, bot: StoredBot) -> None:
        files = self._directory / bot.digest
        for store in chain([self._store], self._others()):
            for tournament in [*store.tournaments(), *store.deleted_tournaments()]:
                if _needs_files(store, tournament, files):
                    where = " (in the trash)" if tournament.deleted_at is not None else ""
                    raise UsageError(
                        f"bot {bot.label!r}: tournament {tournament.name!r}{where} is not finished and needs its files;"
                        " nothing was changed"
                    )

    def recorded(self, tournament: StoredTournament, label: str, path: Path | None) -> RecordedBot:
        """Return a bot (``name@version``) of a recorded match, at its recorded path or at ``path``.

        Raises:
            UsageError: if it is not there any more, or the recorded path can't be trusted, for example because the home
                comes from another machine.
            StoreError: if the tournament has no such entrant.
        """
        definition = tournament.definition
        entrant = next((bot for bot in definition.entrants if bot.label == label), None)
        if entrant is None:
            raise StoreError(f"bot {label!r}: it has a record in tournament {tournament.name!r}, but did not enter it")
        if entrant.is_function:
            raise UsageError(f"bot {label!r} is a Python function: it plays only in a process that has it")
        if path is None and not entrant.directory:
            raise UsageError(f"bot {label!r}: the record does not say where it was; use --bot-path PATH")
        bot = entrant if path is None else load_bot(path, is_known=self.is_known)
        if not Path(bot.directory).is_dir() or not all(Path(file).exists() for file in bot.own_files):
            raise UsageError(f"bot {label!r}: it is not at {bot.directory} any more; use --bot-path PATH")
        if path is None:
            _check_place(bot)
        own = [single_file(Path(file)) for file in bot.own_files]
        digest = digest_of(own or bot_files(Path(bot.directory), bool(bot.build)))
        changed = known_by(replace(bot, digest=digest), entrant.digest).digest != entrant.digest
        if changed and bot.build and path is None:
            raise UsageError(
                f"bot {label!r}: the files in {bot.directory} have changed since, and building it would write there;"
                " use --bot-path PATH"
            )
        return RecordedBot(bot, definition.limits, changed)


def _needs_files(store: Store, tournament: StoredTournament, files: Path) -> bool:
    """Return whether a tournament may still pair an entrant with these files, or has matches of it to play.

    An absent entrant may have some, and so may a ladder that was finished and continues.
    """
    definition = tournament.definition
    own = {k for k, entrant in enumerate(definition.entrants) if Path(entrant.directory) == files}
    if not own:
        return False
    if tournament.finished_at is None and own - definition.gone:
        return True
    return any(own & set(line.seats) for line in store.unplayed(tournament))


def _check_place(bot: Bot) -> None:
    """Raise UsageError unless a recorded path is that of a bot: the recorded command can read what is in it."""
    root = Path(bot.directory).resolve()
    if not all(Path(file).resolve().is_relative_to(root) for file in bot.own_files):
        raise UsageError(f"bot {bot.label!r}: the record names files outside of {bot.directory}; use --bot-path PATH")
    if not bot.own_files and not (root / MANIFEST).is_file():
        raise UsageError(f"bot {bot.label!r}: there is no {MANIFEST} in {bot.directory}; use --bot-path PATH")
    if not set(bot.own_files) <= set(bot.command):
        raise UsageError(f"bot {bot.label!r}: the record names files that are not its program; use --bot-path PATH")


def _copy(files: Sequence[BotFile], target: Path) -> None:
    """Copy files into a new directory, which appears only when it is complete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_stale_directories(str(target.parent), CLEANUP_SECONDS)
    prefix = f"{COPY_PREFIX}{process_tag()}-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=target.parent, ignore_cleanup_errors=True) as unfinished:
        complete = Path(unfinished) / "bot"
        copy_files(files, complete)
        complete.rename(target)
