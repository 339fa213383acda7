"""Whether a tournament from elsewhere, which does not exist here, could have been made by an arena."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from typing import Any

from arena.base.definition import Definition, bot_from_json, bot_identity, bot_to_json
from arena.base.errors import IllegalActionError, StoreError
from arena.base.names import ACCEPTED, is_name
from arena.base.records import MAX_PLY_LIMIT, Bot, ScheduledMatch
from arena.base.text import shortened_text
from arena.games import GAMES, Game, make_game
from arena.games.checked_game import checked_game
from arena.store.results.values import Correction
from arena.tournament.formats.table import format_of
from arena.tournament.rounds import needs_results
from arena.tournament.schedule import ChosenOpenings, schedule

MAX_NUMBER = 2**31 - 1
"""The largest number of a match or a round: what every database holds."""


def without_locations(definition: Definition) -> Definition:
    """Return a definition without where its bots are on the other machine; its identity is the same."""
    return replace(definition, entrants=tuple(map(_without_location, definition.entrants)))


def corrections_without_locations(corrections: Iterable[Correction]) -> list[Correction]:
    """Return a log of corrections without where replaced bots are on the other machine."""
    return [_correction_without_location(correction) for correction in corrections]


def _correction_without_location(correction: Correction) -> Correction:
    if correction.details.replaced is None:
        return correction
    bot = bot_from_json(correction.details.replaced, f"the replaced bot of correction {correction.number}")
    details = replace(correction.details, replaced=bot_to_json(_without_location(bot)))
    return replace(correction, details=details)


def _without_location(bot: Bot) -> Bot:
    return replace(
        bot,
        command=("", *bot_identity(bot)["args"]),
        directory="",
        own_files=(),
        external_game=None if bot.external_game is None else (bot.external_game[0], ""),
    )


def check_definition(definition: Definition, external_games: Collection[str]) -> None:
    """Raise UsageError unless a tournament of this definition can be played here.

    Args:
        external_games: the games from outside the package that may be imported.
    """
    for bot in definition.entrants:
        _check_names(bot)
    if not 1 <= definition.ply_limit <= MAX_PLY_LIMIT:
        raise StoreError(f"its definition is malformed: ply_limit = {definition.ply_limit}")
    for number, choice in enumerate(definition.games):
        if choice.game not in GAMES and choice.game not in external_games:
            raise StoreError(
                f"it plays {shortened_text(choice.game)!r}, which is not a game of the arena; it is imported only with"
                f" --external-game {shortened_text(choice.game)}"
            )
        game = make_game(choice.game, **choice.options)
        if (game.players, dict(game.options)) != (choice.players, dict(choice.options)):
            raise StoreError(f"its definition is malformed: the options of {choice.game!r} are not complete")
        format_of(definition, number)


def _check_names(bot: Bot) -> None:
    for what, text in (("name", bot.name), ("version", bot.version)):
        if not is_name(text):
            raise StoreError(f"the {what} {shortened_text(text)!r} of an entrant: {ACCEPTED}")


def check_time(text: str, what: str) -> str:
    """Return a time from elsewhere; raise StoreError if it is not written as one."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise StoreError(f"{what} = {shortened_text(text)!r}: expected a time such as 2026-01-31T12:00:00") from None
    return text


def check_corrections(corrections: Sequence[Correction], definition: Definition) -> None:
    """Raise StoreError unless a log of corrections fits its tournament."""
    for number, correction in enumerate(corrections, 1):
        details = correction.details
        holds = (
            correction.number == number
            and (details.entrant is None or 0 <= details.entrant < len(definition.entrants))
            and (details.undoes is None or 0 < details.undoes < number)
            and "\0" not in correction.reason
        )
        if not holds:
            raise StoreError(f"its log of corrections is malformed at correction {shortened_text(str(correction))}")
        check_time(correction.made_at, f"the time of correction {number}")


def checked_lines(
    lines: Iterable[ScheduledMatch], definition: Definition, is_corrected: bool
) -> Iterator[ScheduledMatch]:
    """Yield the lines of a schedule from elsewhere."""
    if not needs_results(definition) and not is_corrected:
        yield from _as_derived(lines, definition)
        return
    last: ScheduledMatch | None = None
    openings = _Openings(definition)
    for line in lines:
        _check_order(line, last)
        openings.check(line)
        yield line
        last = line


def _as_derived(lines: Iterable[ScheduledMatch], definition: Definition) -> Iterator[ScheduledMatch]:
    for line, derived in zip_longest(lines, schedule(definition)):
        if line != derived:
            number = line.match if line is not None else derived.match
            raise StoreError(f"match {number} of its schedule is not what follows from its definition")
        yield line


def _check_order(line: ScheduledMatch, last: ScheduledMatch | None) -> None:
    before = (0, 0, 1) if last is None else (last.match, last.encounter, last.round)
    holds = (
        line.match == before[0] + 1
        and line.encounter - before[1] in ((1,) if last is None else (0, 1))
        and before[2] <= line.round <= MAX_NUMBER
        and 0 <= line.opening <= MAX_NUMBER
        and 0 <= line.rng_seed < 2**63
    )
    if not holds:
        raise StoreError(f"match {line.match} of its schedule is malformed: its numbers don't follow those before it")


class _Openings:
    def __init__(self, definition: Definition) -> None:
        self._games: list[Game[Any]] = [
            checked_game(make_game(choice.game, **choice.options), choice.game) for choice in definition.games
        ]
        self._chosen = ChosenOpenings(definition)
        self._legal: set[tuple[int, tuple[Any, ...]]] = set()

    def check(self, line: ScheduledMatch) -> None:
        if not self._chosen.has(line):
            raise StoreError(f"match {line.match} of its schedule: its opening is not the one that was chosen")
        game, key = self._games[line.game], (line.game, line.opening_actions)
        if key in self._legal:
            return
        state = game.initial_state()
        try:
            for action in line.opening_actions:
                state = game.apply(state, action)
        except IllegalActionError as error:
            raise StoreError(f"match {line.match} of its schedule: its opening is illegal: {error.reason}") from error
        if game.is_over(state):
            raise StoreError(f"match {line.match} of its schedule: its opening ends the match")
        self._legal.add(key)
