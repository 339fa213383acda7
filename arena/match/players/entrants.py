"""Bots as callers name them: a bot, a path, a submitted bot, or a Python function."""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
from collections.abc import Sequence
from typing import Any, Protocol

from arena.base.errors import BotDefinitionError, expect
from arena.base.names import KnownNames
from arena.base.records import FUNCTION_PROGRAM, Bot
from arena.base.text import shortened_text
from arena.botkit.seat import Choose
from arena.match.players.function_player import FunctionBot
from arena.match.players.manifest import check_name, load_bot

Entrant = Bot | str | os.PathLike[str] | Choose
"""A bot, the path of one (``arena:NAME`` for an example bot), or a function ``choose(game, state, clock)``."""

GIT = "git:"
"""The prefix of ``git:PATH@REF``, which may be given in place of a path."""


class KnownBots(KnownNames, Protocol):
    """What a definition needs of ``home.bots``."""

    def find(self, text: str, args: Sequence[str] = ()) -> Bot:
        """Return a submitted bot by ``name`` or ``name@version``; raise UsageError if there is no such bot."""

    def labels(self) -> Sequence[str]:
        """Return the submitted bots, as ``name@version``."""

    def copy_in(self, path: str | os.PathLike[str]) -> Bot:
        """Copy a bot's files into the home, by their digest, and return the bot as it runs from there."""


def function_bot(function: Choose, name: str | None = None, version: str = "1") -> FunctionBot:
    """Return a Python function as a bot, for ``play_match`` and ``make_definition``.

    It plays in this process without isolation, so use it for functions of your own. Its digest is that of its
    source text, so a tournament is not resumed with a function that was edited; what the function uses is not compared.

    Args:
        function: called with the game, the state and the clock; returns an action or a ``Choice``.
        name: in tables; by default the function's.

    Raises:
        BotDefinitionError: if it is not a function of three arguments, or the name or the version is refused.
    """
    if not callable(function):
        shown = shortened_text(repr(function))
        raise BotDefinitionError(f"bot {shown}: expected a path, a bot or a function of (game, state, clock)")
    known_as = _known_as(function)
    _check_arguments(function, known_as)
    expect(isinstance(name, str | None), "name", name, "a str")
    expect(isinstance(version, str), "version", version, "a str")
    plain = name if name is not None else known_as.strip("<>")
    check_name(f"function {known_as}: name", plain)
    check_name(f"function {known_as}: version", version)
    return FunctionBot(
        name=plain,
        version=version,
        command=(FUNCTION_PROGRAM, f"{getattr(_underlying(function), '__module__', None) or '__main__'}:{known_as}"),
        directory="",
        digest=_digest(function),
        function=function,
    )


def bot_of(entrant: Entrant) -> Bot:
    """Return the bot that a caller of the Python interface has named."""
    if isinstance(entrant, Bot):
        return entrant
    if isinstance(entrant, str | os.PathLike):
        return load_bot(entrant)
    return function_bot(entrant)


def _underlying(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _known_as(function: Any) -> str:
    inner = _underlying(function)
    name = getattr(inner, "__name__", None)
    return name if isinstance(name, str) else type(inner).__name__


def _check_arguments(function: Choose, known_as: str) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # written in C: a call will show it
        return
    try:
        signature.bind(None, None, None)
    except TypeError:
        raise BotDefinitionError(
            f"function {known_as}{signature}: expected a function of three arguments, (game, state, clock)"
        ) from None


def _digest(function: Any) -> str:
    inner = _underlying(function)
    inner = inner if inspect.isroutine(inner) else type(inner)
    try:
        text = inspect.getsource(inner).encode()
    except (OSError, TypeError):
        code = getattr(inner, "__code__", None)
        text = code.co_code + repr(code.co_names).encode() if code is not None else b""
    return hashlib.sha256(text).hexdigest()
