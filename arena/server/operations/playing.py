"""Playing against bots in the browser, variations of a match, and challenges, in which one's own bot plays.

Of a match and its variation, a vote says which was enjoyed more. The play host runs rules and bots, and requests of
people are written here.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated

from pydantic import Field, StrictBool

from arena.base.errors import UsageError
from arena.base.text import any_of, counted
from arena.server.gate.gate import spend
from arena.server.gate.operation import Done, Follow, Operation, Visit
from arena.server.http.addresses import network_of
from arena.server.http.problems import bad_address
from arena.server.operations.bot_logs import audience_of, reads_bot
from arena.server.operations.play_choices import (
    SECONDS,
    TOO_SHORT,
    NewMatch,
    PlayParameters,
    SuspendedBots,
    authors_of,
    bot_name,
    bot_of,
    chosen,
    game_of,
    is_played,
    menu_of,
    played_on,
    seats_of,
    suspended_bots,
    variations_of,
    varied,
)
from arena.site.matches.playing_model import (
    SEATS,
    Ballot,
    ChallengesPage,
    OwnChallenge,
    OwnMatch,
    PlayableBot,
    PlayMenu,
    PlayPage,
    PlayView,
    UnratedMatchPage,
)
from arena.store.people.answers import Enjoyed
from arena.store.people.rates import Rate
from arena.store.people.secret import is_secret
from arena.store.people.unrated_match import (
    ENDED,
    IDLE_SECONDS,
    Choices,
    MatchState,
    PlayRequest,
    UnratedMatch,
    hinted_action,
)
from arena.store.people.values import DAY_SECONDS, Permission

BEGINNINGS = Rate(120, 3600.0)
ACTIONS = Rate(600, 300.0)
MAX_PLIES = 1_000_000


Plies = Annotated[int, Field(ge=0, le=MAX_PLIES)]
"""How far a person has seen a match."""


@Operation("GET", "/play", Permission.PLAY, "play", room="play", is_in_the_open=True)
def show_play(visit: Visit, wanted: PlayParameters) -> PlayPage:
    """What can be played against bots, and one's own unrated matches."""
    suspended, everything = suspended_bots(visit), menu_of(visit.people)
    menu = suspended.offered(everything)
    game = game_of(menu, wanted.game) if wanted.game else None
    bots = tuple(bot for bot in menu.bots if game is None or bot.plays(game.name))
    bot = bot_of(bots, wanted.bot)
    person = visit.actor.number
    own = visit.people.unrated_matches.of_person(person, challenges=False) if person is not None else []
    shown = {bot.name for bot in bots} | {match.choices.bot for match in own}
    return PlayPage(
        games=tuple(game for game in menu.games if bot is None or bot.plays(game.name)),
        game=game,
        bots=bots,
        bot=bot.name if bot is not None else "",
        seconds=SECONDS,
        refusal=menu.refusal,
        remarks=tuple(suspended.remarks(everything.bots)),
        own=tuple(OwnMatch.of(match, match.choices, match.position, address=address_of(match)) for match in own),
        authors=authors_of(visit.people, shown),
    )


@Operation("POST", "/play", Permission.PLAY, form="/play", rate=BEGINNINGS, is_in_the_open=True)
def begin(visit: Visit, wanted: NewMatch) -> Done:
    """Begin an unrated match against a bot, from the beginning or from a position of a recorded match."""
    if wanted.tournament:
        return _play_on(visit, wanted)
    check_plays(visit, wanted.bot)
    return _begun(visit, chosen(menu_of(visit.people), wanted))


def _play_on(visit: Visit, wanted: NewMatch) -> Done:
    """Begin at a position of a match that everybody sees: embargoed ones are in other homes."""
    store = visit.homes.public().store
    record = store.find_record(store.tournament(wanted.tournament), wanted.match)
    choices, actions = played_on(suspended_bots(visit).offered(menu_of(visit.people)), wanted, record)
    return _begun(visit, choices, actions)


def check_plays(visit: Visit, bot: str) -> None:
    """Raise UsageError if a bot is suspended now for whoever asks."""
    if refusal := suspended_bots(visit).refusal(bot, _games_of(visit, bot)):
        raise UsageError(refusal)


def _games_of(visit: Visit, label: str) -> tuple[str, ...]:
    """Return the games that a bot plays, if that is known; none for all."""
    name = label.rpartition("@")[0]
    return next((bot.games for bot in menu_of(visit.people).bots if bot.label.rpartition("@")[0] == name), ())


def _begun(visit: Visit, choices: Choices, actions: str = "[]") -> Done:
    match = visit.people.unrated_matches.begin(choices, visit.actor.number, network_of(visit.address), actions)
    return Done(to=address_of(match), sentence="the match begins")


