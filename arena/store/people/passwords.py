"""Passwords: which are accepted, and their hashes by argon2id."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from arena.base.errors import UsageError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MIN_CHARACTERS = 10
MAX_CHARACTERS = 200
MIN_DIFFERENT = 5

ACCEPTED = (
    f"expected {MIN_CHARACTERS} to {MAX_CHARACTERS} characters, at least {MIN_DIFFERENT} of them different,"
    " that are not mostly the name"
)


def check_password(password: str, name: str) -> None:
    """Raise a UsageError, which never repeats the password, if it is guessed easily."""
    is_short = not MIN_CHARACTERS <= len(password) <= MAX_CHARACTERS
    without_name = password.lower().replace(name.lower(), "")
    if is_short or len(set(password)) < MIN_DIFFERENT or len(without_name) < MIN_CHARACTERS // 2:
        raise UsageError(f"the password is refused: {ACCEPTED}")


def hash_password(password: str) -> str:
    """Return what is stored of a password; takes about 50 ms and 64 MiB."""
    return _hasher().hash(password)


def is_right(password: str, stored: str | None) -> bool:
    """Return whether a password is the one whose hash is stored.

    It takes as long without a hash, so that the time does not show which names exist.
    """
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        _hasher().verify(stored or _hash_of_nothing(), password[:MAX_CHARACTERS])
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher()


@cache
def _hash_of_nothing() -> str:
    return hash_password("")
