"""Secrets that prove who somebody is. What is stored is a digest: whoever reads the database can't sign in with it.

A token is ``arena_``, 43 characters that stand for 256 random bits, and 6 of a checksum, by which programs that look
for leaked secrets can tell it from other text.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import zlib

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
