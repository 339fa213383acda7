"""For authors of bots in Python: everything but the idea.

A whole bot:

    from arena.botkit import run

    run(lambda game, state, clock: game.legal_actions(state)[0])

``game`` is the rules (``arena.games.Game``), ``state`` the position, ``clock`` says how long the action may take. The
function returns an action, or ``Choice(action, note=...)`` to leave a note for the replay. The standard ``random``
module is seeded with the match's ``rng_seed`` when a match begins, so a bot that draws from it plays the same match
again from the same seed. What the bot prints goes to stderr, never into the protocol.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import msgpack

from arena.games import Game, make_game

__all__ = ["Choice", "Clock", "MatchInfo", "run"]


@dataclass(slots=True)
class Clock:
    """How long the action may take.

    Attributes:
        seconds: for this action, from when it was asked.
        bank_seconds: left in the bank for all actions to come; None without a bank.
        asked_at: when the question arrived, as ``time.monotonic()`` tells.
    """

    seconds: float
    bank_seconds: float | None
    asked_at: float

    def seconds_left(self) -> float:
        """Return what is left of ``seconds``."""
        return self.seconds - (time.monotonic() - self.asked_at)


class Choice(NamedTuple):
    """An action with a note for the replay: a short text or a small map."""

    action: Any
    note: str | dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MatchInfo:
    """What is known when a match begins."""

    game: Game[Any]
    seat: int
    players: int
    rng_seed: int
    time_control: dict[str, Any]


Choose = Callable[[Game[Any], Any, Clock], Any]


def run(
    choose: Choose,
    *,
    on_match: Callable[[MatchInfo], None] | None = None,
    name: str | None = None,
    version: str | None = None,
    author: str | None = None,
) -> None:
    """Speak the protocol on stdin and stdout until the arena says goodbye.

    Args:
        choose: is given the game, the state and the clock, and returns an action or a ``Choice``.
        on_match: is called when a match begins.
        name: of the bot, for the arena's log.
        version: of the bot.
        author: of the bot.
    """
    wire = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # a stray print must not end up between two messages
    sys.stdout = sys.stderr
    about = {"name": name, "version": version, "author": author}
    _Conversation(sys.stdin.buffer, wire, choose, on_match, about).run()


class _Conversation:
    """One bot's side of the protocol. It keeps the state by applying the actions it is told."""

    def __init__(
        self,
        source: BinaryIO,
        wire: BinaryIO,
        choose: Choose,
        on_match: Callable[[MatchInfo], None] | None,
        about: dict[str, str | None],
    ) -> None:
        self._source = source
        self._wire = wire
        self._choose = choose
        self._on_match = on_match
        self._about = about
        self._game: Game[Any] | None = None
        self._state: Any = None

    def run(self) -> None:
        while (message := self._receive()) is not None:
            kind = message["type"]
            if kind == "act":
                self._act(message)
            elif kind == "match":
                self._begin(message)
            elif kind == "hello":
                self._greet()
            elif kind == "fault":
                print(f"the arena says: {message['kind']}: {message['detail']}", file=sys.stderr)
            elif kind == "quit":
                return

    def _receive(self) -> dict[str, Any] | None:
        header = self._source.read(4)
        if len(header) < 4:
            return None
        body = self._source.read(int.from_bytes(header, "big"))
        message: dict[str, Any] = msgpack.unpackb(body)
        return message

    def _send(self, message: dict[str, Any]) -> None:
        body = msgpack.packb(message)
        self._wire.write(len(body).to_bytes(4, "big") + body)

    def _greet(self) -> None:
        wants = {"legal": False, "observation": False}
        about = {key: value for key, value in self._about.items() if value is not None}
        self._send({"type": "ready", "protocol": 1, "wants": wants, **about})

    def _begin(self, message: dict[str, Any]) -> None:
        options = message["options"]
        self._game = make_game(message["game"], **options)
        self._state = self._game.initial_state()
        random.seed(message["rng_seed"])
        if self._on_match is not None:
            self._on_match(
                MatchInfo(self._game, message["seat"], message["players"], message["rng_seed"], message["time_control"])
            )

    def _act(self, message: dict[str, Any]) -> None:
        game = self._game
        if game is None:
            raise RuntimeError("an action is asked for before any match")
        asked_at = time.monotonic()
        for _seat, action in message["actions"]:
            self._state = game.withdraw(self._state) if action is None else game.apply(self._state, action)
        clock = Clock(message["clock"]["seconds"], message["clock"]["bank_seconds"], asked_at)
        chosen = self._choose(game, self._state, clock)
        choice = chosen if isinstance(chosen, Choice) else Choice(chosen)
        answer = {"type": "action", "ply": message["ply"], "action": choice.action}
        if choice.note is not None:
            answer["note"] = choice.note
        self._send(answer)