@Operation("GET", "/play/{match}", Permission.PLAY, "unrated_match", room="play", is_in_the_open=True)
def show_match(visit: Visit, match: str) -> UnratedMatchPage:
    """An unrated match, as it is now."""
    own = _own(visit, match)
    position, choices = own.position, own.choices
    view = PlayView.model_validate_json(position.view) if position.view else None
    if view is not None and not reads_bot(audience_of(visit), choices.bot):
        view = view.model_copy(update={"notes": ()})
    has_acted = any(seat == choices.seat for seat, *_ in json.loads(position.actions))
    is_over = position.state in ENDED
    return UnratedMatchPage.of(
        own,
        choices,
        position,
        address=address_of(own),
        options=json.loads(choices.options),
        seconds=choices.per_action_milliseconds / 1000,
        may_undo=has_acted and position.state is MatchState.PERSON,
        may_ask=not choices.challenger and _may_ask(visit, own),
        rest=suspended_bots(visit).refusal(choices.bot, _games_of(visit, choices.bot)),
        hint=hinted_action(own.answer),
        outcome=outcome_of(position.reason) or (view.result if view is not None and is_over else ""),
        view=view,
        idle_minutes=round(IDLE_SECONDS / 60),
        authors=authors_of(visit.people, {choices.bot, choices.challenger} - {""}),
        variations=tuple(variations_of(visit, own)),
        ballot=_ballot_of(visit, own),
    )


def outcome_of(reason: str) -> str:
    """Return why a match is over; earlier versions stored what a bot wrote behind the kind of its fault."""
    head, mark, _ = reason.partition("): ")
    return f"{head})." if mark and " forfeits (" in head else reason


@Operation(
    "GET",
    "/play/{match}/events",
    Permission.PLAY,
    rate=ACTIONS,
    media_type="text/event-stream",
    is_in_the_open=True,
)
def follow_match(visit: Visit, match: str) -> Follow:
    """Says each time that an unrated match has changed, as server-sent events."""
    own = _own(visit, match)
    return Follow(number=own.number, shown=own.shown)


def _change(what: str, rate: Rate = ACTIONS) -> Operation:
    path, form = f"/play/{{match}}/{what}", "/play/{match}"
    return Operation("POST", path, Permission.PLAY, form=form, rate=rate, is_in_the_open=True)


@_change("act")
def act(visit: Visit, match: str, plies: Plies, action: Annotated[str, Field(min_length=1, max_length=200)]) -> Done:
    """Play an action in the position that was seen."""
    return _request(visit, _own_as_player(visit, match), PlayRequest.ACT, plies, action.strip())


@_change("undo")
def undo(visit: Visit, match: str, plies: Plies) -> Done:
    """Take back one's last action, and what the bot did after it."""
    return _request(visit, _own_as_player(visit, match), PlayRequest.UNDO, plies)


@_change("hint")
def hint(visit: Visit, match: str, plies: Plies) -> Done:
    """Ask the bot what it would do in one's place."""
    own = _own_as_player(visit, match)
    if not _may_ask(visit, own):
        raise UsageError(f"{own.choices.bot} belongs to another author; example bots give hints, and your own")
    return _request(visit, own, PlayRequest.HINT, plies)


def _may_ask(visit: Visit, match: UnratedMatch) -> bool:
    """Return whether a bot gives hints: those of another author tell nobody what they would do."""
    name = match.choices.bot.rpartition("@")[0]
    return not name or visit.people.submissions.owner(name) in (None, visit.actor.number)


def _request(visit: Visit, own: UnratedMatch, request: PlayRequest, plies: int, action: str = "") -> Done:
    check_plays(visit, own.choices.bot)
    visit.people.unrated_matches.request(own.number, request, plies, action)
    return Done(to=address_of(own), sentence="the play host was asked")


@_change("resign")
def resign(visit: Visit, match: str) -> Done:
    """End an unrated match."""
    own = _own(visit, match)
    visit.people.unrated_matches.end(own.number, "You stopped it." if own.choices.challenger else "You resigned.")
    return Done(to=address_of(own), sentence="the match is over")


@_change("retry")
def retry(visit: Visit, match: str) -> Done:
    """Try again what the arena could not do."""
    own = _own(visit, match)
    check_plays(visit, own.choices.bot)
    visit.people.unrated_matches.retry(own.number)
    return Done(to=address_of(own), sentence="it is tried again")


@_change("again", BEGINNINGS)
def again(
    visit: Visit, match: str, swap: StrictBool | str = False, change: Annotated[str, Field(max_length=200)] = ""
) -> Done:
    """Begin another match of the same kind, or a variation of this one.

    With ``swap``, the person sits in the next seat, which with two is the other one; ``change`` is ``NAME=VALUE``.
    """
    own = _own_as_player(visit, match)
    check_plays(visit, own.choices.bot)
    choices = varied(visit, own, change) if change else own.choices
    step = swap not in (False, "")
    return _begun(visit, replace(choices, seat=(choices.seat + step) % seats_of(choices)))


@_change("vote")
def vote(visit: Visit, match: str, choice: Enjoyed) -> Done:
    """Say which of a match and its variation one has enjoyed more."""
    own = _own_as_player(visit, match)
    check_plays(visit, own.choices.bot)
    if not own.choices.compared or not is_played(own):
        raise UsageError(TOO_SHORT if own.choices.compared else "this match is no variation of another one")
    visit.people.votes.cast(own.number, choice)
    return Done(to=address_of(own), sentence="your vote is counted")


