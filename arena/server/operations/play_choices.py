"""What can be chosen for an unrated match: game and options, a bot that may play, a seat, a time, and variations."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from arena.base.errors import UsageError
from arena.base.records import MatchRecord
from arena.base.shipped import PREFIX
from arena.base.text import all_of, any_of
from arena.server.gate.operation import Fields, Visit, has_controls
from arena.server.http.problems import bad_address
from arena.site.frame.model import MAX_NAME_CHARACTERS
from arena.site.matches.games_model import MAX_OPTION_FIELDS, GameOption, option_fields
from arena.site.matches.playing_model import MAX_SEATS, SEATS, PlayableBot, PlayableGame, PlayMenu
from arena.store.people.people_store import PeopleStore
from arena.store.people.stored_contests import ContestSuspension, suspension_of, suspension_sentence
from arena.store.people.unrated_match import Choices, MatchState, UnratedMatch

SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0)
"""Of CPU time, for each action of a bot."""
USUAL_SECONDS = 1.0
NOBODY_PLAYS = "nobody can play here now"
MAX_PLIES = 1000
"""Before a position that is played on."""
HOUSE_BOTS = (f"{PREFIX}mcts", f"{PREFIX}greedy")
"""Bots that continue a match against a visitor if its own bot is not offered; the first one that is offered plays."""


class PlayParameters(Fields):
    """The game and the bot that a link chooses; a text that no name can be chooses nothing."""

    game: str = ""
    bot: str = ""

    @field_validator("*", mode="before")
    @classmethod
    def _without_controls(cls, value: object, info: ValidationInfo) -> object:
        return "" if isinstance(value, str) and has_controls(value) else value


class NewMatch(Fields):
    """What is chosen for a match; the options of the game by name, or in fields such as ``option_size``.

    With a ``tournament``, its ``match`` is played on after ``ply`` actions, against the bot of the other seat there
    or a house bot, in place of a chosen game.
    """

    game: str = Field("", max_length=300)
    bot: str = Field("", max_length=200)
    seat: Annotated[int, Field(ge=0, lt=MAX_SEATS)] = 0
    seconds: float = USUAL_SECONDS
    options: dict[str, int | str] = Field({}, max_length=MAX_OPTION_FIELDS)
    tournament: str = Field("", max_length=MAX_NAME_CHARACTERS)
    match: int = Field(0, ge=0, le=2**31 - 1)
    ply: int = Field(0, ge=0, le=MAX_PLIES)

    @model_validator(mode="before")
    @classmethod
    def _with_fields_of_the_form(cls, given: Any) -> Any:
        fields, rest = option_fields(given)
        return {**rest, "options": fields} if fields else given


def authors_of(people: PeopleStore, shown: Collection[str]) -> dict[str, str]:
    """Return the owners of submitted bots that a page shows, by ``name@version``."""
    owners = people.submissions.owners() if any(not label.startswith(PREFIX) for label in shown) else {}
    return {label: owners[label] for label in sorted(shown) if owners.get(label)}


def chosen(menu: PlayMenu, sent: NewMatch) -> Choices:
    """Return the checked choices for a match; raise UsageError for an invalid one."""
    if menu.refusal:
        raise UsageError(menu.refusal)
    game = next((game for game in menu.games if game.name == sent.game), None)
    if game is None:
        raise UsageError(f"game {sent.game!r:.80}: expected {any_of([game.name for game in menu.games])}")
    bots = [bot.name for bot in menu.bots if bot.plays(game.name)]
    if sent.bot not in bots:
        raise UsageError(f"bot {sent.bot!r:.80}: it does not play {game.name} here")
    if sent.seconds not in SECONDS:
        raise UsageError(f"seconds = {sent.seconds:g}: expected {any_of(SECONDS)}")
    options = _options(game, sent.options)
    if sent.seat >= (seats := int(options.get("players", SEATS))):
        raise UsageError(f"seat = {sent.seat}: expected {any_of(range(seats))}, for players = {seats}")
    return Choices(
        game=game.name,
        options=json.dumps(options),
        seat=sent.seat,
        bot=sent.bot,
        per_action_milliseconds=round(sent.seconds * 1000),
    )


def played_on(menu: PlayMenu, sent: NewMatch, record: MatchRecord | None) -> tuple[Choices, str]:
    """Return the choices for a position of a recorded match, and the actions that led there; UsageError without."""
    which = f"match {sent.match} of {sent.tournament}"
    if record is None:
        raise UsageError(f"{which}: it has no record, so there is nothing to play on")
    if len(record.bots) != SEATS:
        raise UsageError(f"{which} has {len(record.bots)} seats; only matches of two can be played on here")
    if not sent.ply < len(record.actions) or record.actions[sent.ply][1] is None:
        raise UsageError(f"ply = {sent.ply}: {which} ends after ply {len(record.actions)}; expected an earlier one")
    seat = record.actions[sent.ply][0]
    bots = [bot for bot in menu.bots if bot.plays(record.game)]
    preferred_bots = (sent.bot, record.bots[1 - seat], *HOUSE_BOTS)
    bot = next((candidate for name in preferred_bots if name and (candidate := bot_of(bots, name)) is not None), None)
    new = sent.model_copy(
        update={"game": record.game, "bot": bot.name if bot else "", "seat": seat, "options": dict(record.options)}
    )
    return chosen(menu, new), json.dumps([[by, action, None, None] for by, action in record.actions[: sent.ply]])


def menu_of(people: PeopleStore) -> PlayMenu:
    """Return what can be chosen now."""
    body = people.unrated_matches.menu()
    with suppress(ValidationError):  # of another version, whose play host has just ended
        if body is not None:
            return PlayMenu.model_validate_json(body)
    return PlayMenu(games=(), bots=(), slots=0, refusal=NOBODY_PLAYS)


def bot_of(bots: Sequence[PlayableBot], name: str) -> PlayableBot | None:
    """Return the bot with this name in the menu, ``name@version``, or name without version; None without one."""
    return next((bot for bot in bots if name in (bot.name, bot.label, bot_name(bot))), None)


def bot_name(bot: PlayableBot) -> str:
    """Return the name of a bot without its version."""
    return bot.label.rpartition("@")[0]


def game_of(menu: PlayMenu, name: str) -> PlayableGame | None:
    """Return the chosen game; raise ProblemError if nothing has that name."""
    game = next((game for game in menu.games if game.name == name), None)
    if game is None and not menu.refusal:
        raise bad_address("There is no such game to be played here.", 404)
    return game


def _options(game: PlayableGame, given: dict[str, int | str]) -> dict[str, int | str]:
    known = {option.name: option for option in game.options}
    for name in given:
        if name not in known:
            raise UsageError(f"option {name!r:.80}: expected {any_of(list(known))}")
    seats = {"players": known["players"].default} if "players" in known else {}
    return seats | {name: _value(option, given[name]) for name, option in known.items() if name in given}


def seats_of(choices: Choices) -> int:
    """Return how many seats a match has."""
    return int(json.loads(choices.options).get("players", SEATS))


def _value(option: GameOption, given: int | str) -> int | str:
    if option.choices:
        value = next((choice for choice in option.choices if str(choice) == str(given)), None)
    else:
        text = str(given).strip()
        is_number = len(text) <= 9 and text.isascii() and text.isdecimal()
        value = int(text) if is_number and (option.minimum or 0) <= int(text) <= (option.maximum or 0) else None
    if value is None:
        raise UsageError(f"{option.name} = {str(given)!r:.80}: expected {option.accepted}")
    return value


# Bots are suspended while a contest hides their results; only their authors can play against them.


@dataclass(frozen=True, slots=True)
class SuspendedBots:
    """The bots that contests suspend now; ``own`` are the names of the bots of whoever asks."""

    suspensions: tuple[ContestSuspension, ...]
    own: frozenset[str]
    now: str

    def is_own(self, bot: str) -> bool:
        """Return whether a bot is one of whoever asks, or an example bot, which is everybody's."""
        return bot.startswith(PREFIX) or bot.rpartition("@")[0] in self.own

    def of(self, bot: str, games: Collection[str]) -> ContestSuspension | None:
        """Return the suspension of a bot; None if it plays."""
        return None if bot.startswith(PREFIX) else suspension_of(self.suspensions, bot, games, self.now)

    def refusal(self, bot: str, games: Collection[str]) -> str:
        """Return why whoever asks can't play against a bot; "" if they can."""
        suspension = None if self.is_own(bot) else self.of(bot, games)
        return "" if suspension is None else f"{bot} {suspension_sentence(suspension, self.now)}"

    def offered(self, menu: PlayMenu) -> PlayMenu:
        """Return what can be chosen by whoever asks."""
        bots = tuple(bot for bot in menu.bots if not self.refusal(bot.name, bot.games))
        return menu.model_copy(update={"bots": bots})

    def remarks(self, bots: Iterable[PlayableBot]) -> Iterator[str]:
        """Yield why bots are not offered, without naming any, and which of whoever asks others can't play against."""
        bots = tuple(bots)
        others = {
            suspension.contest.name
            for bot in bots
            if not self.is_own(bot.name) and (suspension := self.of(bot.name, bot.games)) is not None
        }
        if others:
            names = all_of(sorted(others))
            yield f"Bots that can enter {names} are not offered here until the results of {names} are revealed."
        for bot in bots:
            if self.is_own(bot.name) and (suspension := self.of(bot.name, bot.games)) is not None:
                yield f"Your bot {bot.name} {suspension_sentence(suspension, self.now)}. Only you can play against it."


