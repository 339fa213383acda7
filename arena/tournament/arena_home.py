"""Where the arena keeps its things: one directory with the submitted bots, the logs and the locks, and the database,
which may also be a server that several machines reach ($ARENA_STORE).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from arena.errors import BotDefinitionError, StoreError, UnknownNameError, UsageError
from arena.players.manifest import MANIFEST, bot_files, digest_of, load_bot
from arena.records import Bot, Limits
from arena.shipped import bot_path
from arena.store.store import Store
from arena.store.values import StoredBot, StoredTournament
from arena.tournament.definition import shown_names
from arena.tournament.kept_standings import kept_or_made
from arena.tournament.standings import Standings, standings

DEFAULT_HOME = ".arena"
HOME_VARIABLE = "ARENA_HOME"
STORE_VARIABLE = "ARENA_STORE"
MAX_BOT_BYTES = 256 * 1024 * 1024


class ArenaHome:
    """The arena's directory. A context manager, or closed with ``close``.

    Attributes:
        directory: where it is.
        store: its database.
    """

    def __init__(self, directory: str | os.PathLike[str] | None = None, must_exist: bool = False) -> None:
        """Open the directory, creating it where there is none.

        Args:
            directory: by default $ARENA_HOME, or ``.arena`` in the working directory.
            must_exist: refuse to create it; for those who only want to read.

        Raises:
            StoreError: if its database can't be opened, or is not there but must be.
        """
        self.directory = Path(directory or os.environ.get(HOME_VARIABLE) or DEFAULT_HOME).resolve()
        path = self.directory / "arena.sqlite3"
        server = os.environ.get(STORE_VARIABLE)
        if must_exist and not server and not path.exists():
            raise StoreError(f"{self.directory}: there is no tournament yet; begin one with: arena run FILE")
        self.store = Store(server or path)

    def __enter__(self) -> ArenaHome:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self.store.close()

    def log_path(self, tournament: str) -> Path:
        """Return where the log of a tournament is written."""
        return self.directory / "logs" / f"{tournament}.log"

    def standings(self, tournament: str | None = None, game: str | None = None) -> Standings:
        """Return the table of a tournament, or of everything; of one game, or of all.

        Raises:
            UnknownNameError: if there is no such tournament.
        """
        if tournament is None:
            return standings(self.store.encounters(game=game), self.store.fault_counts(game=game))
        found = self.store.tournament(tournament)
        if game is not None:
            return self._make_standings(found, game)
        table = kept_or_made(self.directory / "cache", found, lambda: self._make_standings(found))
        table.scheduled = found.scheduled
        table.is_finished = found.finished_at is not None
        return table

    def _make_standings(self, tournament: StoredTournament, game: str | None = None) -> Standings:
        names = shown_names(tournament.entrants)
        faults = self.store.fault_counts(tournament, game)
        return standings(self.store.encounters(tournament, game), faults, names, everybody=list(names))

    def recorded_bot(self, tournament: StoredTournament, label: str, place: Path | None) -> tuple[Bot, Limits, bool]:
        """Find the bot of a record again.

        Args:
            tournament: where it played.
            label: its name@version.
            place: where it is now; by default where it was.

        Returns:
            The bot, what it might use, and whether its files have changed.

        Raises:
            UsageError: if it is not there any more.
        """
        definition = tournament.definition
        version = label.rpartition("@")[2]
        entrant = next(one for one in definition["entrants"] if f"{one['name']}@{one['version']}" == label)
        found = definition.get("places", {}).get(label)
        if place is None and found is None:
            raise UsageError(f"bot {label!r}: the record does not say where it was; use --bot PATH")
        if place is not None:
            bot = load_bot(place)
        else:
            own_files, command = tuple(found["own_files"]), tuple(found["command"])
            bot = Bot(
                entrant["name"],
                version,
                command,
                found["directory"],
                content=entrant["content"],
                own_files=own_files,
                build=tuple(found.get("build", ())),
            )
        if not Path(bot.directory).is_dir() or not all(Path(file).exists() for file in bot.own_files):
            raise UsageError(f"bot {label!r}: it is not at {bot.directory} any more; use --bot PATH")
        files = [Path(file) for file in bot.own_files] or bot_files(Path(bot.directory), bool(bot.build))
        changed = digest_of(files, Path(bot.directory)) != entrant["content"]
        return bot, Limits(**definition.get("limits", {})), changed

    def keep_input(self, name: str, data: bytes) -> Path:
        """Keep what a bot was sent in a file, and return its path."""
        path = self.directory / "repro" / f"{name}.stdin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    @staticmethod
    def check_game(tournament: StoredTournament, game: str | None) -> None:
        """Raise UnknownNameError unless the tournament has this game; None stands for all of its games."""
        if game is not None and game not in tournament.games:
            raise UnknownNameError("game", game, tournament.games)

    # submitted bots

    def find_bot(self, text: str, args: Sequence[str] = ()) -> Bot:
        """Return a submitted bot by ``name`` (its latest version) or ``name@version``.

        Raises:
            UnknownNameError: if there is none.
        """
        bots = self.store.submitted_bots()
        found = [bot for bot in bots if text in (bot.name, bot.label)]
        if not found:
            raise UnknownNameError("bot", text, [bot.label for bot in bots])
        stored = found[-1]
        loaded = load_bot(self.directory / "bots" / stored.content / stored.entry, args)
        if loaded.content != stored.content:
            raise UsageError(f"bot {text!r}: its files in {loaded.directory} were changed after it was submitted")
        return replace(loaded, name=stored.name, version=stored.version)

    def is_submitted(self, bot: Bot) -> bool:
        """Tell whether this very bot has been submitted.

        Raises:
            BotDefinitionError: if its name and version have been submitted with other files.
        """
        for stored in self.store.submitted_bots():
            if stored.label == bot.label:
                if stored.content == bot.content:
                    return True
                raise BotDefinitionError(
                    f"{bot.label} has been submitted with other files; raise the version in {MANIFEST}"
                )
        return False

    def copy_in(self, path: str | os.PathLike[str]) -> Bot:
        """Copy a bot's files into the home, by the digest of its files, and return it as it runs from there.

        Raises:
            BotDefinitionError: if the bot is refused: links that lead outside, or too large.
        """
        path = bot_path(path).resolve()
        bot = load_bot(path)
        root = path if path.is_dir() else path.parent
        files = list(bot_files(path, bool(bot.build))) if path.is_dir() else [path]
        _check_files(files, root)
        target = self.directory / "bots" / bot.content
        if not target.exists():
            try:
                _copy(files, root, target)
            except OSError as error:
                raise UsageError(f"{target.parent}: the bot can't be copied there: {error.strerror}") from error
        return load_bot(target if path.is_dir() else target / path.name)

    def add_bot(self, bot: Bot) -> None:
        """Enter a copied bot into the list of submitted ones."""
        target = self.directory / "bots" / bot.content
        program = Path(bot.command[-1])
        entry = "." if (target / MANIFEST).exists() else program.name
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.store.add_bot(StoredBot(bot.name, bot.version, bot.content, entry, now))

    def discard(self, bot: Bot) -> None:
        """Remove the files of a copied bot that was refused."""
        if all(stored.content != bot.content for stored in self.store.submitted_bots()):
            shutil.rmtree(self.directory / "bots" / bot.content, ignore_errors=True)


def _copy(files: Sequence[Path], root: Path, target: Path) -> None:
    """Copy files into a new directory, which appears only when all of them are there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="unfinished-", dir=target.parent, ignore_cleanup_errors=True) as unfinished:
        whole = Path(unfinished) / "bot"
        for file in files:
            copy = whole / file.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
        whole.rename(target)


def _check_files(files: Sequence[Path], root: Path) -> None:
    size = 0
    for file in files:
        if not file.resolve().is_relative_to(root.resolve()):
            raise BotDefinitionError(f"{file}: a link that leads out of the bot's directory")
        size += file.stat().st_size
        if size > MAX_BOT_BYTES:
            raise BotDefinitionError(f"{root}: more than {MAX_BOT_BYTES // 2**20} MiB of files")
