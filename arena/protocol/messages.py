"""The messages of protocol version 1: those to bots are built here, those from bots are validated here.

protocol.md describes every message and field; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgpack

from arena.base.bot_text import EVERYBODY
from arena.base.enums import FaultKind, Termination
from arena.base.errors import BotError
from arena.base.names import is_printable_text
from arena.base.records import DEFAULT_LIMITS, DEFAULT_PLY_LIMIT, Fault, Limits, TimeControl
from arena.protocol.frames import Message

PROTOCOL_VERSION = 1
MAX_NAME_CHARACTERS = 100

_pack = msgpack.Packer().pack
_COMMON_START = b"\x83" + b"".join(map(_pack, ("type", "action", "ply")))
_COMMON_END = _pack("action")
_COMMON_TYPES = frozenset({int, str})
_COMMON_LENGTH = 8

TEXT_FIELDS = ("name", "version", "author")


class Wants(NamedTuple):
    """The optional parts of the conversation that a bot asks for; ``updates`` come after every action."""

    legal: bool = True
    observation: bool = True
    updates: bool = False


class Ready(NamedTuple):
    """A bot's answer to ``hello``."""

    wants: Wants = Wants()
    name: str = ""
    version: str = ""
    author: str = ""


@dataclass(frozen=True, slots=True)
class Seating:
    """The contents of ``match``."""

    match: int
    game: str
    options: Mapping[str, Any]
    players: int
    seat: int
    rng_seed: int
    time_control: TimeControl
    ply_limit: int = DEFAULT_PLY_LIMIT


@dataclass(slots=True)  # not frozen: one is made for every ply, which would take several times as long
class Request:
    """The contents of ``act``: one question to a player.

    Attributes:
        actions: ``[seat, action]`` for every action since this player was last asked.
        margin_seconds: the time beyond ``seconds`` that is forgiven; a message does not name it.
        observation: None if the player does not want it, and so is ``legal``.
    """

    ply: int
    actions: Sequence[Any]
    seconds: float
    bank_seconds: float | None
    margin_seconds: float
    observation: Mapping[str, Any] | None
    legal: Sequence[Any] | None


def hello(arena_version: str, limits: Limits = DEFAULT_LIMITS) -> Message:
    """Return the first message to a bot that has just been launched."""
    figures = {
        "message_bytes": limits.message_bytes,
        "depth": limits.message_depth,
        "nodes": limits.message_nodes,
        "note_bytes": limits.note_bytes,
    }
    return {"type": "hello", "protocol": PROTOCOL_VERSION, "arena": arena_version, "limits": figures}


def match(seating: Seating) -> Message:
    """Return the message that begins a match."""
    time_control = seating.time_control
    return {
        "type": "match",
        "match": seating.match,
        "game": seating.game,
        "options": seating.options,
        "players": seating.players,
        "seat": seating.seat,
        "rng_seed": seating.rng_seed,
        "ply_limit": seating.ply_limit,
        "time_control": {
            "per_action_seconds": _float_or_none(time_control.per_action_seconds),
            "bank_seconds": _float_or_none(time_control.bank_seconds),
            "increment_seconds": float(time_control.increment_seconds),
            "margin_seconds": float(time_control.margin_seconds),
            "clock": time_control.clock,
        },
    }


def _float_or_none(seconds: float | None) -> float | None:
    """Return seconds as a float: messages have one type for them, and a tournament file may have an integer."""
    return None if seconds is None else float(seconds)


def act(match_number: int, request: Request) -> Message:
    """Return the question for an action, with what the bot wants of ``observation`` and ``legal``."""
    message = {
        "type": "act",
        "match": match_number,
        "ply": request.ply,
        "clock": {"seconds": request.seconds, "bank_seconds": request.bank_seconds},
        "actions": request.actions,
    }
    if request.observation is not None:
        message["observation"] = request.observation
    if request.legal is not None:
        message["legal"] = request.legal
    return message


def update(match_number: int, ply: int, actions: Sequence[Any]) -> Message:
    """Return the actions that have just been played, for a bot that wants updates."""
    return {"type": "update", "match": match_number, "ply": ply, "actions": actions}


def end(
    match_number: int, ranks: Sequence[int], scores: Sequence[float], termination: Termination, faults: Sequence[Fault]
) -> Message:
    """Return the result of a match; what another bot said in its fault is not for this one."""
    return {
        "type": "end",
        "match": match_number,
        "ranks": list(ranks),
        "scores": list(scores),
        "termination": termination,
        "faults": [{"seat": f.seat, "kind": f.kind, "ply": f.ply, "detail": f.told_to(EVERYBODY, "")} for f in faults],
    }


