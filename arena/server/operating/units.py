"""The systemd units of an arena, for one home and user: a socket, the site, what checks and plays, slice and target."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from arena.base.errors import UsageError
from arena.base.shipped import PREFIX, package_directory
from arena.server.operating.service_programs import WEB, WORK

WEB_SERVICE, WORK_SERVICE = f"arena-{WEB}.service", f"arena-{WORK}.service"
FIRST_LINE = "# Written by arena units."
NO_LADDER = "none"

UNSEEN = ("/home", "/root", "/run/user")
"""Where ``ProtectHome=yes`` lets a service see nothing."""

_PATH = re.compile(r"/[A-Za-z0-9/._+@:,=-]*")
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,30}")
_WORD = re.compile(r"[A-Za-z0-9/._:\[\]-]+")
_PLACE = re.compile(r"@([A-Z_]+)@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What the units of an arena differ in.

    Attributes:
        user: who runs it, and the name of the group.
        address: of the site, as ``HOST:PORT``.
        options: further options of the web process, each with its value.
        has_metrics: whether the web process listens for metrics itself, in addition to the socket that it is given.
        ladders: tournament files, absolute, or ``arena:NAME``.
        has_network: whether the store is on a server that is reached by network.
    """

    home: Path
    user: str
    address: str
    is_public: bool
    options: tuple[str, ...]
    play_slots: int
    has_metrics: bool
    ladders: tuple[str, ...]
    has_network: bool


def units(installation: Installation) -> dict[str, str]:
    """Return the units by name; raise UsageError if a value can't stand in a unit."""
    _check(installation)
    common = {"HOME": str(installation.home), "ADDRESS": installation.address}
    plain = {name: _filled(name, common) for name in ("arena.target", "arena.slice", "arena-web.socket")}
    public = ["--public"] if installation.is_public else []
    work = [word for ladder in installation.ladders or (NO_LADDER,) for word in ("--ladder", ladder)]
    work += ["--play-slots", str(installation.play_slots)]
    return plain | {
        WEB_SERVICE: _service(WEB_SERVICE, installation, [*public, *installation.options]),
        WORK_SERVICE: _service(WORK_SERVICE, installation, work),
    }


def _service(name: str, installation: Installation, options: Sequence[str]) -> str:
    has_network = installation.has_network or (name == WEB_SERVICE and installation.has_metrics)
    paths_used = (
        str(installation.home),
        sys.executable,
        sys.base_prefix,
        str(package_directory()),
        *installation.ladders,
    )
    values = {
        "ARENA": f"{shlex.quote(sys.executable)} -P -m arena",
        "FAMILIES": " AF_INET AF_INET6" if has_network else "",
        "GROUP": installation.user,
        "HOME": str(installation.home),
        "OPTIONS": "".join(f" {option}" for option in options),
        "PRIVATE_NETWORK": "no" if has_network else "yes",
        "PROTECT_HOME": "read-only" if any(path.startswith(UNSEEN) for path in paths_used) else "yes",
        "USER": installation.user,
    }
    return _filled(name, values)


def _filled(name: str, values: dict[str, str]) -> str:
    text = files("arena.server.operating").joinpath("units", name).read_text(encoding="utf-8")
    return _PLACE.sub(lambda place: values[place[1]], text)


def _check(installation: Installation) -> None:
    """Raise UsageError for what systemd would read as something else."""
    paths: Sequence[tuple[str, str]] = (
        ("--home", str(installation.home)),
        ("this Python", sys.executable),
        *(("--ladder", ladder) for ladder in installation.ladders if not ladder.startswith(PREFIX)),
    )
    for option, path in paths:
        if _PATH.fullmatch(path) is None:
            raise UsageError(
                f"{option} {path!r}: expected an absolute path of letters, digits and . _ + @ : , = - / alone"
            )
    if _USER.fullmatch(installation.user) is None:
        raise UsageError(f"--user {installation.user!r}: expected the name of a user of this machine, such as arena")
    for word in (installation.address, *installation.options):
        if _WORD.fullmatch(word) is None:
            raise UsageError(f"{word!r}: expected letters, digits and . _ : / [ ] - alone")
