"""Which proxies are believed when they say for whom they ask, and by what protocol: those that are named."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from arena.base.errors import UsageError


def checked_proxies(addresses: Iterable[str]) -> tuple[str, ...]:
    """Return the addresses or networks of proxies.

    Raises:
        UsageError: if one of them is neither.
    """
    checked = []
    for address in addresses:
        try:
            checked.append(str(ipaddress.ip_network(address) if "/" in address else ipaddress.ip_address(address)))
        except ValueError:
            raise UsageError(
                f"--trusted-proxy {address!r}: expected an address or a network, such as 127.0.0.1 or 10.0.0.0/8"
            ) from None
    return tuple(checked)
