"""Every error the arena raises on purpose, in one tree, and mistakes in what somebody has written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from arena.base.enums import FaultKind

_KEY = re.compile(r"\{([a-z_]+)(?:=([a-z]+))?\}", re.ASCII)


def _as_written(key: str, value: str) -> str:
    return f"{key} = {value!r}" if value else key


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake in a text of keys and values.

    Attributes:
        place: the key, such as "final.format"; "" if it is about the whole.
        sentence: what is wrong, and what is accepted. Other keys in it are in braces, "{opens_at}", and so is one with
            a value, "{results=frozen}".
        value: what was written there, in TOML; "" for nothing.
    """

    place: str
    sentence: str
    value: str = ""

    @property
    def text(self) -> str:
        """The whole, with the names of keys."""
        start = f"{self.place} = {self.value}: " if self.value else f"{self.place}: " if self.place else ""
        return start + self.sentence_with(_as_written)

    def sentence_with(self, named: Callable[[str, str], str]) -> str:
        """Return the sentence with the names that keys have elsewhere, such as on a page.

        ``named`` returns the name of a key, or of its value if that is not "".
        """
        return _KEY.sub(lambda key: named(key[1], key[2] or ""), self.sentence)


MAX_EXCEPTION_CHARACTERS = 200
"""The most characters quoted from an exception that a game has raised."""


class ArenaError(Exception):
    """The root of the tree. An error comes from another process with its attributes, whatever makes it takes."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), self.args), self.__dict__


def _made(kind: type[ArenaError], arguments: tuple[Any, ...]) -> ArenaError:
    return kind.__new__(kind, *arguments)


class UsageError(ArenaError):
    """An error that the user can correct: exit code 2. Its text is a sentence with the value and what is accepted.

    Attributes:
        lines: the text as a terminal shows it: a line for each mistake in a file.
    """

    def __init__(self, text: str = "", lines: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.lines = tuple(lines) or (text,)

    @classmethod
    def of_mistakes(cls, where: object, sentences: Iterable[str]) -> Self:
        """Return an error with every mistake, none twice; ``where`` they are begins each line."""
        distinct = dict.fromkeys(sentences)
        return cls(f"{where}: " + "; ".join(distinct), [f"{where}: {sentence}" for sentence in distinct])


class OptionError(UsageError, ValueError):
    """A game rejects the value of an option; ``accepted`` says in words what it would accept."""

    def __init__(self, option: str, value: object, accepted: str) -> None:
        super().__init__(f"{option} = {value!r}: {accepted}")
        self.option = option
        self.value = value
        self.accepted = accepted


class UnknownNameError(UsageError, LookupError):
    """A name of some kind ("game", "bot") that is not in a table of ``known`` names."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(known)
        super().__init__(f"unknown {kind} {name!r}: {suggestion(name, self.known)}")


class NothingYetError(UsageError):
    """There is nothing of a kind yet; the message is for visitors."""


class DefinitionError(UsageError):
    """A tournament definition is rejected; each fault is named with its place, value and what is accepted."""


class ContestError(DefinitionError):
    """A contest is rejected, with all mistakes in it; ``where`` it comes from begins the message."""

    def __init__(self, where: str, mistakes: Sequence[Mistake]) -> None:
        whole = UsageError.of_mistakes(where, (mistake.text for mistake in mistakes))
        super().__init__(str(whole), whole.lines)
        self.where = where
        self.mistakes = tuple(mistakes)


class BotDefinitionError(UsageError):
    """A ``bot.toml`` is rejected, or a path holds no bot."""


class UploadError(UsageError):
    """An archive or a file that was submitted is rejected; nothing of it is kept."""


class RosterError(UsageError):
    """A list of people is rejected, with what is wrong with each line, by number; nobody has got an account."""

    def __init__(self, mistakes: Iterable[tuple[int, str]]) -> None:
        self.mistakes = tuple(sorted(mistakes))
        lines = [f"line {line}: {sentence}" for line, sentence in self.mistakes]
        super().__init__("; ".join(lines), lines)


class InvitationError(UsageError):
    """A link of an invitation can't be used: it was, it has expired, or nobody made it, which is always one text."""

    def __init__(self) -> None:
        super().__init__(
            "this invitation was used, or has expired, or there never was one; sign in if you have used it, or ask for"
            " another"
        )


class GameError(UsageError):
    """The rules of a game are wrong: they raised an exception, or returned what a game must not return.

    Neither a bot nor the arena is at fault: the game's author can correct it.

    Attributes:
        game: the game's name or dotted path.
        method: the method that is wrong, such as "apply".
        problem: what the method did, as the rest of a sentence: "raised KeyError: 3". What may differ from match to
            match stands after a colon.
        place: the file and the line of the game's author where it raised, such as "hex.py:41"; empty if it did not.
    """

    def __init__(self, game: str, method: str, problem: str, place: str = "") -> None:
        super().__init__(f"the game {game!r} is at fault: {method} {problem}" + (f" ({place})" if place else ""))
        self.game = game
        self.method = method
        self.problem = problem
        self.place = place

    @classmethod
    def raised(cls, game: str, method: str, error: BaseException, module: str) -> GameError:
        """Return the error for an exception that a method of a game has raised.

        The place is the last frame in the package of ``module``, that of the game's class.
        """
        import traceback  # every bot imports this module when it starts, and errors are rare

        package = module.partition(".")[0]
        frames = [
            f"{os.path.basename(frame.f_code.co_filename)}:{line}"  # noqa: PTH119 - pathlib takes longer to import than this module
            for frame, line in traceback.walk_tb(error.__traceback__)
            if str(frame.f_globals.get("__name__")).partition(".")[0] == package
        ]
        return cls(game, method, f"raised {exception_text(error)}", frames[-1] if frames else "")


