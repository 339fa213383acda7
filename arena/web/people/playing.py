"""Playing against bots in the browser: the play host runs rules and bots, and what people wish is written here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, StrictBool, model_validator

from arena.errors import UsageError
from arena.people.roles import Permission
from arena.people.secret import is_secret
from arena.people.unrated_match import ENDED, Choices, MatchState, UnratedMatch, Wish
from arena.site.models.games import MAX_OPTION_FIELDS, OPTION_PREFIX, GameOption
from arena.site.models.playing import (
    OwnMatch,
    PlayableBot,
    PlayableGame,
    PlayMenu,
    PlayPage,
    PlayView,
    UnratedMatchPage,
)
from arena.store.people.play_slots import IDLE_SECONDS
from arena.store.people.rates import Rate
from arena.text import any_of
from arena.web.people.client_address import network_of
from arena.web.people.operation import Done, Fields, Follow, Operation, Visit
from arena.web.problems import bad_address

BEGINNINGS = Rate(120, 3600.0)
ACTIONS = Rate(600, 300.0)
SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0)
"""Of CPU time, for each action of a bot."""
USUAL_SECONDS = 1.0
SEATS = 2
NOBODY_PLAYS = "nobody can play here now"
MAX_PLIES = 1_000_000


class PlayParameters(Fields):
    """What is chosen already."""

    game: str = ""
    bot: str = ""


class NewMatch(Fields):
    """What is chosen for a match; the options of the game by name, or in fields such as ``option_size``."""

    game: str = Field(max_length=300)
    bot: str = Field(max_length=200)
    seat: Annotated[int, Field(ge=0, lt=SEATS)] = 0
    seconds: float = USUAL_SECONDS
    options: dict[str, int | str] = Field({}, max_length=MAX_OPTION_FIELDS)

    @model_validator(mode="before")
    @classmethod
    def _with_fields_of_the_form(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        fields = {name: value for name, value in given.items() if name.startswith(OPTION_PREFIX)}
        if not fields:
            return given
        rest = {name: value for name, value in given.items() if name not in fields}
        return {**rest, "options": {name.removeprefix(OPTION_PREFIX): value for name, value in fields.items()}}


class OneMatch(Fields):
    """Which match."""

    match: str


class Turn(OneMatch):
    """Which match, and how far the person has seen it."""

    plies: int = Field(ge=0, le=MAX_PLIES)


class NewAction(Turn):
    """An action, as text."""

    action: str = Field(min_length=1, max_length=200)


class Again(OneMatch):
    """Whether the person sits in the other seat."""

    swap: StrictBool | str = False


def show_play(visit: Visit) -> PlayPage:
    """Return the form to begin a match."""
    menu, wanted = _menu(visit), visit.fields
    game = _game(menu, wanted.game) if wanted.game else None
    bots = tuple(bot for bot in menu.bots if game is None or bot.plays(game.name))
    bot = _bot(bots, wanted.bot)
    person = visit.actor.number
    own = visit.people.unrated_matches.of_person(person) if person is not None else []
    return PlayPage(
        games=tuple(game for game in menu.games if bot is None or bot.plays(game.name)),
        game=game,
        bots=bots,
        bot=bot.name if bot is not None else "",
        seconds=SECONDS,
        refusal=menu.refusal,
        own=tuple(
            OwnMatch(
                address=_address(one),
                game=one.choices.game,
                bot=one.choices.bot,
                state=one.position.state,
                plies=one.position.plies,
                acted_at=one.acted_at,
            )
            for one in own
        ),
    )


def begin(visit: Visit) -> Done:
    """Begin a match.

    Raises:
        UsageError: if what is chosen can't be, or all slots are taken.
    """
    sent: NewMatch = visit.fields
    menu = _menu(visit)
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
    choices = Choices(
        game=game.name,
        options=json.dumps(_options(game, sent.options)),
        seat=sent.seat,
        bot=sent.bot,
        per_action_milliseconds=round(sent.seconds * 1000),
    )
    return _begun(visit, choices)


def _begun(visit: Visit, choices: Choices) -> Done:
    one = visit.people.unrated_matches.begin(choices, visit.actor.number, network_of(visit.address))
    return Done(to=_address(one), sentence="the match begins")


def show_match(visit: Visit) -> UnratedMatchPage:
    """Return a match as it is."""
    one = _own(visit)
    position = one.position
    view = PlayView.model_validate_json(position.view) if position.view else None
    has_acted = any(seat == one.choices.seat for seat, *_ in json.loads(position.actions))
    is_over = position.state in ENDED
    return UnratedMatchPage(
        address=_address(one),
        game=one.choices.game,
        options=json.loads(one.choices.options),
        bot=one.choices.bot,
        seat=one.choices.seat,
        seconds=one.choices.per_action_milliseconds / 1000,
        state=position.state,
        is_waiting=one.is_waiting,
        plies=position.plies,
        may_undo=has_acted and position.state is MatchState.PERSON,
        answer=one.answer,
        outcome=position.reason or (view.result if view is not None and is_over else ""),
        view=view,
        idle_minutes=round(IDLE_SECONDS / 60),
    )


def follow_match(visit: Visit) -> Follow:
    """Return what is said each time the match changes."""
    one = _own(visit)
    return Follow(number=one.number, shown=one.shown)


def act(visit: Visit) -> Done:
    """Play an action."""
    return _wish(visit, Wish.ACT, visit.fields.action.strip())


def undo(visit: Visit) -> Done:
    """Take back the last action, and what the bot did after it."""
    return _wish(visit, Wish.UNDO)


def hint(visit: Visit) -> Done:
    """Ask the bot what it would do."""
    return _wish(visit, Wish.HINT)


def _wish(visit: Visit, wish: Wish, action: str = "") -> Done:
    one = _own(visit)
    visit.people.unrated_matches.wish(one.number, wish, visit.fields.plies, action)
    return Done(to=_address(one), sentence="the play host was asked")


def resign(visit: Visit) -> Done:
    """End a match."""
    one = _own(visit)
    visit.people.unrated_matches.end(one.number, "You resigned.")
    return Done(to=_address(one), sentence="the match is over")


def retry(visit: Visit) -> Done:
    """Continue a match that the arena could not continue."""
    one = _own(visit)
    visit.people.unrated_matches.retry(one.number)
    return Done(to=_address(one), sentence="it is tried again")


def again(visit: Visit) -> Done:
    """Begin another match of the same kind."""
    one = _own(visit)
    choices = one.choices
    seat = 1 - choices.seat if visit.fields.swap not in (False, "") else choices.seat
    return _begun(
        visit,
        Choices(
            game=choices.game,
            options=choices.options,
            seat=seat,
            bot=choices.bot,
            per_action_milliseconds=choices.per_action_milliseconds,
        ),
    )


def _menu(visit: Visit) -> PlayMenu:
    body = visit.people.unrated_matches.menu()
    if body is None:
        return PlayMenu(games=(), bots=(), slots=0, refusal=NOBODY_PLAYS)
    return PlayMenu.model_validate_json(body)


def _bot(bots: Sequence[PlayableBot], wanted: str) -> PlayableBot | None:
    """Return the bot that is meant by what it is chosen by, its name and version, or its name alone."""
    return next((bot for bot in bots if wanted in (bot.name, bot.label, bot.label.rpartition("@")[0])), None)


def _game(menu: PlayMenu, name: str) -> PlayableGame | None:
    """Return the game that is chosen.

    Raises:
        ProblemError: if nothing has that name.
    """
    game = next((game for game in menu.games if game.name == name), None)
    if game is None and not menu.refusal:
        raise bad_address("There is no such game to be played here.", 404)
    return game


def _options(game: PlayableGame, given: dict[str, int | str]) -> dict[str, int | str]:
    """Return the options of a game, checked.

    Raises:
        UsageError: if one can't be chosen.
    """
    known = {option.name: option for option in game.options}
    for name in given:
        if name not in known:
            raise UsageError(f"option {name!r:.80}: expected {any_of(list(known))}")
    return {**{name: _value(option, given[name]) for name, option in known.items() if name in given}, **game.fixed}


def _value(option: GameOption, given: int | str) -> int | str:
    """Return the value of an option."""
    if option.choices:
        found = next((choice for choice in option.choices if str(choice) == str(given)), None)
    else:
        text = str(given).strip()
        is_number = len(text) <= 9 and text.isascii() and text.isdecimal()
        found = int(text) if is_number and (option.minimum or 0) <= int(text) <= (option.maximum or 0) else None
    if found is None:
        raise UsageError(f"{option.name} = {str(given)!r:.80}: expected {option.accepted}")
    return found


def _own(visit: Visit) -> UnratedMatch:
    """Return the match at an address. One that somebody signed in for is theirs alone.

    Raises:
        ProblemError: if nothing is there, or it belongs to others.
    """
    secret = visit.fields.match
    one = visit.people.unrated_matches.find(secret) if is_secret(secret) else None
    if one is None or one.person not in (None, visit.actor.number):
        raise bad_address("There is no match of yours at this address.", 404)
    return one


def _address(one: UnratedMatch) -> str:
    return f"/play/{one.secret}"


def _change(path: str, summary: str, handler: Any, fields: type[Fields], rate: Rate = ACTIONS) -> Operation:
    """Return an operation that changes a match."""
    return Operation(
        method="POST",
        path=path,
        summary=summary,
        who=Permission.PLAY,
        handler=handler,
        fields=fields,
        form="/play/{match}",
        rate=rate,
        is_in_the_open=True,
    )


OPERATIONS = (
    Operation(
        method="GET",
        path="/play",
        summary="What can be played against bots, and one's own unrated matches.",
        who=Permission.PLAY,
        handler=show_play,
        fields=PlayParameters,
        model=PlayPage,
        template="play.html.jinja",
        room="play",
        is_in_the_open=True,
    ),
    Operation(
        method="POST",
        path="/play",
        summary="Begin an unrated match against a bot.",
        who=Permission.PLAY,
        handler=begin,
        fields=NewMatch,
        form="/play",
        rate=BEGINNINGS,
        is_in_the_open=True,
    ),
    Operation(
        method="GET",
        path="/play/{match}",
        summary="An unrated match, as it is now.",
        who=Permission.PLAY,
        handler=show_match,
        fields=OneMatch,
        model=UnratedMatchPage,
        template="unrated_match.html.jinja",
        room="play",
        is_in_the_open=True,
    ),
    Operation(
        method="GET",
        path="/play/{match}/events",
        summary="Says each time that an unrated match has changed, as server-sent events.",
        who=Permission.PLAY,
        handler=follow_match,
        fields=OneMatch,
        rate=ACTIONS,
        media_type="text/event-stream",
        is_in_the_open=True,
    ),
    _change("/play/{match}/act", "Play an action in the position that was seen.", act, NewAction),
    _change("/play/{match}/undo", "Take back one's last action, and what the bot did after it.", undo, Turn),
    _change("/play/{match}/hint", "Ask the bot what it would do in one's place.", hint, Turn),
    _change("/play/{match}/resign", "End an unrated match.", resign, OneMatch),
    _change("/play/{match}/retry", "Try again what the arena could not do.", retry, OneMatch),
    _change("/play/{match}/again", "Begin another match of the same kind.", again, Again, BEGINNINGS),
)
