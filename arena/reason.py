"""What a reason may be that is kept in a log and shown to others."""

from __future__ import annotations

from arena.errors import UsageError
from arena.names import is_visible_text
from arena.text import shortened_text

MAX_REASON_CHARACTERS = 500


def check_reason(reason: str) -> None:
    """Refuse a reason that nobody could read.

    Raises:
        UsageError: if it is empty, too long, or has invisible characters.
    """
    if not reason.strip() or len(reason) > MAX_REASON_CHARACTERS or not is_visible_text(reason):
        raise UsageError(
            f"reason {shortened_text(reason)!r}: expected 1 to {MAX_REASON_CHARACTERS} visible characters on one line"
        )
