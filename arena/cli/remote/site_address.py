"""The address of a site, in the one form by which it is remembered."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from arena.base.errors import UsageError
from arena.base.programs.loopback import is_loopback
from arena.base.text import shortened_text

DEFAULT_PORTS = {"https": 443, "http": 80}
EXAMPLE = "https://arena.example.org"
MAX_CHARACTERS = 300

_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?", re.ASCII)


@dataclass(frozen=True, slots=True)
class SiteAddress:
    """Where a site is.

    Attributes:
        scheme: "https" or "http".
        host: a name or an address, in lower case.
        port: the port.
    """

    scheme: str
    host: str
    port: int

    @property
    def netloc(self) -> str:
        """The host, and the port if it is another one than is usual."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def is_private(self) -> bool:
        """Whether nobody on the way can read what is sent."""
        return self.scheme == "https" or is_loopback(self.host)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.netloc}"


def site_address(text: str, may_be_plain: bool = False) -> SiteAddress:
    """Return the address of a site from a text.

    Args:
        text: such as "https://arena.example.org".
        may_be_plain: whether other machines may be asked without encryption.

    Raises:
        UsageError: if it is no such address, or tokens would be sent to another machine without encryption.
    """
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
    if parts.scheme not in DEFAULT_PORTS or host is None or port == 0 or _has_more(parts):
        return None
    return SiteAddress(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme])


def _has_more(parts: SplitResult) -> bool:
    return bool(parts.path.strip("/") or parts.query or parts.fragment) or "@" in parts.netloc


def _normal_host(host: str) -> str | None:
    """Return a name in the form in which it is looked up, or an address; None if it is neither."""
    if ":" in host:
        return None if "%" in host else str(ipaddress.IPv6Address(host))
    name = host if host.isascii() else host.encode("idna").decode("ascii").lower()
    return name.rstrip(".") if _NAME.fullmatch(name) else None
