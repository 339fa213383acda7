"""A single match outside any tournament, tried again if late, and a single question to a bot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from numbers import Integral
from typing import Any, cast

from arena.base.enums import ClockKind, OffTurn
from arena.base.errors import LateError, UsageError, expect
from arena.base.records import (
    DEFAULT_LIMITS,
    DEFAULT_PLY_LIMIT,
    MAX_PLY_LIMIT,
    Bot,
    Limits,
    MatchRecord,
    MatchSpec,
    TimeControl,
)
from arena.base.text import any_of, counted
from arena.base.until import is_number
from arena.games import make_game
from arena.games.checked_game import checked_game
from arena.match.bot_pool import BotPool
from arena.match.players.building import build_bots
from arena.match.players.entrants import Entrant, bot_of
from arena.match.players.game_location import check_readable_game
from arena.match.players.player import Answer, HumanPlayer, SeatClock, build_request
from arena.match.players.process_player import ProcessPlayer
from arena.match.players.program_file import uses_botkit
from arena.match.referee import Observer
from arena.match.replay import state_after
from arena.protocol.messages import Seating
from arena.sandbox.isolation.levels import choose_isolation, isolation_for

MAX_TRIES = 3


def play_until_judged(play: Callable[[MatchSpec], MatchRecord], spec: MatchSpec) -> MatchRecord:
    """Play a match by ``play``, and again if the machine stood still or others took the processor.

    If the same bot was to act in every try, the referee makes the last one that bot's fault.
    """
    for _ in range(MAX_TRIES - 1):
        try:
            return play(spec)
        except LateError as error:
            spec = spec.after_void(error.seat)
    return play(spec)


def play_match(
    game: str,
    *bots: Entrant | Sequence[Entrant],
    options: dict[str, Any] | None = None,
    rng_seed: int = 0,
    time_control: TimeControl | None = None,
    isolation: str = "auto",
    limits: Limits = DEFAULT_LIMITS,
    observer: Observer | None = None,
    people: Mapping[int, HumanPlayer] | None = None,
    opening_actions: Sequence[Any] = (),
    ply_limit: int = DEFAULT_PLY_LIMIT,
) -> MatchRecord:
    """Play one match in this process; without people, again if it is unknown whether a bot kept its time.

    Args:
        bots: one for each seat, or a single list of them: a ``Bot``, the path of one, ``arena:NAME``, or a function
            ``choose(game, state, clock)``, which plays in this process, without isolation.
        observer: called with each state.
        people: the human players by seat; ``bots`` has ``HUMAN`` in their seats.
        opening_actions: played before the first player is asked.
        ply_limit: the match ends after this many actions, those of the opening included.

    Raises:
        UsageError: if an argument, an option or the number of bots is not accepted, or a bot can't be built.
        VoidMatchError: if the arena itself failed.
        GameError: if the rules of the game are wrong.
        TakenBackError: if a person takes an action back.
        LeftMatchError: if a person leaves.
    """
    control = time_control or TimeControl()
    expect(isinstance(options or {}, Mapping), "options", options, "a dict")
    expect(isinstance(isolation, str), "isolation", isolation, "a str, such as 'none' or 'auto'")
    expect(isinstance(limits, Limits), "limits", limits, "a Limits")
    is_seed = isinstance(rng_seed, Integral) and 0 <= rng_seed < 2**63
    expect(is_seed, "rng_seed", rng_seed, "a whole number from 0 to 2**63 - 1")
    _check_time_control(control)
    rules = make_game(game, **(options or {}))
    seated = tuple(bot_of(entrant) for entrant in _flattened(bots))
    if len(seated) != rules.players:
        raise UsageError(f"{game} with these options has {rules.players} seats; got {counted(len(seated), 'bot')}")
    is_limit = isinstance(ply_limit, Integral) and len(opening_actions) < ply_limit <= MAX_PLY_LIMIT
    expect(is_limit, "ply_limit", ply_limit, f"a number from {len(opening_actions) + 1} to {MAX_PLY_LIMIT:,}")
    spec = MatchSpec(
        match=1,
        tournament="",
        game=game,
        options=rules.options,
        bots=seated,
        rng_seed=int(rng_seed),
        opening=0 if opening_actions else None,
        opening_actions=tuple(opening_actions),
        time_control=control,
        ply_limit=int(ply_limit),
    )
    if any(map(uses_botkit, seated)):
        check_readable_game(game)
    level = isolation_for(seated, isolation)
    build_bots(seated, level)
    with BotPool(level, limits) as pool:
        if people:
            return pool.play(spec, observer, people)
        return play_until_judged(lambda again: pool.play(again, observer), spec)


def _check_time_control(control: TimeControl) -> None:
    expect(isinstance(control, TimeControl), "time_control", control, "a TimeControl")
    for field, seconds in asdict(control).items():
        name = f"time_control.{field}"
        if field == "clock":
            expect(seconds in set(ClockKind), name, seconds, "wall or cpu")
        elif field == "off_turn":
            expect(seconds in set(OffTurn), name, seconds, any_of(list(OffTurn)))
        elif field in ("per_action_seconds", "bank_seconds"):
            expect(seconds is None or (is_number(seconds) and seconds > 0), name, seconds, "None or a number above 0")
        else:
            expect(is_number(seconds) and seconds >= 0, name, seconds, "a number of 0 or more")


def _flattened(bots: Iterable[Entrant | Sequence[Entrant]]) -> Iterator[Entrant]:
    for entrant in bots:
        if isinstance(entrant, list | tuple):
            yield from entrant
        else:
            yield cast("Entrant", entrant)


def ask_bot(
    bot: Bot,
    game: str,
    options: dict[str, Any],
    actions: Sequence[Any],
    *,
    rng_seed: int = 0,
    time_control: TimeControl | None = None,
    isolation: str = "auto",
    limits: Limits = DEFAULT_LIMITS,
) -> Answer:
    """Ask a bot what it would do in a position, in the place of the seat to act.

    Args:
        actions: ``[seat, action]`` for every action that led to the position.

    Raises:
        BotError: if it fails.
        IllegalActionError: if its action is not legal, or those that led to the position are not.
    """
    rules = checked_game(make_game(game, **options), game)
    state = rules.initial_state()
    for _, action in actions:
        state = state_after(rules, state, action)
    seat = rules.seat_to_act(state)
    if seat is None:
        raise UsageError("the match is over: there is nothing to ask")
    level = choose_isolation(isolation)
    build_bots([bot], level)
    control = time_control or TimeControl()
    clock = SeatClock(control)
    player = ProcessPlayer(bot, level, limits)
    try:
        player.begin(Seating(1, game, rules.options, rules.players, seat, rng_seed, control))
        answer = player.ask(build_request(rules, state, player.wants, clock, len(actions), actions))
    except KeyboardInterrupt:  # to end this program at once, without waiting for a bot that thinks
        player.close(grace_seconds=0)
        raise
    finally:
        player.close()
    rules.apply(state, answer.action)
    return answer
