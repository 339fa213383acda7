"""Which names the site answers to. A page elsewhere may give its own name our address, and then read what it asks for:
names that nobody has given us are refused.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.analysis.text.tables import printable
from arena.server.http.problems import Problem

LOCAL = ("localhost", "127.0.0.1", "::1")

_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<name>[^\[\]:/@\s]+))(?::\d{1,5})?")

MAX_HOST_CHARACTERS = 255


class Hosts:
    """The names that are answered to: those of this machine, the one it listens on, and those that are allowed."""

    def __init__(self, host: str = "127.0.0.1", allowed: Iterable[str] = ()) -> None:
        """Prepare to answer.

        Args:
            host: the name or address that is listened on. If it stands for all addresses of the machine, any address is
                answered to; no name becomes one.
            allowed: other names.
        """
        self._names = {_normal(name) for name in (*LOCAL, host, *allowed)}
        self._takes_any_address = _is_every_address(host)

    def has(self, header: str) -> bool:
        """Return whether the value of a ``Host`` header is a name that is answered to; its port may be any."""
        match = _HOST.fullmatch(header[: MAX_HOST_CHARACTERS + 1])
        if match is None:
            return False
        name = _normal(match["v6"] or match["name"])
        return name in self._names or (self._takes_any_address and _is_address(name))

    def guarding(self, app: ASGIApp, problem_response: Callable[[Request, Problem], Response]) -> ASGIApp:
        """Return an application that refuses other names.

        Args:
            app: answers the requests with a name that is right.
            problem_response: makes the response to others.
        """

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
            if len(given) == 1 and self.has(given[0]):
                await app(scope, receive, send)
                return
            response = problem_response(Request(scope), _refusal(given))
            await response(scope, receive, send)

        return guarded


def _refusal(given: list[str]) -> Problem:
    if len(given) != 1:
        return Problem(status=400, title="Which host?", error="The request needs one Host header.")
    host = printable(given[0][:MAX_HOST_CHARACTERS])
    error = f"This server is not {host!r}; its director can allow the name: arena serve --allowed-host NAME"
    return Problem(status=421, title="Not this host", error=error)


def _normal(name: str) -> str:
    """Return a name or an address in the one form in which it is compared."""
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


def _is_every_address(host: str) -> bool:
    return _is_address(host) and ipaddress.ip_address(host).is_unspecified
