"""The signature of an arena on a folder: Ed25519 over the manifest, whose digests cover everything else.

The signature is 64 bytes in a file, the public key a PEM file, so that other programs can check them as well.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from arena.base.errors import StoreError, UsageError, failing_as
from arena.base.folder import read_ordinary
from arena.base.text import shortened_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SIGNATURE = "manifest.json.sig"
PUBLIC_KEY = "arena_key.pem"
SIGNATURE_FILES = (SIGNATURE, PUBLIC_KEY)
"""What a signed folder has beside its manifest."""

KEYS = "keys"
KEY_FILE = f"{KEYS}/signing_key.pem"
"""In the home."""

SIGNATURE_BYTES = 64
MAX_KEY_BYTES = 4096
_PREFIX = "ed25519:"
_TEXT = re.compile(rf"{_PREFIX}[0-9a-f]{{64}}")
_NEEDED = "signatures need the package cryptography; try: pip install 'grid-arena[web]'"


class PublicKey:
    """Checks signatures; ``text`` is the key in one line, by which people compare it."""

    def __init__(self, key: Ed25519PublicKey) -> None:
        self._key = key
        self.text = f"{_PREFIX}{key.public_bytes_raw().hex()}"

    @property
    def pem(self) -> bytes:
        """The key as a file."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        data: bytes = self._key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return data

    def has_signed(self, data: bytes, signature: bytes) -> bool:
        """Return whether a signature is that of these bytes by this key."""
        from cryptography.exceptions import InvalidSignature

        try:
            self._key.verify(signature, data)
        except InvalidSignature:
            return False
        return True


class SigningKey:
    """The private key of an arena."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @property
    def public(self) -> PublicKey:
        """The public key, with which its signatures are checked."""
        return PublicKey(self._key.public_key())

    def sign(self, data: bytes) -> bytes:
        """Return the signature of bytes."""
        signature: bytes = self._key.sign(data)
        return signature


def can_sign() -> bool:
    """Return whether the package that signs is installed."""
    from importlib.util import find_spec

    return find_spec("cryptography") is not None


def signing_key(directory: Path) -> SigningKey:
    """Return the key of the arena in a home; makes one the first time.

    Raises:
        StoreError: if the file is no such key, or is not readable or writable.
        UsageError: if the package that signs is not installed.
    """
    _require_cryptography()
    path = directory / KEY_FILE
    with failing_as(StoreError, f"{path}: the key can't be kept here"):
        if not path.exists():
            _make_key(path)
        data = _read(path)
    return SigningKey(_private_key(path, data))


def _make_key(path: Path) -> None:
    """Write a new key, all at once; if another process was quicker, its key stays."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    data = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent) as file:  # which only its owner can read
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(file.name, path)


def _private_key(path: Path, data: bytes) -> Ed25519PrivateKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(data, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise StoreError(f"{path}: expected an Ed25519 key in PEM, without a password")
    return key


def public_key(text: str) -> PublicKey:
    """Return a public key: ``ed25519:`` and 64 digits, or the path of a PEM file; UsageError if it is neither."""
    _require_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if _TEXT.fullmatch(text):
        return PublicKey(Ed25519PublicKey.from_public_bytes(bytes.fromhex(text.removeprefix(_PREFIX))))
    try:
        key = pem_key(_read(Path(text)))
    except (OSError, ValueError):  # also of a name that no file can have
        key = None
    if key is None:
        raise UsageError(
            f"key {shortened_text(text)!r}: expected {_PREFIX} and 64 hexadecimal digits, or a PEM file with an"
            " Ed25519 public key"
        )
    return key


def pem_key(data: bytes) -> PublicKey | None:
    """Return the public key in a PEM file; None without one."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm):
        return None
    return PublicKey(key) if isinstance(key, Ed25519PublicKey) else None


def _read(path: Path) -> bytes:
    return read_ordinary(path, MAX_KEY_BYTES)


def _require_cryptography() -> None:
    if not can_sign():
        raise UsageError(_NEEDED)
