"""What this machine has: ``/proc``, which confinement of bots needs; its cores; whether an address is its own."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable
from pathlib import Path

HAS_PROC = Path("/proc/self/stat").exists()
"""Whether the system shows its processes in ``/proc``; macOS does not."""


CAN_PIN = hasattr(os, "sched_setaffinity")
"""Whether a process can be pinned to a core."""


def available_cores() -> list[int]:
    """Return the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def run_on(cores: Iterable[int]) -> None:
    """Pin this process to some cores, where the system can; OSError if the process may not use them."""
    if CAN_PIN:
        os.sched_setaffinity(0, cores)


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("192.168.0.7")
    (True, True, False)
    """
    try:
        address = ipaddress.ip_address(host)
        return (getattr(address, "ipv4_mapped", None) or address).is_loopback
    except ValueError:
        return host.rstrip(".").lower() == "localhost"