def _ballot_of(visit: Visit, match: UnratedMatch) -> Ballot | None:
    if not match.choices.compared:
        return None
    first, second = (json.loads(text) for text in (match.choices.compared, match.choices.options))
    option = next(name for name, value in second.items() if first[name] != value)
    choice = visit.people.votes.after(match.number)
    return Ballot(option=option, values=(first[option], second[option]), is_open=is_played(match), choice=choice)


def _own(visit: Visit, secret: str) -> UnratedMatch:
    """Return the match at an address; to others than the person who began it, it does not exist."""
    match = visit.people.unrated_matches.find(secret) if is_secret(secret) else None
    if match is None or match.person not in (None, visit.actor.number):
        raise bad_address("There is no match of yours at this address.", 404)
    return match


def _own_as_player(visit: Visit, secret: str) -> UnratedMatch:
    match = _own(visit, secret)
    if match.choices.challenger:
        raise UsageError("two bots play this match; nobody can act in it")
    return match


def address_of(match: UnratedMatch) -> str:
    """Return the path of the page of a match."""
    return f"/play/{match.secret}"


# Challenges: a bot of one's own plays against another, as a person would.


CHALLENGES = Rate(20, DAY_SECONDS)
"""Each a match, or an encounter of two with seats exchanged."""


class NewChallenge(NewMatch):
    """A challenge: one's own bot, another, and what they play; with ``both_seats`` two matches, each seat once."""

    challenger: str = Field(max_length=200)
    both_seats: StrictBool | str = False


@Operation("GET", "/challenges", Permission.SUBMIT, "challenges", room="play")
def show_challenges(visit: Visit, bot: str = "") -> ChallengesPage:
    """Which bots can be challenged, and one's own challenges."""
    suspended, everything = suspended_bots(visit), menu_of(visit.people)
    menu = suspended.offered(everything)
    own = visit.people.unrated_matches.of_person(visit.person.number, challenges=True)
    challengers = _challengers(suspended, everything)
    bots = tuple(bot for bot in menu.bots if bot not in challengers)
    chosen_bot = bot_of(bots, bot)
    games = [game.name for game in menu.games if chosen_bot is None or chosen_bot.plays(game.name)]
    games = [game for game in games if any(one.plays(game) for one in challengers)] or games
    shown = {one.name for one in (*bots, *challengers)} | {one.choices.bot for one in own}
    return ChallengesPage(
        challengers=challengers,
        bots=bots,
        bot=chosen_bot.name if chosen_bot is not None else "",
        games=tuple(games),
        game=next((game for game in games if challengers and challengers[0].plays(game)), ""),
        seconds=SECONDS,
        refusal=menu.refusal,
        remarks=tuple(suspended.remarks(everything.bots)),
        own=tuple(
            OwnChallenge.of(one, one.choices, one.position, address=address_of(one), outcome=_outcome(one))
            for one in own
        ),
        authors=authors_of(visit.people, shown),
    )


def _challengers(suspended: SuspendedBots, menu: PlayMenu) -> tuple[PlayableBot, ...]:
    return tuple(bot for bot in menu.bots if bot.name.rpartition("@")[0] in suspended.own)


def _outcome(match: UnratedMatch) -> str:
    if match.position.state not in ENDED or not match.position.view:
        return outcome_of(match.position.reason)
    return outcome_of(match.position.reason) or PlayView.model_validate_json(match.position.view).result


@Operation("POST", "/challenges", Permission.SUBMIT, form="/challenges", rate=BEGINNINGS)
def challenge(visit: Visit, sent: NewChallenge) -> Done:
    """Let one's own bot play against another, unrated."""
    menu, suspended = menu_of(visit.people), suspended_bots(visit)
    challengers = _challengers(suspended, menu)
    own = next((bot for bot in challengers if sent.challenger in (bot.name, bot_name(bot))), None)
    if own is None:
        names = f", {any_of([bot.name for bot in challengers])}" if challengers else ""
        raise UsageError(f"challenger {sent.challenger!r:.80}: expected a bot of yours that can be played here{names}")
    rival_bot = bot_of(menu.bots, sent.bot)
    rival = rival_bot.name if rival_bot is not None else sent.bot
    check_plays(visit, rival)
    choices = chosen(menu, sent.model_copy(update={"bot": rival}))
    if seats_of(choices) != SEATS:
        raise UsageError(f"players = {seats_of(choices)}: expected {SEATS}, the seats of a challenge")
    if not own.plays(choices.game):
        raise UsageError(f"challenger {own.name!r:.80}: it does not play {choices.game}; expected {any_of(own.games)}")
    spend(visit.people, f"challenges of {visit.person.number}", CHALLENGES)
    seats = (0, 1) if sent.both_seats not in (False, "") else (choices.seat,)
    for seat in seats:
        choices_of_seat = replace(choices, seat=seat, challenger=own.name)
        visit.people.unrated_matches.begin(choices_of_seat, visit.person.number, network_of(visit.address))
    return Done(to="/challenges", sentence=f"{own.name} plays {rival}: {counted(len(seats), 'match')}")
