"""Hosts that the site answers to, addresses of clients, and trusted proxies."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError
from arena.server.http.problems import Problem

# The site answers only to names that its director allows: else a page elsewhere could let its own name point to our
# address, and read the responses (DNS rebinding).

LOCAL = ("localhost", "127.0.0.1", "::1")

_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<name>[^\[\]:/@\s]+))(?::\d{1,5})?")

MAX_HOST_CHARACTERS = 255


class Hosts:
    """The names that the site answers to: those of this machine, the one it listens on, and the allowed ones."""

    def __init__(self, host: str = "127.0.0.1", allowed: Iterable[str] = ()) -> None:
        """Prepare to answer under the name that is listened on, and other allowed ones.

        A host that stands for all addresses of the machine allows any address, and no name.
        """
        self._names = {_normal(name) for name in (*LOCAL, host, *allowed)}
        self._takes_any_address = _is_address(host) and ipaddress.ip_address(host).is_unspecified

    def has(self, header: str) -> bool:
        """Return whether the site answers to the value of a ``Host`` header; any port will do."""
        match = _HOST.fullmatch(header[: MAX_HOST_CHARACTERS + 1])
        if match is None:
            return False
        name = _normal(match["v6"] or match["name"])
        return name in self._names or (self._takes_any_address and _is_address(name))

    def guarding(self, app: ASGIApp, problem_response: Callable[[Request, Problem], Response]) -> ASGIApp:
        """Return an application that passes requests for allowed names on, and answers others with a problem."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            host_headers = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
            if len(host_headers) == 1 and self.has(host_headers[0]):
                await app(scope, receive, send)
                return
            response = problem_response(Request(scope), _refusal(host_headers))
            await response(scope, receive, send)

        return guarded


def _refusal(host_headers: list[str]) -> Problem:
    if len(host_headers) != 1:
        return Problem(status=400, title="Which host?", error="The request needs one Host header.")
    host = printable(host_headers[0][:MAX_HOST_CHARACTERS])
    error = f"This server is not {host!r}; its director can allow the name: arena serve --allowed-host NAME"
    return Problem(status=421, title="Not this host", error=error)


def _normal(name: str) -> str:
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return name.rstrip(".").lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


# The address of a client, which its person sees, and its network, whose requests are counted.
#
# Streams stay open, so a rate of requests does not bound them; networks share a number of places instead.

Holder = TypeVar("Holder")

NETWORK_BITS = 64
"""Of an IPv6 address: whoever has one has all others of its network as well."""


def address_of(request: Request) -> str:
    """Return the address of the client in canonical form; "" if a proxy has sent no valid one."""
    try:
        address = ipaddress.ip_address(request.client.host if request.client is not None else "")
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or ipaddress.IPv6Address(int(address))  # without its zone
    return str(address)


def network_of(address: str) -> str:
    """Return the network by which requests from an address are counted.

    >>> network_of("2001:db8::1:2")
    '2001:db8::/64'
    """
    if ":" not in address:
        return address
    return str(ipaddress.IPv6Network((address, NETWORK_BITS), strict=False))


class Places(Generic[Holder]):
    """Places that networks share: when all are taken, a network gets a place from the one that has most.

    No fixed share is right for both a school behind one address and a site behind a proxy that was not named.
    """

    def __init__(self, end: Callable[[Holder], None]) -> None:
        self._end = end
        self._network_of: dict[Holder, str] = {}
        self._of_network: dict[str, dict[Holder, None]] = {}
        """The oldest first."""

    def __len__(self) -> int:
        return len(self._network_of)

    def make_room(self, network: str, most: int) -> bool:
        """Return whether a network can have one more place; the largest network may lose its newest one for it."""
        if len(self) < most:
            return True
        largest = max(self._of_network.values(), key=len, default={})
        if len(largest) <= len(self._of_network.get(network, ())) + 1:
            return False
        newest = next(reversed(largest))
        self.remove(newest)
        self._end(newest)
        return True

    def add(self, network: str, holder: Holder) -> None:
        """Give a place to a holder."""
        self._network_of[holder] = network
        self._of_network.setdefault(network, {})[holder] = None

    def remove(self, holder: Holder) -> None:
        """Take back a place, if it was not taken back before."""
        network = self._network_of.pop(holder, None)
        if network is not None:
            del self._of_network[network][holder]
            if not self._of_network[network]:
                del self._of_network[network]


# Only proxies that the director names are trusted about the address and the protocol of a client.


def checked_proxies(addresses: Iterable[str]) -> tuple[str, ...]:
    """Return the addresses or networks of proxies; raise UsageError if one of them is neither."""
    checked = []
    for address in addresses:
        try:
            checked.append(str(ipaddress.ip_network(address) if "/" in address else ipaddress.ip_address(address)))
        except ValueError:
            raise UsageError(
                f"--trusted-proxy {address!r}: expected an address or a network, such as 127.0.0.1 or 10.0.0.0/8"
            ) from None
    return tuple(checked)


def as_accepted(proxies: Iterable[str]) -> list[str]:
    """Return proxies with the form that IPv4 addresses have where a socket accepts both kinds, as ``--host ::`` does.

    >>> as_accepted(["10.0.0.0/8", "::1"])
    ['10.0.0.0/8', '::1', '::ffff:10.0.0.0/104']
    """
    ipv4 = [ipaddress.IPv4Network(one) for one in proxies if ":" not in one]
    return [*proxies, *(f"::ffff:{one.network_address}/{96 + one.prefixlen}" for one in ipv4)]
