"""A bot against itself in one process, without the arena, the protocol or timeouts.

Each seat has its own random generator, seeded as in the arena, so the match is the one that the arena plays from the
same seed, as long as the bot keeps no state between its turns in variables that both seats share.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgpack

from arena.base.errors import GameError, IllegalActionError, UsageError
from arena.botkit.seat import MatchInfo, MatchResult, Seat, as_choice
from arena.games import Game, make_game, parse_options
from arena.games.checked_game import checked_game

OK, FAILED, WRONG_USE = 0, 1, 2
DEFAULT_PLY_LIMIT = 10_000


def self_play(
    choose: Callable[[Seat, dict[str, Any], float], Any],
    on_match: Callable[[MatchInfo], None] | None,
    on_end: Callable[[MatchResult], None] | None,
    arguments: Sequence[str],
) -> int:
    """Play the matches given on the command line, print them on stdout, and return the exit code."""
    given = _parser().parse_args(arguments)
    try:
        rules = make_game(given.selfplay, **parse_options(given.selfplay, given.option))
    except UsageError as error:
        print(f"{sys.argv[0]}: {error}", file=sys.stderr)
        return WRONG_USE
    game = checked_game(rules, given.selfplay)
    for number in range(given.matches):
        seed = given.rng_seed + number
        table = _Table(choose, on_match, game, seed, given.seconds, given.ply_limit, is_shown=not given.quiet)
        try:
            result = table.play()
        except IllegalActionError as error:
            print(f"{sys.argv[0]}: seed {seed}, ply {table.ply}: illegal action {error}", file=sys.stderr)
            return FAILED
        except GameError as error:
            print(f"{sys.argv[0]}: seed {seed}, ply {table.ply}: {error}", file=sys.stderr)
            return WRONG_USE
        if on_end is not None:
            on_end(result)
        print(_line(result, seed, table))
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Play the bot against itself in this process.")
    parser.add_argument("--selfplay", metavar="GAME", required=True, help="the game, or package.module:Class")
    parser.add_argument(
        "--option", "-o", action="append", default=[], metavar="NAME=VALUE", help="an option of the game"
    )
    parser.add_argument("--rng-seed", type=int, default=0, help="of the first match; each further one adds 1")
    parser.add_argument("--matches", type=int, default=1, help="number of matches")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each action, as shown by the clock")
    parser.add_argument(
        "--ply-limit", type=int, default=DEFAULT_PLY_LIMIT, help="actions after which a match ends, as in the arena"
    )
    parser.add_argument("--quiet", "-q", action="store_true", help="print only one line for each match")
    return parser


@dataclass
class _Table:
    """One match, with a seat and a random generator for each player."""

    choose: Callable[[Seat, dict[str, Any], float], Any]
    on_match: Callable[[MatchInfo], None] | None
    game: Game[Any]
    rng_seed: int
    seconds: float
    ply_limit: int
    is_shown: bool

    def __post_init__(self) -> None:
        self._seats: list[Seat] = []
        self._generators: list[Any] = []
        self.longest_seconds = 0.0
        time_control = {
            "per_action_seconds": self.seconds,
            "bank_seconds": None,
            "increment_seconds": 0.0,
            "margin_seconds": 0.0,
            "clock": "wall",
        }
        for seat in range(self.game.players):
            info = MatchInfo(self.game, seat, self.game.players, self.rng_seed, time_control, self.ply_limit)
            self._seats.append(Seat(info))
            if self.on_match is not None:
                self.on_match(info)
            self._generators.append(random.getstate())

    @property
    def ply(self) -> int:
        return self._seats[0].ply

    def play(self) -> MatchResult:
        game = self.game
        self._show()
        while (seat := game.seat_to_act(self._seats[0].state)) is not None and self.ply < self.ply_limit:
            action = self._ask(seat)
            for follower in self._seats:
                follower.follow([[seat, action]])
            if self.is_shown:
                print(f"{self.ply}. seat {seat} plays {game.format_action(action)}")
            self._show()
        state = self._seats[0].state
        termination = "normal" if seat is None else "adjudication"
        return MatchResult(list(game.ranks(state)), list(game.scores(state)), termination)

    def _ask(self, seat: int) -> Any:
        state = self._seats[seat].state
        random.setstate(self._generators[seat])
        asked_at = time.monotonic()
        turn = {
            "ply": self.ply,
            "clock": {"seconds": self.seconds, "bank_seconds": None},
            "observation": _as_received(self.game.observation(state)),
            "legal": _as_received(self.game.legal_actions(state)),
        }
        choice = as_choice(self.choose(self._seats[seat], turn, asked_at))
        self.longest_seconds = max(self.longest_seconds, time.monotonic() - asked_at)
        self._generators[seat] = random.getstate()
        if self.is_shown and choice.note is not None:
            print(f"note: {choice.note}")
        return choice.action

    def _show(self) -> None:
        if self.is_shown:
            print(f"{self.game.render(self._seats[0].state)}\n")


def _as_received(value: Any) -> Any:
    """Return a value as a bot receives it, with lists for tuples."""
    return msgpack.unpackb(msgpack.packb(value))


def _line(result: MatchResult, seed: int, table: _Table) -> str:
    seats = ", ".join(f"seat {seat} {score:g}" for seat, score in enumerate(result.scores))
    first = " and ".join(str(seat) for seat, rank in enumerate(result.ranks) if rank == 1)
    longest = f"longest action {1000 * table.longest_seconds:.1f} ms"
    return f"seed {seed}: first: seat {first}; {seats}; {table.ply} actions, {longest}"
