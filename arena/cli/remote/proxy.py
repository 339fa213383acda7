"""The proxy that the environment names: $HTTPS_PROXY, $HTTP_PROXY or $ALL_PROXY, and $NO_PROXY for exceptions."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from arena.base.errors import UsageError
from arena.base.programs.loopback import is_loopback
from arena.cli.remote.site_address import SiteAddress

DEFAULT_PORT = 80
EXPECTED = "expected an address such as http://proxy.example.org:3128"


@dataclass(frozen=True, slots=True)
class Proxy:
    """What requests are sent through.

    Attributes:
        host: its name or address.
        port: its port.
        headers: by which it knows who asks.
    """

    host: str
    port: int
    headers: dict[str, str] = field(default_factory=dict, repr=False)


def proxy_for(site: SiteAddress) -> Proxy | None:
    """Return the proxy for a site; None for this machine, and where the environment names none.

    Raises:
        UsageError: if what it names is no proxy.
    """
    if is_loopback(site.host) or proxy_bypass(f"{site.host}:{site.port}"):
        return None
    proxies = getproxies()
    text = proxies.get(site.scheme) or proxies.get("all")
    return _parsed(text, site.scheme) if text else None


def _parsed(text: str, scheme: str) -> Proxy:
    name = f"the proxy in ${scheme.upper()}_PROXY or $ALL_PROXY"
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
        parts = urlsplit("")
    if parts.scheme != "http" or not host or not host.isprintable() or " " in host:
        raise UsageError(f"{name} can't be used; {EXPECTED}")  # it may hold a password, and is not shown
    headers = {}
    if parts.username is not None:
        secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {b64encode(secret.encode()).decode('ascii')}"
    return Proxy(host, port or DEFAULT_PORT, headers)