class StoreError(UsageError):
    """The database can't be used: a newer version, read-only, full, corrupted, or in use by another director."""


class ChangedMeanwhileError(StoreError):
    """A tournament was changed while it was read: what was read does not fit together, and is to be read again."""


class NoHomeError(StoreError):
    """There is no arena at this place yet."""


class DatabaseError(StoreError):
    """The database itself refuses: locked, damaged, full, without permission; a later attempt may succeed."""


class UnwritableError(DatabaseError):
    """The database can't be written: its disk is full, or gives no permission; it may still be read."""


class StoreAwayError(DatabaseError):
    """The database server can't be reached now; it may come back."""


class ClusterError(UsageError):
    """A cluster can't be reached, can't be used, or is lost; what was recorded stays."""


class SiteError(UsageError):
    """The site of an arena rejects a request, with a status, or what answers is no such site."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class KernelError(ArenaError):
    """A kernel of the lab can't be built or loaded, or is not the same game as the rules.

    Only the check of kernels shows it; everything else uses the rules in Python instead.
    """


class SiteAwayError(ArenaError):
    """The site of an arena can't be reached, or fails; it may work again after ``retry_after_seconds``, if known."""

    def __init__(self, text: str, retry_after_seconds: int | None = None) -> None:
        super().__init__(text)
        self.retry_after_seconds = retry_after_seconds


class IllegalActionError(ArenaError, ValueError):
    """An action that the rules reject; ``reason`` is the broken rule in words, with its number in the rulebook."""

    def __init__(self, action: object, reason: str) -> None:
        super().__init__(f"{action!r:.200}: {reason}")
        self.action = action
        self.reason = reason


class MatchStateError(ArenaError):
    """The arena asked something of a player or a match at the wrong time: a defect of ours."""


class BotError(ArenaError):
    """A bot did something wrong, in one sentence with figures.

    Seen only below the referee, which turns it into a fault.
    """

    def __init__(self, kind: FaultKind, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


class VoidMatchError(ArenaError):
    """A match has no result because the arena itself failed (no memory, no descriptors); it is played again."""


class LateError(VoidMatchError):
    """The arena can't tell whether a bot kept its time: it looked too late, or another bot took the processor.

    Attributes:
        is_disturbed: another bot took the processor.
        seat: whose turn it was, if that may have been its own doing; the referee knows it.
    """

    def __init__(self, text: str, is_disturbed: bool = False) -> None:
        super().__init__(text)
        self.is_disturbed = is_disturbed
        self.seat: int | None = None


@contextmanager
def failing_as(kind: type[ArenaError], action: str) -> Iterator[None]:
    """Raise an error of the operating system as one of ours: what failed, and why."""
    try:
        yield
    except OSError as error:
        raise kind(f"{action}: {error.strerror or error}") from error


def text_of(error: BaseException) -> str:
    """Return the text of an exception; with exceptions from outside the arena, ``str`` itself may fail."""
    try:
        return str(error)
    except Exception:
        return "its text can't be shown"


def exception_text(error: BaseException) -> str:
    """Return the type and the text of an exception, whatever it does, in a line of bounded length."""
    import traceback

    text = " ".join("".join(traceback.format_exception_only(error)).split())
    return text if len(text) <= MAX_EXCEPTION_CHARACTERS else f"{text[:MAX_EXCEPTION_CHARACTERS]}…"


def repr_of(value: object) -> str:
    """Return the ``repr`` of a value, or its type if ``repr`` raises: foreign code may do anything.

    >>> repr_of("a"), repr_of(type("Board", (), {"__repr__": None})())
    ("'a'", '<Board>')
    """
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def expect(is_right: bool, name: str, value: object, expected: str) -> None:
    """Raise UsageError unless an argument of a public function is right.

    >>> expect(False, "count", -1, "0 or more")
    Traceback (most recent call last):
        ...
    arena.base.errors.UsageError: count = -1: expected 0 or more
    """
    if not is_right:
        raise UsageError(f"{name} = {repr_of(value)[:200]}: expected {expected}")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that may be meant; None if none is near."""
    import difflib  # as for traceback above

    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=0.6)), None)


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return "did you mean …?" when something known is near, else the list of what is expected."""
    names = list(known)
    near = nearest(name, names)
    if near is not None:
        return f"did you mean {near!r}?"
    if not names:
        return "there are none yet"
    shown = ", ".join(names[:20])
    return f"expected one of: {shown}" + (", …" if len(names) > 20 else "")
