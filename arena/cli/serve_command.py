"""``arena serve``: the site."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.common import open_home
from arena.cli.global_options import global_option
from arena.cli.group import INTERRUPTED, OK
from arena.cli.options import WholeNumber
from arena.errors import UsageError
from arena.loopback import is_loopback
from arena.shipped import PREFIX

if TYPE_CHECKING:
    import socket

NEEDED = ("starlette", "uvicorn", "httptools", "argon2", "python_multipart")

AUTHORS, VISITORS = "authors", "visitors"
OPEN_LADDER = "arena:open_ladder"
MAX_PLAY_SLOTS = 200


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="HOST", help="The address to listen on.")
@click.option("--port", type=WholeNumber(0, 65535), default=8000, show_default=True, help="The port; 0 for any.")
@click.option("--open", "is_opened", is_flag=True, help="Open the first page in a browser.")
@click.option("--public", is_flag=True, help="Allow an address that other machines can reach.")
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="A name under which the site is reached; repeatable.",
)
@click.option(
    "--open-to",
    "open_to",
    type=click.Choice([VISITORS, AUTHORS]),
    default=VISITORS,
    show_default=True,
    help="Who may enter: visitors only look; authors have accounts.",
)
@click.option(
    "--ladder",
    "ladders",
    multiple=True,
    metavar="FILE",
    help=f"A ladder that submitted bots enter; repeatable [default: {OPEN_LADDER}].",
)
@click.option(
    "--play-slots",
    "play_slots",
    type=WholeNumber(0, MAX_PLAY_SLOTS),
    default=4,
    show_default=True,
    help="How many may play against bots at once, with --open-to authors; 0 for nobody.",
)
@click.option(
    "--trusted-proxy",
    "trusted_proxies",
    multiple=True,
    metavar="ADDRESS",
    help="A proxy whose X-Forwarded headers are believed; repeatable.",
)
def command(
    host: str,
    port: int,
    is_opened: bool,
    public: bool,
    allowed_hosts: tuple[str, ...],
    open_to: str,
    ladders: tuple[str, ...],
    play_slots: int,
    trusted_proxies: tuple[str, ...],
) -> int:
    """Show tournaments, bots and matches in a browser, live while they are played.

    Looking needs no account, and changes nothing. Everybody who reaches HOST can see everything in the home, so other
    machines only reach it with `--public`.

    With `--open-to authors` people sign in, hand in bots, and the bots enter the ladders by themselves. The first
    account is made by `arena people add`.
    """
    _require_packages()
    from arena.web.hosts import Hosts

    if not public and not is_loopback(host):
        raise UsageError(
            f"--host {host!r}: other machines may reach it, and would see everything; add --public to allow it"
        )
    from arena.web.app import Site
    from arena.web.events import Events
    from arena.web.opened_home import OpenedHome
    from arena.web.people.opened_people import OpenedPeople
    from arena.web.proxies import checked_proxies
    from arena.web.server import listen, serve

    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    store = global_option("store")
    proxies = checked_proxies(trusted_proxies)
    files = _checked_ladders(ladders or (OPEN_LADDER,)) if open_to == AUTHORS else ()
    home = OpenedHome(global_option("home"), store)
    people = OpenedPeople(global_option("home"), store, files, play_slots) if open_to == AUTHORS else None
    try:
        with listen(host, port) as listening:
            address = _address(host, listening)
            site = Site(
                home,
                hosts=Hosts(host, allowed_hosts),
                store=store,
                events=Events(home),
                endpoints=people.endpoints if people is not None else (),
                links=people.links if people is not None else None,
                services=people.services if people is not None else (),
            )
            is_interrupted = serve(site, listening, lambda: _say(address, is_opened), proxies)
            return INTERRUPTED if is_interrupted else OK
    finally:
        if people is not None:
            people.close()
        home.close()


def _checked_ladders(files: Sequence[str]) -> tuple[str, ...]:
    """Return where ladders are, from any working directory; without a home, one is made."""
    from arena.ladders.open_ladder import OpenLadder

    with open_home() as home:
        for file in files:
            OpenLadder(file, home)
    return tuple(file if file.startswith(PREFIX) else str(Path(file).resolve()) for file in files)


def _require_packages() -> None:
    from importlib.util import find_spec

    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(f"arena serve needs the package {missing[0]}; try: pip install 'grid-arena[web]'")


def _address(host: str, listening: socket.socket) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}/"


def _say(address: str, is_opened: bool) -> None:
    click.echo(f"The arena is at {address} (Ctrl-C ends it)")
    if is_opened:
        click.launch(address)
