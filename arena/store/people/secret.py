"""Secrets that prove who somebody is. What is stored is a digest: whoever reads the database can't sign in with it.

A token is ``arena_``, 43 characters that stand for 256 random bits, and 6 of a checksum, by which programs that look
for leaked secrets can tell it from other text.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import zlib
from functools import cache
from typing import TYPE_CHECKING

from arena.base.errors import UsageError

if TYPE_CHECKING:
    from argon2 import PasswordHasher


TOKEN_PREFIX = "arena_"
SECRET_BYTES = 32

_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
_TOKEN = re.compile(rf"{TOKEN_PREFIX}([A-Za-z0-9_-]{{43}})([0-9a-z]{{6}})")


def new_secret() -> str:
    """Return 256 random bits, as 43 characters that an address can have."""
    return secrets.token_urlsafe(SECRET_BYTES)


def is_secret(text: str) -> bool:
    """Return whether a text has the form of a secret."""
    return _SECRET.fullmatch(text) is not None


def digest_of(secret: str) -> str:
    """Return what is stored of a secret. It has as many random bits as the digest, so a fast one is right."""
    return hashlib.sha256(secret.encode()).hexdigest()


def new_token() -> str:
    """Return a new token."""
    secret = new_secret()
    return f"{TOKEN_PREFIX}{secret}{_checksum(secret)}"


def is_token(text: str) -> bool:
    """Return whether a text is a token that somebody made, by its form and its checksum."""
    match = _TOKEN.fullmatch(text)
    return match is not None and _checksum(match[1]) == match[2]


def _checksum(secret: str) -> str:
    number = zlib.crc32(secret.encode())
    return "".join("0123456789abcdefghijklmnopqrstuvwxyz"[number // 36**place % 36] for place in range(6))


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
        raise UsageError(f"the password is rejected: {ACCEPTED}")


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
