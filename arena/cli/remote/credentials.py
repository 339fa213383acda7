"""Addresses of sites, and the file with this user's tokens, one for each site, which only this user can read."""

from __future__ import annotations

import fcntl
import ipaddress
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from arena.base.errors import UsageError, failing_as
from arena.base.folder import replace_file
from arena.base.machine import is_loopback
from arena.base.stored import from_json_text, from_stored
from arena.base.text import shortened_text
from arena.store.people.secret import is_token

# The address of a site, in the normal form under which its token is stored.

DEFAULT_PORTS = {"https": 443, "http": 80}
EXAMPLE = "https://arena.example.org"
MAX_CHARACTERS = 300

_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?", re.ASCII)


@dataclass(frozen=True, slots=True)
class SiteAddress:
    scheme: str
    host: str
    port: int

    @property
    def netloc(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def is_private(self) -> bool:
        """Whether nobody else in the network can read what is sent."""
        return self.scheme == "https" or is_loopback(self.host)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.netloc}"


def site_address(text: str, may_be_plain: bool = False) -> SiteAddress:
    address = _parsed(text) if len(text) <= MAX_CHARACTERS and text.isprintable() and " " not in text else None
    if address is None:
        raise UsageError(f"site {shortened_text(text)!r}: expected an address such as {EXAMPLE}")
    if not address.is_private and not may_be_plain:
        raise UsageError(
            f"site {shortened_text(text)!r}: everybody on the way could read the token; expected https://,"
            " or --plain-http if the network is yours alone"
        )
    return address


def _parsed(text: str) -> SiteAddress | None:
    try:
        parts = urlsplit(text)
        port = parts.port
        host = _normal_host(parts.hostname or "")
    except ValueError:
        return None
    if parts.scheme not in DEFAULT_PORTS or host is None or port == 0:
        return None
    if parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc:
        return None
    return SiteAddress(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme])


def _normal_host(host: str) -> str | None:
    if ":" in host:
        return None if "%" in host else str(ipaddress.IPv6Address(host))
    name = host if host.isascii() else host.encode("idna").decode("ascii").lower()
    return name.rstrip(".") if _NAME.fullmatch(name) else None


# The file with this user's tokens, one for each site, which only this user can read.

FILE_VARIABLE = "ARENA_CREDENTIALS"
DIRECTORY_MODE = 0o700
OTHERS = 0o077
MAX_SITES = 100
MAX_FILE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Credential:
    site: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Contents:
    sites: tuple[Credential, ...]


def credentials_path() -> Path:
    """Return where the file is: $ARENA_CREDENTIALS, or arena/credentials.json in $XDG_CONFIG_HOME or ~/.config."""
    file = os.environ.get(FILE_VARIABLE)
    if file:
        return Path(file)
    base = os.environ.get("XDG_CONFIG_HOME", "")
    try:
        directory = Path(base) if Path(base).is_absolute() else Path.home() / ".config"
    except RuntimeError as error:
        raise UsageError(f"there is no home directory for credentials; set ${FILE_VARIABLE} to a file") from error
    return directory / "arena" / "credentials.json"


class Credentials:
    def __init__(self) -> None:
        self._path = Path(os.path.realpath(credentials_path()))

    def all(self) -> list[Credential]:
        """Return all that is in the file, by address; nothing if there is no file."""
        data = self._read()
        return _credentials_in(data, str(self._path)) if data is not None else []

    def find(self, site: SiteAddress) -> str | None:
        return next((credential.token for credential in self.all() if credential.site == str(site)), None)

    def put(self, site: SiteAddress, token: str) -> None:
        with self._locked():
            others = [credential for credential in self.all() if credential.site != str(site)]
            if len(others) >= MAX_SITES:
                raise UsageError(f"{self._path}: it has {MAX_SITES} sites, as many as it may; sign out of one first")
            self._write([*others, Credential(str(site), token)])

    def remove(self, site: SiteAddress) -> None:
        with self._locked():
            self._write([credential for credential in self.all() if credential.site != str(site)])

    def _read(self) -> bytes | None:
        with failing_as(UsageError, str(self._path)):
            try:
                descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)  # a FIFO would be waited for
            except FileNotFoundError:
                return None
            try:
                self._check(os.fstat(descriptor))
                return os.read(descriptor, MAX_FILE_BYTES)
            finally:
                os.close(descriptor)

    def _check(self, about: os.stat_result) -> None:
        if not stat.S_ISREG(about.st_mode):
            raise UsageError(f"{self._path}: this is no file")
        if about.st_uid != os.geteuid():
            raise UsageError(f"{self._path}: it belongs to another user; set ${FILE_VARIABLE} to a file of yours")
        if about.st_mode & OTHERS:
            raise UsageError(f"{self._path}: others can read it; take that from them with: chmod 600 {self._path}")
        if about.st_size > MAX_FILE_BYTES:
            raise UsageError(f"{self._path}: it is longer than {MAX_FILE_BYTES:,} bytes")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other programs from writing, by a lock on the directory."""
        with failing_as(UsageError, str(self._path)):
            self._path.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
            descriptor = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _write(self, credentials: list[Credential]) -> None:
        """Replace the file at once; the new one is readable only for its owner from the beginning."""
        contents = _Contents(tuple(sorted(credentials, key=lambda credential: credential.site)))
        with failing_as(UsageError, str(self._path)):
            replace_file(self._path, f"{json.dumps(asdict(contents), indent=2)}\n".encode(), is_synced=True)


def _credentials_in(data: bytes, where: str) -> list[Credential]:
    try:
        text = data.decode()
    except ValueError as error:
        raise UsageError(f"{where}: expected text in UTF-8") from error
    contents = from_stored(_Contents, from_json_text(text, where), where)
    if len(contents.sites) > MAX_SITES:
        raise UsageError(f"{where}: it has more than {MAX_SITES} sites")
    for credential in contents.sites:
        if str(site_address(credential.site, may_be_plain=True)) != credential.site or not is_token(credential.token):
            raise UsageError(
                f"{where}: its entry for the site {credential.site!r:.80} is malformed; sign in there again"
            )
    return list(contents.sites)
