"""The rules for names, versions and reasons, so that people can tell them apart; where external games are found."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import Protocol

from arena.base.errors import DefinitionError, UnknownNameError, UsageError, expect
from arena.base.text import shortened_text, toml_value

GAMES_DIRECTORY_VARIABLE = "ARENA_GAMES_DIRECTORY"
"""Set by the command line, also for the programs that it starts: where external games are looked for last."""

MAX_CHARACTERS = 64

ACCEPTED = (
    f"expected 1 to {MAX_CHARACTERS} visible characters and single spaces inside, without '@', '/' and '\\',"
    " not beginning with '.' or '-', and not 'human'"
)

VERSION_ACCEPTED = (
    f"expected 1 to {MAX_CHARACTERS} letters a-z or A-Z and digits, with single '.', '-' or '+' between them"
)

_VERSION = re.compile(r"[A-Za-z0-9]+(?:[.+-][A-Za-z0-9]+)*")
_ALIKE = (("0", "o"), ("1", "l"), ("i", "l"), ("5", "s"), ("rn", "m"), ("vv", "w"), ("cl", "d"))
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_VARIATION_SELECTORS = ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
_PERSON = "human"
"""Reserved for a person at the board."""


class KnownNames(Protocol):
    """Names that bots have already, as ``home.bots`` knows them."""

    def is_known(self, name: str) -> bool:
        """Return whether a name is in use already; such a name is accepted even if it breaks the rule for names."""


def look_in_games_directory() -> None:
    """Let Python look for modules in the directory of external games as well, last.

    No process does so before it needs such a game: libraries look for plug-ins and optional packages wherever Python
    looks, and execute them.
    """
    directory = os.environ.get(GAMES_DIRECTORY_VARIABLE)
    if directory and directory not in sys.path:
        sys.path.append(directory)


def is_printable(letter: str) -> bool:
    """Return whether a character is visible on a screen, or is the plain space."""
    if letter == " ":
        return True
    if unicodedata.category(letter) in _HIDDEN_CATEGORIES or letter in _BLANK_LETTERS:
        return False
    return not any(first <= ord(letter) <= last for first, last in _VARIATION_SELECTORS)


def is_printable_text(text: str) -> bool:
    """Return whether all characters of a text are visible."""
    return all(is_printable(letter) for letter in text)


def is_name(text: str) -> bool:
    """Return whether a text may be the name of a bot; ``ACCEPTED`` is the rule in words."""
    if not 1 <= len(text) <= MAX_CHARACTERS or not is_printable_text(text):
        return False
    if any(letter in text for letter in "@/\\") or text[0] in ".-" or "  " in text or text != text.strip():
        return False
    if unicodedata.category(text[0]).startswith("M") or unicodedata.normalize("NFC", text) != text:
        return False
    return unicodedata.normalize("NFKC", text).casefold() != _PERSON


def check_tournament_name(name: str, where: str, bots: KnownNames | None = None) -> None:
    """Raise DefinitionError unless ``name`` may be a tournament's name."""
    allowed = is_printable_text(name) and all(letter.isalnum() or letter in "._- " for letter in name)
    is_accepted = 1 <= len(name) <= MAX_CHARACTERS and allowed and name == name.strip() and name[0] not in "-."
    if not is_accepted and (bots is None or not bots.is_known(name)):
        expected = f"expected 1 to {MAX_CHARACTERS} letters, digits, '.', '_', '-' and spaces inside"
        raise DefinitionError(f"{where} = {toml_value(name)}: {expected}")


def is_version(text: str) -> bool:
    """Return whether a text may be the version of a bot; ``VERSION_ACCEPTED`` is the rule in words."""
    return len(text) <= MAX_CHARACTERS and _VERSION.fullmatch(text) is not None


def letters_alike(text: str) -> str:
    """Return a form of a text of letters and digits that is equal for texts that look alike."""
    text = text.lower()
    for looks_like, letter in _ALIKE:
        text = text.replace(looks_like, letter)
    return text


_CYRILLIC = {
    0x430: "a", 0x435: "e", 0x43E: "o", 0x440: "p", 0x441: "c", 0x443: "y", 0x445: "x", 0x456: "i", 0x458: "j",
    0x455: "s", 0x501: "d", 0x410: "A", 0x412: "B", 0x415: "E", 0x41A: "K", 0x41C: "M", 0x41D: "H", 0x41E: "O",
    0x420: "P", 0x421: "C", 0x422: "T", 0x425: "X", 0x406: "I", 0x408: "J", 0x405: "S",
}  # fmt: skip
_GREEK = {
    0x3BF: "o", 0x3BD: "v", 0x3C1: "p", 0x391: "A", 0x392: "B", 0x395: "E", 0x396: "Z", 0x397: "H", 0x399: "I",
    0x39A: "K", 0x39C: "M", 0x39D: "N", 0x39F: "O", 0x3A1: "P", 0x3A4: "T", 0x3A5: "Y", 0x3A7: "X",
}  # fmt: skip


def in_latin(name: str) -> str:
    """Return a name with Latin letters in place of those of other scripts that look the same."""
    return unicodedata.normalize("NFKC", name).translate(_CYRILLIC | _GREEK)


def as_file_name(name: str) -> str:
    """Return a safe file name for a name: one in a store may be older than the rule, or come from another arena."""
    shown = "".join("_" if letter in "/\\" or not is_printable(letter) else letter for letter in name)
    return shown.lstrip(".-")[:MAX_CHARACTERS] or "_"


MAX_REASON_CHARACTERS = 500
REASON_ACCEPTED = f"expected 1 to {MAX_REASON_CHARACTERS} visible characters on one line"


def is_reason(text: str) -> bool:
    """Return whether a reason can be read: it is not empty, not too long, and has no invisible characters."""
    return bool(text.strip()) and len(text) <= MAX_REASON_CHARACTERS and is_printable_text(text)


def check_reason(reason: str) -> None:
    """Raise UsageError for a reason that is empty, too long, or has invisible characters."""
    expect(isinstance(reason, str), "reason", reason, "a str")
    if not is_reason(reason):
        raise UsageError(f"reason {shortened_text(reason)!r}: {REASON_ACCEPTED}")


def find_labels(text: str, known: Sequence[str]) -> list[str]:
    """Return the bots that ``name`` (all versions) or ``name@version`` means; UnknownNameError without one."""
    labels = [label for label in known if text in (label, label.rpartition("@")[0])]
    if not labels:
        raise UnknownNameError("bot", text, known)
    return labels
