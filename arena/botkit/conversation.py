"""The bot's side of the protocol."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any, BinaryIO

import msgpack

from arena.botkit.seat import Choose, ChooseOnTurn, MatchInfo, MatchResult, Seat, Turn, as_choice
from arena.games import make_game

SELF_PLAY = "--selfplay"


def log(*values: object) -> None:
    """Write a line to stderr; the arena keeps the first and the last 2 KiB of each match, or 32 KiB after a fault."""
    print(*values, file=sys.stderr, flush=True)


def run(
    choose: Choose,
    *,
    on_match: Callable[[MatchInfo], None] | None = None,
    on_end: Callable[[MatchResult], None] | None = None,
    name: str | None = None,
    version: str | None = None,
    author: str | None = None,
) -> None:
    """Speak the protocol on stdin and stdout until ``quit``.

    With ``--selfplay GAME`` on the command line the bot plays against itself instead.

    Args:
        choose: called with the game, the state and the clock; returns an action or a ``Choice``.
        on_match: called when a match begins.
        on_end: called when a match has ended.
        name: the bot's name for the arena's log, as ``version`` and ``author``.
    """

    def choose_on_seat(seat: Seat, turn: dict[str, Any], asked_at: float) -> Any:
        return choose(seat.info.game, seat.state, seat.clock(turn["clock"], asked_at))

    _play(choose_on_seat, False, on_match, on_end, {"name": name, "version": version, "author": author})


def run_on_observations(
    choose: ChooseOnTurn,
    *,
    on_match: Callable[[MatchInfo], None] | None = None,
    on_end: Callable[[MatchResult], None] | None = None,
    name: str | None = None,
    version: str | None = None,
    author: str | None = None,
) -> None:
    """Like ``run``, for bots that don't use the rules: ``choose`` is called with a ``Turn``."""

    def choose_on_seat(seat: Seat, turn: dict[str, Any], asked_at: float) -> Any:
        clock = seat.clock(turn["clock"], asked_at)
        return choose(Turn(seat.info, turn["ply"], turn["observation"], turn["legal"], clock))

    _play(choose_on_seat, True, on_match, on_end, {"name": name, "version": version, "author": author})


ChooseOnSeat = Callable[[Seat, dict[str, Any], float], Any]


def _play(
    choose: ChooseOnSeat,
    wants_all: bool,
    on_match: Callable[[MatchInfo], None] | None,
    on_end: Callable[[MatchResult], None] | None,
    about: dict[str, str | None],
) -> None:
    if SELF_PLAY in sys.argv:
        from arena.botkit.selfplay import self_play  # bots in matches start faster without it

        sys.exit(self_play(choose, on_match, on_end, sys.argv[sys.argv.index(SELF_PLAY) :]))
    wire = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # a stray print must not get between two messages
    sys.stdout = sys.stderr
    _Conversation(sys.stdin.buffer, wire, choose, wants_all, on_match, on_end, about).run()


class _Conversation:
    def __init__(
        self,
        source: BinaryIO,
        wire: BinaryIO,
        choose: ChooseOnSeat,
        wants_all: bool,
        on_match: Callable[[MatchInfo], None] | None,
        on_end: Callable[[MatchResult], None] | None,
        about: dict[str, str | None],
    ) -> None:
        self._source = source
        self._wire = wire
        self._choose = choose
        self._wants_all = wants_all
        self._on_match = on_match
        self._on_end = on_end
        self._about = about
        self._seat: Seat | None = None

    def run(self) -> None:
        while (message := self._receive()) is not None:
            kind = message["type"]
            if kind == "act":
                self._act(message)
            elif kind == "match":
                self._begin(message)
            elif kind == "hello":
                self._greet()
            elif kind == "end":
                if self._on_end is not None:
                    self._on_end(MatchResult(message["ranks"], message["scores"], message["termination"]))
            elif kind == "fault":
                log(f"the arena says: {message['kind']}: {message['detail']}")
            elif kind == "quit":
                return

    def _receive(self) -> dict[str, Any] | None:
        header = self._source.read(4)
        if len(header) < 4:
            return None
        length = int.from_bytes(header, "big")
        body = self._source.read(length)
        message: dict[str, Any] | None = msgpack.unpackb(body) if len(body) == length else None
        return message

    def _send(self, message: dict[str, Any]) -> None:
        body = msgpack.packb(message)
        self._wire.write(len(body).to_bytes(4, "big") + body)

    def _greet(self) -> None:
        wants = {"legal": self._wants_all, "observation": self._wants_all}
        about = {key: value for key, value in self._about.items() if value is not None}
        self._send({"type": "ready", "protocol": 1, "wants": wants, **about})

    def _begin(self, message: dict[str, Any]) -> None:
        load_external_game()
        game = make_game(message["game"], **message["options"])
        info = MatchInfo(
            game,
            message["seat"],
            message["players"],
            message["rng_seed"],
            message["time_control"],
            message.get("ply_limit"),
        )
        self._seat = Seat(info)
        if self._on_match is not None:
            self._on_match(info)

    def _act(self, message: dict[str, Any]) -> None:
        if self._seat is None:
            raise RuntimeError("'act' came before the first 'match'")
        asked_at = time.monotonic()
        self._seat.follow(message["actions"])
        choice = as_choice(self._choose(self._seat, message, asked_at))
        answer = {"type": "action", "ply": message["ply"], "action": choice.action}
        if choice.note is not None:
            answer["note"] = choice.note
        self._send(answer)


GAME_VARIABLE = "ARENA_GAME"


def load_external_game() -> None:
    """Import the module named by ``ARENA_GAME``, if it is set, so that its games are found by their dotted paths."""
    module, _, location = os.environ.get(GAME_VARIABLE, "").partition("=")
    if not location or module in sys.modules:
        return
    from importlib.util import module_from_spec, spec_from_file_location  # most bots have no need of them
    from pathlib import Path

    is_package = Path(location).is_dir()
    spec = spec_from_file_location(
        module,
        Path(location, "__init__.py") if is_package else location,
        submodule_search_locations=[location] if is_package else None,
    )
    if spec is None or spec.loader is None:
        return
    loaded = module_from_spec(spec)
    sys.modules[module] = loaded
    spec.loader.exec_module(loaded)
