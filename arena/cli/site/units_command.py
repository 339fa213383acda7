"""``arena units``: the systemd units of an arena."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from arena.base.errors import UsageError
from arena.base.shipped import PREFIX, tournament_path
from arena.cli.site.serve_options import (
    allowed_hosts_option,
    check_reach,
    chosen_ladders,
    host_option,
    ladders_option,
    metrics_address_option,
    metrics_place,
    play_slots_option,
    port_option,
    public_option,
    trusted_proxies_option,
)
from arena.cli.terminal.global_options import global_option
from arena.cli.terminal.streams import OK
from arena.server.operating.units import FIRST_LINE, Installation, units
from arena.store.home import home_path

_OF_SYSTEMD = Path("/etc/systemd/system")


@click.command("units")
@click.argument("directory", metavar="DIRECTORY")
@click.option("--user", default="arena", show_default=True, metavar="NAME", help="The user who runs the arena.")
@host_option
@port_option
@public_option
@allowed_hosts_option
@ladders_option
@play_slots_option
@trusted_proxies_option
@metrics_address_option
def command(
    directory: str,
    user: str,
    host: str,
    port: int,
    public: bool,
    allowed_hosts: tuple[str, ...],
    ladders: tuple[str, ...],
    play_slots: int,
    trusted_proxies: tuple[str, ...],
    metrics_address: str | None,
) -> int:
    """Write systemd units, by which this installation serves a home to authors.

    There is a socket, a service for the site, one for what checks and plays, a slice and a target. DIRECTORY is
    /etc/systemd/system, or any other to look at them first; units that are there are replaced, and those removed that
    an earlier arena has written and this one does not need.
    """
    check_reach(host, public)
    if port == 0:
        raise UsageError("--port 0: the socket unit needs one that stays the same, such as 8000")
    from arena.server.http.proxies import checked_proxies

    proxies = checked_proxies(trusted_proxies)
    named = [("--allowed-host", name) for name in allowed_hosts] + [("--trusted-proxy", proxy) for proxy in proxies]
    if metrics_address is not None:
        if metrics_place(metrics_address, public)[1] == 0:
            raise UsageError(f"--metrics-address {metrics_address!r}: expected a port that is not 0")
        named.append(("--metrics-address", metrics_address))
    made = units(
        Installation(
            home=home_path(global_option("home")).resolve(),
            user=user,
            address=f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
            is_public=public,
            options=tuple(word for option in named for word in option),
            play_slots=play_slots,
            has_metrics=metrics_address is not None,
            ladders=tuple(map(_place, chosen_ladders(ladders))),
            has_network=global_option("store") is not None,
        )
    )
    for name, text in made.items():
        _write(Path(directory) / name, text)
    removed = list(_remove_earlier(Path(directory), made))
    first = "" if Path(directory).resolve() == _OF_SYSTEMD else f" Copy them to {_OF_SYSTEMD} first."
    click.echo(f"{len(made)} units are in {directory}.{first} To start the arena, now and with the machine:\n")
    if removed:
        click.echo(f"  systemctl stop {' '.join(removed)}")
    click.echo("  systemctl daemon-reload\n  systemctl enable --now arena.target arena-web.socket")
    return OK


def _remove_earlier(directory: Path, made: Mapping[str, str]) -> Iterator[str]:
    """Remove the services that an earlier arena has written here and this one has not; yield their names."""
    for path in sorted(directory.glob("arena-*.service")):
        if path.name not in made and path.read_text(encoding="utf-8", errors="replace").startswith(FIRST_LINE):
            path.unlink()
            yield path.name


def _place(ladder: str) -> str:
    """Return a ladder's file, as a service finds it."""
    if not tournament_path(ladder).is_file():
        raise UsageError(f"--ladder {ladder!r}: there is no such file")
    return ladder if ladder.startswith(PREFIX) else str(Path(ladder).resolve())


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: can't be written: {error.strerror}") from error
