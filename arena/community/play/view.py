"""An unrated match by the rules: from its actions to what its page shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from arena.base.bot_text import BotText
from arena.base.enums import Termination
from arena.base.errors import GameError
from arena.base.records import Fault, MatchRecord, SeatReport, TimeControl
from arena.community.play.places import Legal, places_on
from arena.games import Game
from arena.match.final_ranks import final_ranks
from arena.site.matches.match_sentences import result_sentence
from arena.site.matches.playing import PlayedAction, PlayView
from arena.site.matches.viewed_match import note_text, viewed_match

MAX_LEGAL = 400
MAX_LISTED = 400
MAX_TEXT_CHARACTERS = 200

PERSON_NAME = "you"


class Played(NamedTuple):
    """An action of an unrated match.

    Attributes:
        seat: that acted.
        action: as the rules know it.
        seconds: that a bot computed for it; None for a person.
        note: of a bot; None without one.
    """

    seat: int
    action: Any
    seconds: float | None = None
    note: Any = None


def view_of(
    path: str,
    game: Game[Any],
    state: Any,
    actions: Sequence[Played],
    names: Sequence[str],
    person: int,
    time_control: TimeControl,
    ended: MatchRecord | None = None,
) -> PlayView:
    """Return what the page of a match shows.

    Args:
        path: the name or dotted path of the game.
        game: its rules, checked.
        state: the position.
        actions: that led to it.
        names: of the seats.
        person: the seat of the person.
        time_control: the time rules.
        ended: the record of the match, once it is over.

    Raises:
        GameError: if the rules are wrong.
    """
    faults = ended.faults if ended is not None else ()
    termination = ended.termination if ended is not None else Termination.NORMAL
    record = _record(path, game, state, actions, names, time_control, faults, termination)
    is_over = ended is not None
    unfinished = "" if is_over else "This match is being played."
    shown = viewed_match(record, {}, most=1, unfinished=unfinished, reader=person)
    due = None if is_over else game.seat_to_act(state)
    playable = [] if due is None else game.legal_actions(state)
    legal = [Legal(action, _text_of(game, action)) for action in playable] if due == person else []
    listed = actions[-MAX_LISTED:]
    played = [one.action for one in actions[-1:]]
    return PlayView(
        shown=shown,
        places=tuple(places_on(game, state, shown.board, legal, playable, played, names, person)),
        legal=tuple(one.text for one in legal[:MAX_LEGAL]),
        legal_count=len(legal),
        action_format=game.action_format[:MAX_TEXT_CHARACTERS],
        actions=tuple(
            PlayedAction(seat=one.seat, text=_text_of(game, one.action), seconds=one.seconds) for one in listed
        ),
        left_out=len(actions) - len(listed),
        notes=tuple(
            f"{ply}: {note_text(one.note)}" for ply, one in enumerate(actions, 1) if is_over and one.note is not None
        )[-MAX_LISTED:],
        result=result_sentence(record, names, person) if is_over else "",
    )


def _record(
    path: str,
    game: Game[Any],
    state: Any,
    actions: Sequence[Played],
    names: Sequence[str],
    time_control: TimeControl,
    faults: tuple[Fault, ...],
    termination: Termination,
) -> MatchRecord:
    seconds = tuple(one.seconds for one in actions)
    return MatchRecord(
        match=1,
        tournament="",
        game=path,
        options=game.options,
        bots=tuple(names),
        rng_seed=0,
        encounter=1,
        opening=None,
        opening_plies=0,
        actions=tuple([one.seat, one.action] for one in actions),
        scores=tuple(game.scores(state)),
        ranks=tuple(final_ranks(game, state, [fault.seat for fault in faults])),
        termination=termination,
        faults=faults,
        wall_seconds=seconds,
        cpu_seconds=seconds,
        seats=(SeatReport(),) * len(names),
        notes=BotText(()),
        time_control=time_control,
        isolation="",
    )


def _text_of(game: Game[Any], action: Any) -> str:
    if action is None:
        return "out"
    try:
        return str(game.format_action(action))[:MAX_TEXT_CHARACTERS]
    except GameError:
        return str(action)[:MAX_TEXT_CHARACTERS]
