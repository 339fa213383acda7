"""Reads a tournament file into its definition (``base/definition.py``), checked whole before anything is played.

``TournamentFile`` (``tournament_file.py``) documents the keys with their defaults; README.md shows an example.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from arena.base.checked_files import check_model, read_toml
from arena.base.definition import Definition, GameChoice, Rejected
from arena.base.errors import BotDefinitionError, DefinitionError, OptionError, UnknownNameError, UsageError
from arena.base.names import check_tournament_name, in_latin
from arena.base.records import Bot, Limits, TimeControl
from arena.base.shipped import bot_path, example_hint, tournament_path
from arena.base.text import shortened_text, toml_value
from arena.base.until import Until
from arena.games import make_game
from arena.match.players.entrants import GIT, Entrant, KnownBots, bot_of
from arena.match.players.game_location import check_readable_game
from arena.match.players.manifest import check_name, claims_problem, load_bot
from arena.match.players.program_file import uses_botkit
from arena.sandbox.isolation.levels import choose_isolation
from arena.tournament.formats.format import FORMATS, formats_of
from arena.tournament.opening_information import openings_in
from arena.tournament.tournament_file import CommonKeys, EntrantTable, GameTable, TournamentFile, Variant, variants_of

MAX_LEFT_OUT = 5
"""The most entrants whose reason for being left out a sentence repeats."""


def load_definition(path: str | os.PathLike[str], bots: KnownBots | None = None) -> Definition:
    """Read and check a tournament file.

    Args:
        path: the TOML file, or ``arena:NAME``, an example tournament.
        bots: the submitted bots, ``home.bots``; by default, entrants are paths and example bots only, without
            archives.

    Raises:
        DefinitionError: with every fault, each with its place, value and what is accepted.
    """
    path = tournament_path(path)
    file = check_model(TournamentFile, read_toml(path, DefinitionError), path, DefinitionError)
    return _Builder(file, path, bots).checked(str(path))


def load_conditions(path: Path) -> Definition:
    """Return the definition of a tournament file without its entrants, which need not be on this machine.

    Raises:
        DefinitionError: with every fault in the rest of it.
    """
    file = check_model(TournamentFile, read_toml(path, DefinitionError), path, DefinitionError)
    return _Builder(file, path, None, has_entrants=False).checked(str(path))


def make_definition(
    name: str,
    game: str,
    entrants: Sequence[Entrant] | Mapping[str, Entrant],
    *,
    bots: KnownBots | None = None,
    **keys: Any,
) -> Definition:
    """Return a tournament's definition without a tournament file.

    Args:
        entrants: bots, paths from the working directory, ``arena:NAME``, names of submitted bots, or functions
            ``choose(game, state, clock)``; as a map, under the names they have in this tournament.
        bots: the submitted bots, ``home.bots``.
        keys: the other keys of a tournament file: ``options={"size": 5}``, ``encounters=10``,
            ``time_control={"per_action_seconds": 0.5}``, ``format="swiss"``, ``swiss={"rounds": 7}``.

    Raises:
        DefinitionError: with every fault, each with its place, value and what is accepted.
    """
    if not isinstance(entrants, Mapping | list | tuple):
        value = shortened_text(repr(entrants))
        raise DefinitionError(f"tournament {name!r}: entrants = {value}: expected a list of bots, or a map of them")
    named = entrants.items() if isinstance(entrants, Mapping) else ((None, bot) for bot in entrants)
    tables: list[dict[str, str]] = []
    given: dict[str, Entrant] = {}
    for number, (title, bot) in enumerate(named):
        key = bot if isinstance(bot, str) else f"\n{number}"  # no path or name of a bot
        given |= {} if isinstance(bot, str) else {key: bot}
        tables.append({"bot": key} | ({} if title is None else {"name": title}))
    where = f"tournament {name!r}"
    values = {**keys, "name": name, "game": game, "entrants": tables}
    file = check_model(TournamentFile, values, where, DefinitionError)
    return _Builder(file, Path(), bots, given).checked(where)


def with_name(definition: Definition, name: str, bots: KnownBots | None = None) -> Definition:
    """Return the same tournament under another name."""
    check_tournament_name(name, "name", bots)
    return replace(definition, name=name)


def check_game_of(game: str, entrants: Iterable[Bot]) -> None:
    """Raise GameError if an entrant needs the rules of a game, and could not load them."""
    if any(map(uses_botkit, entrants)):
        check_readable_game(game)


def check_ply_limit(ply_limit: int, opening_plies: int) -> None:
    """Raise DefinitionError unless a match has room for an action after its opening."""
    if ply_limit <= opening_plies:
        raise DefinitionError(
            f"ply_limit = {ply_limit}: the {opening_plies} plies of the opening count; expected at least"
            f" {opening_plies + 1}"
        )


@dataclass
class _Builder:
    file: CommonKeys
    path: Path
    bots: KnownBots | None
    given: Mapping[str, Entrant] = field(default_factory=dict)
    has_entrants: bool = True
    faults: list[str] = field(default_factory=list)
    games: Sequence[GameChoice] = ()
    rejected: list[Rejected] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._has_all_entrants = self.has_entrants
        self._time_control = TimeControl(**self.file.time_control.model_dump())

    def checked(self, where: str) -> Definition:
        """Return the definition; raise DefinitionError with every fault."""
        definition = self._build()
        if self.has_entrants and not self.faults:
            with self._collecting():
                formats_of(definition)
        if self.faults:
            raise DefinitionError.of_mistakes(where, self.faults)
        return definition

    @contextmanager
    def _collecting(self) -> Iterator[None]:
        try:
            yield
        except UsageError as error:
            self.faults.append(str(error))

    def _build(self) -> Definition:
        file = self.file
        title = file.name if file.name is not None else self.path.stem
        with self._collecting():
            check_tournament_name(title, "name", self.bots)
        with self._collecting():
            choose_isolation(file.isolation)
        if file.format not in FORMATS:
            expected = ", ".join(repr(expected) for expected in FORMATS)
            self.faults.append(f"format = {file.format!r}: expected {expected}")
        self.faults += [f"{key}: {sentence}" for key, sentence in file.tables_of_others()]
        games = self.games = self._games()
        openings, opening_plies = openings_in(file, self.path.parent, games, self.faults)
        with self._collecting():
            check_ply_limit(file.ply_limit, opening_plies)
        entrants = self._entrants() if self.has_entrants else ()
        self._check_fit(games, entrants)
        return Definition(
            name=title,
            games=games,
            entrants=entrants,
            format=file.format,
            encounters=file.encounters,
            opening_plies=opening_plies,
            openings=openings,
            ply_limit=file.ply_limit,
            time_control=self._time_control,
            limits=Limits(**file.limits.model_dump()),
            rng_seed=file.rng_seed,
            isolation=file.isolation,
            fresh_bots=file.fresh_bots,
            workers=file.workers,
            settings=file.format_settings(),
            until=None if file.until is None else Until(**file.until.model_dump()),
            adjudicate=file.adjudicate or "",
            rejected=tuple(self.rejected),
        )

    def _games(self) -> tuple[GameChoice, ...]:
        file = self.file
        if (file.game is None) == (not file.games):
            self.faults.append('either game = "NAME" or one or more [[games]] tables are needed, not both')
            return ()
        if file.game is not None:
            tables = [("", GameTable(game=file.game, options=file.options))]
        else:
            tables = [(f"games[{k}].", table) for k, table in enumerate(file.games)]
            if file.options:
                self.faults.append("options: with [[games]], options belong inside each of them")
        choices = []
        for prefix, table in tables:
            key = f"{prefix}game"
            try:
                game = make_game(table.game, **table.options)
                choices.append(GameChoice(game=table.game, options=game.options, players=game.players))
            except OptionError as error:
                self.faults.append(f"{prefix}options.{error.option} = {toml_value(error.value)}: {error.accepted}")
            except UsageError as error:
                self.faults.append(f"{key}: {error}")
        return tuple(choices)

    def _entrants(self) -> tuple[Bot, ...]:
        bots: list[Bot] = []
        for number, table in enumerate(self.file.entrants):
            key = f"entrants[{number}]"
            for variant in self._variants(table, key):
                try:
                    bot = self._bot(table, variant)
                except UsageError as error:
                    self.faults.append(f"{key}: {error}")
                    self._has_all_entrants = False
                    continue
                self._check_label(f"{key}.name", bot, bots)
                bots.append(bot)
        for bot in self._collected():
            self._check_label("entrants_from: name", bot, bots)
            bots.append(bot)
        return tuple(bots)

    def _check_label(self, key: str, bot: Bot, before: Sequence[Bot]) -> None:
        if any(bot.label == other.label for other in before):
            self.faults.append(
                f"{key} = {bot.name!r}: another entrant has this name and version; give one of them a name of its own"
            )
        elif any(in_latin(bot.label) == in_latin(other.label) for other in before):
            self.faults.append(
                f"{key} = {bot.name!r} ({bot.name.encode('ascii', 'backslashreplace').decode()}): it"
                " looks like the name of another entrant, but has other letters; give one of them another name"
            )

    def _collected(self) -> Sequence[Bot]:
        """Return the bots of ``entrants_from``; note what is broken, or leave it out if the file says so."""
        file = self.file
        if file.entrants_from is None:
            return ()
        from arena.tournament.collected import load_collected  # loads what unpacks and builds, as below

        check = self._check_is_whole if file.skip_broken else None
        loaded = load_collected(file.entrants_from, self.path.parent, self.bots, check)
        self.faults += [f"entrants_from: {sentence}" for sentence in loaded.faults]
        self._has_all_entrants &= not loaded.faults
        self.rejected += loaded.rejected
        return loaded.bots

    def _check_is_whole(self, bot: Bot) -> None:
        """Raise BotDefinitionError for a bot that does not play the games, or can't be built."""
        from arena.match.players.building import build_bots

        for choice in self.games:
            if (problem := claims_problem(bot, choice.game)) is not None:
                raise BotDefinitionError(f"bot {bot.name!r} {problem}")
        build_bots([bot], choose_isolation(self.file.isolation))

    def _variants(self, table: EntrantTable, key: str) -> list[Variant]:
        try:
            return variants_of(table.args)
        except DefinitionError as error:
            self.faults.append(f"{key}.{error}")
            self._has_all_entrants = False
            return []

    def _bot(self, table: EntrantTable, variant: Variant) -> Bot:
        if table.bot in self.given:
            bot = bot_of(self.given[table.bot])
        else:
            bot = find_entrant(table.bot, variant.args, self.path.parent, self.bots)
        if table.time_control is not None:
            own = replace(self._time_control, **table.time_control.model_dump())
            bot = replace(bot, time_control=None if own == self._time_control else own)
        if table.name is None and not variant.values:
            return bot
        name = variant.named(bot.name if table.name is None else table.name)
        check_name("name", name, None if self.bots is None else self.bots.is_known)
        return replace(bot, name=name)

    def _check_fit(self, games: Sequence[GameChoice], entrants: Sequence[Bot]) -> None:
        if not self._has_all_entrants:
            return
        left_out = "".join(f"; left out {one.name!r}: {one.reason}" for one in self.rejected[:MAX_LEFT_OUT])
        for choice in games:
            if choice.players > len(entrants):
                self.faults.append(
                    f"entrants: expected at least {choice.players}, one for each player of {choice.game};"
                    f" got {len(entrants)}{left_out}"
                )
            with self._collecting():
                check_game_of(choice.game, entrants)
            for bot in entrants:
                if (problem := claims_problem(bot, choice.game)) is not None:
                    self.faults.append(f"entrant {bot.name!r} {problem}")


def find_entrant(text: str, args: Sequence[str], base: Path, bots: KnownBots | None) -> Bot:
    """Return the bot that a text names: a path from ``base``, ``arena:NAME``, a submitted ``name[@version]``, or
    ``git:PATH@REF``.
    """
    if text.startswith(GIT):
        from arena.tournament.collected import of_git

        bot = of_git(text, base, bots).load(bots)
        return replace(bot, command=(*bot.command, *args))
    try:
        path = base / bot_path(text)
    except UnknownNameError:
        with suppress(UnknownNameError):  # a bot may have been submitted as "arena:…" before that meant anything
            if bots is not None:
                return bots.find(text, args)
        raise
    if "/" in text or text.endswith(".py") or os.path.lexists(path) or bots is None:
        return load_bot(path, args, is_known=None if bots is None else bots.is_known)
    try:
        return bots.find(text, args)
    except UsageError as error:
        hint = example_hint(path)
        raise BotDefinitionError(f"{error}; nor is there a file or directory {str(path)!r}{hint}") from error
