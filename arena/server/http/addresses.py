"""Who may ask for what: hosts that the site answers to, addresses of clients, and the pages of paths."""

from __future__ import annotations

import ipaddress
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, unquote_to_bytes

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError, nearest, suggestion
from arena.base.machine import is_loopback
from arena.base.text import shortened_text
from arena.server.http.problems import Problem, bad_address
from arena.site.links import MAX_PATH_BYTES, MAX_QUERY_BYTES, SUFFIXES

# The site answers only to names that its director allows: else a page elsewhere could let its own name point to our
# address, and read the responses (DNS rebinding).

_log = logging.getLogger("arena.server")

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
        address = _address(host)
        self._takes_any_address = address is not None and address.is_unspecified

    def has(self, header: str) -> bool:
        """Return whether the site answers to the value of a ``Host`` header; any port will do."""
        match = _HOST.fullmatch(header[: MAX_HOST_CHARACTERS + 1])
        if match is None:
            return False
        name = _normal(match["v6"] or match["name"])
        return name in self._names or (self._takes_any_address and _address(name) is not None)

    def guarding(self, app: ASGIApp, problem_response: Callable[[Request, Problem], Response]) -> ASGIApp:
        """Return an application that passes requests for allowed names on, and answers others with a problem."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            host_headers = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
            if len(host_headers) == 1 and self.has(host_headers[0]):
                await app(scope, receive, send)
                return
            await problem_response(Request(scope), _refusal(host_headers))(scope, receive, send)

        return guarded


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def checked_hosts(names: Iterable[str]) -> tuple[str, ...]:
    """Return names and addresses of the site; raise UsageError if one of them could be in no ``Host`` header."""
    checked = tuple(names)
    for name in checked:
        if len(name) > MAX_HOST_CHARACTERS or not (_NAME.fullmatch(name) or _address(name)):
            raise UsageError(
                f"--allowed-host {shortened_text(name)!r}: expected a name or an address without https:// and port,"
                " such as arena.example.org"
            )
    return checked


def _refusal(host_headers: list[str]) -> Problem:
    if len(host_headers) != 1:
        return Problem(status=400, title="Which host?", error="The request needs one Host header.")
    host = printable(host_headers[0][:MAX_HOST_CHARACTERS])
    error = f"This server is not {host!r}; its operator can allow the name: arena serve --allowed-host NAME"
    return Problem(status=421, title="Not this host", error=error)


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    with suppress(ValueError):
        return ipaddress.ip_address(name)
    return None


def _normal(name: str) -> str:
    return str(_address(name) or name.rstrip(".").lower())


# The address of a client, which its person sees, and its network, whose requests are counted.
#
# Streams stay open, so a rate of requests does not bound them; networks share a number of places instead.

Holder = TypeVar("Holder")

NETWORK_BITS = 64
"""Of an IPv6 address: whoever has one has all others of its network as well."""


def address_of(request: Request) -> str:
    """Return the address of the client in canonical form; "" if a proxy has sent no valid one."""
    address = _address(request.client.host if request.client is not None else "")
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or ipaddress.IPv6Address(int(address))  # without its zone
    return str(address or "")


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


def warn_of_plain_http(host: str, proxies: Iterable[str]) -> None:
    """Log that nobody can sign in over the network where no proxy is named that speaks https."""
    if not is_loopback(host) and not list(proxies):
        _log.warning(
            "over the network nobody can sign in, for accounts need https: put a web server with a certificate in"
            " front, and name its address with --trusted-proxy (docs/operators.md, TLS)"
        )


def as_accepted(proxies: Iterable[str]) -> list[str]:
    """Return proxies with the form that IPv4 addresses have where a socket accepts both kinds, as ``--host ::`` does.

    >>> as_accepted(["10.0.0.0/8", "::1"])
    ['10.0.0.0/8', '::1', '::ffff:10.0.0.0/104']
    """
    ipv4 = [ipaddress.IPv4Network(one) for one in proxies if ":" not in one]
    return [*proxies, *(f"::ffff:{one.network_address}/{96 + one.prefixlen}" for one in ipv4)]


# From the path of a request, as it was sent, to a page and its parameters.


MAX_QUERY_FIELDS = 50

ROOMS = ("bots", "contests", "games", "guide", "leaderboards", "play", "tournaments")
"""The first parts of addresses that an error names, where there is such a page."""

_BROKEN_ESCAPE = re.compile(rb"%(?![0-9a-fA-F]{2})")

Target = TypeVar("Target")


@dataclass(frozen=True, slots=True)
class Match(Generic[Target]):
    """A target, the values of the fields in its path, and the suffix after it, such as ".json"."""

    target: Target
    fields: Mapping[str, str]
    suffix: str = ""


class Addresses(Generic[Target]):
    """Paths with fields in braces, each with a target."""

    def __init__(self, targets: Iterable[tuple[str, Target, bool]]) -> None:
        """Prepare a table of paths, their targets, and whether a suffix may follow."""
        self._by_length: dict[int, list[tuple[tuple[str, ...], Target, bool]]] = {}
        self._rooms: set[str] = set()
        for path, target, takes_suffix in targets:
            segments = tuple(path[1:].split("/"))
            self._by_length.setdefault(len(segments), []).append((segments, target, takes_suffix))
            if takes_suffix:
                self._rooms.add(segments[0])
        for paths in self._by_length.values():
            paths.sort(key=lambda entry: [segment.startswith("{") for segment in entry[0]])

    def find(self, raw_path: bytes) -> Match[Target]:
        """Return the match of a path as it was sent, without the query; raise ProblemError without one."""
        match = self._match(raw_path)
        if match is None:
            first = decoded(raw_path[1:].split(b"/")[0])
            rooms = [room for room in ROOMS if self.has(f"/{room}".encode())]
            near = first if first in self._rooms else nearest(first, rooms)
            hint = "the address has too many or too few parts" if first in self._rooms else suggestion(first, rooms)
            sentence = f"There is no page {shortened_text(decoded(raw_path))!r}: {hint}"
            raise bad_address(sentence, 404, *(f"/{room}" for room in ([near] if near else rooms) if room in rooms))
        return match

    def has(self, raw_path: bytes) -> bool:
        """Return whether something is at a path."""
        return self._match(raw_path) is not None

    def _match(self, raw_path: bytes) -> Match[Target] | None:
        if len(raw_path) > MAX_PATH_BYTES:
            raise bad_address(f"The address is longer than {MAX_PATH_BYTES} characters.", 414)
        if not raw_path.startswith(b"/"):
            raise bad_address("The address does not begin with a slash.")
        raw = raw_path[1:].split(b"/")
        suffix = next((candidate for candidate in SUFFIXES if raw[-1].endswith(candidate.encode())), "")
        with_suffix = [decoded(segment) for segment in raw]
        without_suffix = [*with_suffix[:-1], decoded(raw[-1].removesuffix(suffix.encode()))]
        for segments, target, takes_suffix in self._by_length.get(len(raw), ()):
            values = without_suffix if takes_suffix and suffix else with_suffix
            fields = _fields(segments, values, is_index=takes_suffix and bool(suffix))
            if fields is not None:
                return Match(target, fields, suffix if takes_suffix else "")
        return None


def _fields(segments: tuple[str, ...], values: list[str], is_index: bool) -> dict[str, str] | None:
    fields = {}
    for segment, value in zip(segments, values, strict=True):
        if segment.startswith("{"):
            if not value:
                return None
            fields[segment[1:-1]] = value
        elif value != ("index" if is_index and not segment else segment):
            return None
    return fields


def decoded(raw: bytes) -> str:
    """Return a part of an address as text; raise ProblemError unless it is UTF-8 with characters that names have."""
    if _BROKEN_ESCAPE.search(raw):
        raise bad_address("The address has a percent sign without two hexadecimal digits after it.")
    try:
        text = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise bad_address("The address is not UTF-8.") from None
    if "\0" in text:
        raise bad_address("The address has a NUL in it, which no name has.", 404)
    return text


def query_of(raw_query: bytes) -> dict[str, str]:
    """Return the fields of a query; raise ProblemError if it is no query, or has a field twice."""
    if len(raw_query) > MAX_QUERY_BYTES:
        raise bad_address(f"The address has more than {MAX_QUERY_BYTES} characters after the question mark.")
    decoded(raw_query)
    pairs = parse_qsl(raw_query.decode("ascii", "replace"), keep_blank_values=True)
    query = dict(pairs)
    if len(query) != len(pairs):
        raise bad_address("The address has a parameter twice after the question mark.")
    if len(query) > MAX_QUERY_FIELDS:
        raise bad_address(f"The address has more than {MAX_QUERY_FIELDS} parameters after the question mark.")
    return query
