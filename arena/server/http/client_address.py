"""From where it is asked: the address that is shown to the person, and the network whose requests are counted.

Streams stay open, so that counting requests does not bound them: networks share their places.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Generic, TypeVar

from starlette.requests import Request

Holder = TypeVar("Holder")

NETWORK_BITS = 64
"""Of an IPv6 address: whoever has one has all others of its network as well."""


def address_of(request: Request) -> str:
    """Return the address that asks, in its one form; "" for what is no address, as a proxy may say."""
    try:
        address = ipaddress.ip_address(request.client.host if request.client is not None else "")
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or ipaddress.IPv6Address(int(address))  # without its zone
    return str(address)


def network_of(address: str) -> str:
    """Return under which name requests from an address are counted.

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
        """Begin with nobody.

        Args:
            end: ends what has lost its place.
        """
        self._end = end
        self._network_of: dict[Holder, str] = {}
        self._of_network: dict[str, dict[Holder, None]] = {}
        """In the order in which they came."""

    def __len__(self) -> int:
        return len(self._network_of)

    def make_room(self, network: str, most: int) -> bool:
        """Return whether there is a place for one more of a network; the newest of the largest one may lose its own.

        Args:
            network: who asks.
            most: how many places there are.
        """
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
        """Give a place to somebody."""
        self._network_of[holder] = network
        self._of_network.setdefault(network, {})[holder] = None

    def remove(self, holder: Holder) -> None:
        """Take back a place, if it was not taken back before."""
        network = self._network_of.pop(holder, None)
        if network is not None:
            del self._of_network[network][holder]
            if not self._of_network[network]:
                del self._of_network[network]