def suspended_bots(visit: Visit) -> SuspendedBots:
    """Return the bots that are suspended now, from the view of the person who asks."""
    person, contests = visit.actor.person, visit.people.contests
    own = visit.people.submissions.names_of(person) if person is not None else ()
    return SuspendedBots(tuple(contests.suspensions()), frozenset(own), contests.now())


# Variations of a match: another value of one option of its game. After one, its person says which was enjoyed more.

MIN_ACTIONS = 3
"""Of a person, and as many of the bot, before a match counts as played."""
MAX_VALUES = 4
"""Of an option that is a variation of the rules; more are sizes."""
TOO_SHORT = f"a match is compared once you and the bot have played {MIN_ACTIONS} actions each, and it is over"


def is_played(match: UnratedMatch) -> bool:
    """Return whether a person has played a match; actions before a position that was played on took no time."""
    actions = json.loads(match.position.actions)
    own = sum(seat == match.choices.seat for seat, *_ in actions)
    answers = sum(seconds is not None for _, _, seconds, *_ in actions)
    return match.position.state is MatchState.OVER and min(own, answers) >= MIN_ACTIONS


def variations_of(visit: Visit, match: UnratedMatch) -> dict[str, Choices]:
    """Return the choices for each variation of a match, by what it changes: ``NAME=VALUE``."""
    game = next((game for game in menu_of(visit.people).games if game.name == match.choices.game), None)
    if game is None or match.choices.challenger or seats_of(match.choices) != SEATS or not is_played(match):
        return {}
    options = {option.name: option.default for option in game.options} | json.loads(match.choices.options)
    changed = {
        f"{option.name}={value}": json.dumps(options | {option.name: value}, sort_keys=True)
        for option in game.options
        if option.name != "players"
        for value in _values(option)
        if value != options[option.name]
    }
    compared = json.dumps(options, sort_keys=True)
    return {change: replace(match.choices, options=text, compared=compared) for change, text in changed.items()}


def _values(option: GameOption) -> tuple[int | str, ...]:
    values = option.choices or tuple(range(option.minimum or 0, (option.maximum or 0) + 1))
    return values if len(values) <= MAX_VALUES else ()


def varied(visit: Visit, match: UnratedMatch, change: str) -> Choices:
    """Return the choices for a variation of a match; raise UsageError for one that it does not have."""
    offered = variations_of(visit, match)
    if change not in offered:
        raise UsageError(f"change {change!r:.80}: expected {any_of(list(offered))}" if offered else TOO_SHORT)
    return offered[change]
