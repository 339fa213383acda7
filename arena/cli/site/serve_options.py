"""Options of commands by which the site is served."""

from __future__ import annotations

from collections.abc import Sequence

import click

from arena.base.errors import UsageError
from arena.base.programs.loopback import is_loopback
from arena.cli.terminal.options import WholeNumber

OPEN_LADDER = "arena:open_ladder"
NO_LADDER = "none"

host_option = click.option(
    "--host", default="127.0.0.1", show_default=True, metavar="HOST", help="The address to listen on."
)

port_option = click.option(
    "--port", type=WholeNumber(0, 65535), default=8000, show_default=True, help="The port; 0 for any."
)

public_option = click.option("--public", is_flag=True, help="Allow an address that other machines can reach.")

allowed_hosts_option = click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="A name under which the site is reached; repeatable.",
)

ladders_option = click.option(
    "--ladder",
    "ladders",
    multiple=True,
    metavar="FILE",
    help=f"A ladder that submitted bots enter; repeatable, or {NO_LADDER!r} [default: {OPEN_LADDER}].",
)


def chosen_ladders(files: Sequence[str]) -> Sequence[str]:
    """Return the files of the ladders that are played.

    Raises:
        UsageError: if none is to be played, and others are named.
    """
    if NO_LADDER not in files:
        return files or (OPEN_LADDER,)
    others = [file for file in files if file != NO_LADDER]
    if others:
        raise UsageError(f"--ladder {NO_LADDER}: no ladder is played, so leave out --ladder {others[0]}")
    return ()


trusted_proxies_option = click.option(
    "--trusted-proxy",
    "trusted_proxies",
    multiple=True,
    metavar="ADDRESS",
    help="A proxy whose X-Forwarded headers are believed; repeatable.",
)


MAX_PLAY_SLOTS = 200
MAX_PORT = 65535

play_slots_option = click.option(
    "--play-slots",
    "play_slots",
    type=WholeNumber(0, MAX_PLAY_SLOTS),
    default=4,
    show_default=True,
    help="How many may play against bots at once, where authors may enter; 0 for nobody.",
)

metrics_address_option = click.option(
    "--metrics-address",
    metavar="HOST:PORT",
    help="Numbers for Prometheus at http://HOST:PORT/metrics; not on the site itself.",
)


def metrics_place(address: str, is_public: bool) -> tuple[str, int]:
    """Return the host and the port of an address for metrics.

    Raises:
        UsageError: if it has another form, or other machines can reach it and that is not wanted.
    """
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not (port.isascii() and port.isdigit()) or int(port[:6]) > MAX_PORT:
        raise UsageError(f"--metrics-address {address!r}: expected HOST:PORT, such as 127.0.0.1:9100")
    if not is_public and not is_loopback(host):
        raise UsageError(
            f"--metrics-address {address!r}: other machines may reach it, and metrics are for operators;"
            " add --public to allow it"
        )
    return host, int(port)


def check_reach(host: str, is_public: bool) -> None:
    """Raise UsageError for an address that other machines can reach, unless that is wanted."""
    if not is_public and not is_loopback(host):
        raise UsageError(
            f"--host {host!r}: other machines may reach it, and would see everything; add --public to allow it"
        )
