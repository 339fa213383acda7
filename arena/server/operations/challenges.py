"""Challenges: a bot of one's own plays against another, as a person would."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field, StrictBool

from arena.base.errors import UsageError
from arena.base.text import counted
from arena.server.gate.gate import spend
from arena.server.gate.operation import Done, Operation, Visit
from arena.server.http.addresses import network_of
from arena.server.operations.play_choices import (
    SECONDS,
    NewMatch,
    SuspendedBots,
    authors_of,
    bot_name,
    bot_of,
    chosen,
    menu_of,
    seats_of,
    suspended_bots,
)
from arena.server.operations.playing import BEGINNINGS, address_of, check_plays, outcome_of
from arena.site.matches.playing import SEATS, ChallengesPage, OwnChallenge, PlayableBot, PlayMenu, PlayView
from arena.store.people.rates import Rate
from arena.store.people.unrated_match import ENDED, UnratedMatch
from arena.store.people.values import DAY_SECONDS, Permission

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
    shown = {one.name for one in (*bots, *challengers)} | {one.choices.bot for one in own}
    return ChallengesPage(
        challengers=challengers,
        bots=bots,
        bot=chosen_bot.name if chosen_bot is not None else "",
        games=tuple(game.name for game in menu.games if chosen_bot is None or chosen_bot.plays(game.name)),
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
    own = next((bot for bot in _challengers(suspended, menu) if sent.challenger in (bot.name, bot_name(bot))), None)
    if own is None:
        raise UsageError(f"challenger {sent.challenger!r:.80}: expected a bot of yours that can be played here")
    rival_bot = bot_of(menu.bots, sent.bot)
    rival = rival_bot.name if rival_bot is not None else sent.bot
    check_plays(visit, rival)
    choices = chosen(menu, sent.model_copy(update={"bot": rival}))
    if seats_of(choices) != SEATS:
        raise UsageError(f"players = {seats_of(choices)}: expected {SEATS}, the seats of a challenge")
    if not own.plays(choices.game):
        raise UsageError(f"challenger {own.name!r:.80}: it does not play {choices.game}")
    spend(visit.people, f"challenges of {visit.person.number}", CHALLENGES)
    seats = (0, 1) if sent.both_seats not in (False, "") else (choices.seat,)
    for seat in seats:
        choices_of_seat = replace(choices, seat=seat, challenger=own.name)
        visit.people.unrated_matches.begin(choices_of_seat, visit.person.number, network_of(visit.address))
    return Done(to="/challenges", sentence=f"{own.name} plays {rival}: {counted(len(seats), 'match')}")
