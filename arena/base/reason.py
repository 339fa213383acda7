"""What a reason may be that is kept in a log and shown to others."""

from __future__ import annotations

from arena.base.errors import UsageError
from arena.base.names import is_visible_text
from arena.base.text import shortened_text

MAX_REASON_CHARACTERS = 500
ACCEPTED = f"expected 1 to {MAX_REASON_CHARACTERS} visible characters on one line"


def is_reason(text: str) -> bool:
    """Return whether somebody could read it: it is not empty, not too long, and has no invisible characters."""
    return bool(text.strip()) and len(text) <= MAX_REASON_CHARACTERS and is_visible_text(text)


def check_reason(reason: str) -> None:
    """Refuse a reason that nobody could read.

    Raises:
        UsageError: if it is empty, too long, or has invisible characters.
    """
    if not is_reason(reason):
        raise UsageError(f"reason {shortened_text(reason)!r}: {ACCEPTED}")
