"""Seeds that are the same on every machine: hashes of their purpose, never the state of a generator."""

from __future__ import annotations

from hashlib import blake2b


def derived_seed(*parts: object) -> int:
    """Return a number from 0 to 2**63 - 1 that depends on all ``parts``."""
    text = "\0".join(str(part) for part in parts).encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 1


def pick_below(limit: int, *parts: object) -> int:
    """Return a number from 0 to ``limit`` - 1 that depends on all ``parts``; the bias is below limit / 2**63."""
    return derived_seed(*parts) % limit