def fault(kind: FaultKind, detail: str) -> Message:
    """Return the reason why a bot is about to be ended."""
    return {"type": "fault", "kind": kind, "detail": detail}


def quit_message() -> Message:
    """Return the request to exit."""
    return {"type": "quit"}


def read_ready(message: Message) -> Ready:
    """Validate a ``ready`` from a bot; raise BotError with the field, the value and what is accepted."""
    _expect_type(message, "ready")
    if "protocol" not in message:
        raise BotError(FaultKind.PROTOCOL, "the message has no field 'protocol'")
    if type(message["protocol"]) is not int or message["protocol"] != PROTOCOL_VERSION:
        raise _refuse("ready.protocol", message["protocol"], f"this arena speaks version {PROTOCOL_VERSION}")
    texts = {}
    for name in TEXT_FIELDS:
        text = message.get(name)
        if text is not None and (type(text) is not str or len(text) > MAX_NAME_CHARACTERS):
            raise _refuse(f"ready.{name}", text, f"expected a string of at most {MAX_NAME_CHARACTERS} characters")
        texts[name] = text if text and is_printable_text(text) else ""
    return Ready(_read_wants(message.get("wants")), **texts)


def _read_wants(given: Any) -> Wants:
    if given is None:
        return Wants()
    if type(given) is not dict:
        raise _refuse("ready.wants", given, "expected a map")
    for name, value in given.items():
        if name in Wants._fields and type(value) is not bool:
            raise _refuse(f"ready.wants.{name}", value, "expected true or false")
    return Wants(**{name: value for name, value in given.items() if name in Wants._fields})


def common_action(body: bytes, ply: int) -> Any:
    """Return the action of a body that has the commonest form, at a third of the cost of ``read_action``.

    That is the type, the ply and an action that is text, an integer or a short list of these, in this order and nothing
    else. None for every other body, valid or not.
    """
    start = _COMMON_START + _pack(ply) + _COMMON_END
    if not body.startswith(start):
        return None
    try:
        action = msgpack.unpackb(body[len(start) :])
    except (ValueError, msgpack.exceptions.UnpackException):
        return None
    kind = type(action)
    if kind is str or kind is int:
        return action
    is_common = kind is list and len(action) <= _COMMON_LENGTH and _COMMON_TYPES.issuperset(map(type, action))
    return action if is_common else None


def read_action(message: Message, ply: int, note_bytes: int = DEFAULT_LIMITS.note_bytes) -> tuple[Any, Any]:
    """Validate an ``action`` from a bot and return ``(action, note)``; whether the action is legal is for the rules.

    Raises:
        BotError: with the field, the value and what is accepted.
    """
    if message["type"] != "action":
        _expect_type(message, "action")
    for field in ("ply", "action"):
        if field not in message:
            raise BotError(FaultKind.PROTOCOL, f"the answer has no field '{field}'")
    echoed = message["ply"]
    if type(echoed) is not int or echoed != ply:
        raise _refuse("action.ply", echoed, f"expected {ply}, the ply of the question")
    note = message.get("note")
    if note is not None:
        _check_note(note, note_bytes)
    return message["action"], note


def _check_note(note: Any, max_bytes: int) -> None:
    if type(note) not in (str, dict):
        raise _refuse("action.note", note, "expected a string or a map")
    size = len(msgpack.packb(note))
    if size > max_bytes:
        raise BotError(FaultKind.LIMIT, f"a note of {size} bytes; note_bytes allows {max_bytes}")


def _expect_type(message: Message, expected: str) -> None:
    if message["type"] != expected:
        article = "an" if expected[0] in "aeiou" else "a"
        raise BotError(FaultKind.PROTOCOL, f"expected {article} {expected!r} message, got {shortened(message['type'])}")


def _refuse(field: str, value: Any, reason: str) -> BotError:
    return BotError(FaultKind.PROTOCOL, f"{field} = {shortened(value)}: {reason}")


def shortened(value: Any, limit: int = 80) -> str:
    """Return a value as text that is safe to print: escaped, and cut after ``limit`` characters."""
    try:
        text = ascii(value)
    except Exception:  # a Python function may return anything
        text = f"<{type(value).__name__}>"
    return text if len(text) <= limit else f"{text[:limit]}…"
