"""The systemd units of an arena: a socket, a service for each part, a slice and a target, for one home and one user."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from arena.errors import UsageError
from arena.operating.parts import PARTS, Part
from arena.shipped import PREFIX, package_directory

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
        home: an absolute path.
        user: who runs it, and the name of the group.
        address: where the site listens, as ``HOST:PORT``.
        is_public: whether others reach that address.
        options: further options of the web process, each with its value.
        play_slots: how many may play against bots at once.
        has_metrics: whether the web process listens for metrics itself, beside the socket that it is given.
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
    """Return the units by name.

    Raises:
        UsageError: if a value can't stand in a unit.
    """
    _check(installation)
    services = dict(_services(installation))
    names = ["arena-web.socket", *services]
    common = {"HOME": str(installation.home), "ADDRESS": installation.address, "UNITS": " ".join(names)}
    plain = {name: _filled(name, common) for name in ("arena.target", "arena.slice", "arena-web.socket")}
    return plain | services


def _services(installation: Installation) -> Iterator[tuple[str, str]]:
    for part in PARTS:
        if not part.is_per_ladder:
            yield f"arena-{part.name}.service", _service(part, installation, _options(part, installation))
            continue
        for ladder in installation.ladders:
            name = re.sub(r"[^A-Za-z0-9_.]+", "-", Path(ladder.removeprefix(PREFIX)).stem)
            yield f"arena-{part.name}-{name}.service", _service(part, installation, f" --ladder {ladder}")


def _options(part: Part, installation: Installation) -> str:
    if part.option == "play_slots":
        return f" --play-slots {installation.play_slots}"
    if part.module:
        return ""
    options = [*(["--public"] if installation.is_public else []), *installation.options]
    return "".join(f" {option}" for option in options)


def _service(part: Part, installation: Installation, options: str) -> str:
    is_web = not part.module
    has_network = installation.has_network or (is_web and installation.has_metrics)
    places = (str(installation.home), sys.executable, sys.base_prefix, str(package_directory()), *installation.ladders)
    values = {
        "ARENA": f"{shlex.quote(sys.executable)} -P -m arena",
        "CPU_WEIGHT": str(part.cpu_weight),
        "FAMILIES": " AF_INET AF_INET6" if has_network else "",
        "GROUP": installation.user,
        "HOME": str(installation.home),
        "OPTIONS": options,
        "PART": part.name,
        "PRIVATE_NETWORK": "no" if has_network else "yes",
        "PROTECT_HOME": "read-only" if any(place.startswith(UNSEEN) for place in places) else "yes",
        "SUMMARY": part.summary,
        "USER": installation.user,
    }
    return _filled("arena-web.service" if is_web else "arena-part.service", values)


def _filled(name: str, values: dict[str, str]) -> str:
    text = files("arena.operating").joinpath("units", name).read_text(encoding="utf-8")
    return _PLACE.sub(lambda place: values[place[1]], text)


def _check(installation: Installation) -> None:
    """Raise UsageError for what systemd would read as something else."""
    places: Sequence[tuple[str, str]] = (
        ("--home", str(installation.home)),
        ("this Python", sys.executable),
        *(("--ladder", ladder) for ladder in installation.ladders if not ladder.startswith(PREFIX)),
    )
    for what, place in places:
        if _PATH.fullmatch(place) is None:
            raise UsageError(
                f"{what} {place!r}: expected an absolute path of letters, digits and . _ + @ : , = - / alone"
            )
    if _USER.fullmatch(installation.user) is None:
        raise UsageError(f"--user {installation.user!r}: expected the name of a user of this machine, such as arena")
    for word in (installation.address, *installation.options):
        if _WORD.fullmatch(word) is None:
            raise UsageError(f"{word!r}: expected letters, digits and . _ : / [ ] - alone")
    names = [Path(ladder.removeprefix(PREFIX)).stem for ladder in installation.ladders]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--ladder: two files are called {name!r}, and so would be their units")
