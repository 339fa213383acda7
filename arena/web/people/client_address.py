"""From where it is asked: the address that is shown to the person, and the network whose requests are counted."""

from __future__ import annotations

import ipaddress

from starlette.requests import Request

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
