"""The files that come with the arena: example bots, example tournaments and protocol.md.

``arena:greedy`` is an example bot wherever a bot is named, and ``arena:quickstart`` an example tournament wherever a
tournament file is. An installed package has the files inside itself, a checkout beside the package.
"""

from __future__ import annotations

import os
from pathlib import Path

from arena.errors import UnknownNameError

PREFIX = "arena:"

_PACKAGE = Path(__file__).resolve().parent


def example_bots() -> dict[str, Path]:
    """Return the directories of the example bots by name."""
    return {file.parent.name: file.parent for file in sorted(_files("bots").glob("*/bot.toml"))}


def is_example_bot(directory: str) -> bool:
    """Return whether this is the directory of an example bot, where it came with the arena."""
    return Path(directory).resolve() in [path.resolve() for path in example_bots().values()]


def example_tournaments() -> dict[str, Path]:
    """Return the files of the example tournaments by name."""
    return {file.stem: file for file in sorted(_files("tournaments").glob("*.toml"))}


def bot_path(text: str | os.PathLike[str]) -> Path:
    """Return the directory of the example bot ``arena:NAME``; any other text is a path already.

    Raises:
        UnknownNameError: if there is no such example bot.
    """
    return _path("bot", text, example_bots())


def example_hint(text: str | os.PathLike[str]) -> str:
    """Return the end of a sentence about a bot that is not there: the example bot that may be meant, if any."""
    name = os.path.basename(text)  # noqa: PTH119 - takes text and paths alike
    return f"; did you mean '{PREFIX}{name}'?" if name in example_bots() else ""


def tournament_path(text: str | os.PathLike[str]) -> Path:
    """Return the file of the example tournament ``arena:NAME``; any other text is a path already.

    Raises:
        UnknownNameError: if there is no such example tournament.
    """
    return _path("tournament", text, example_tournaments())


def protocol_text() -> str:
    """Return the text of protocol.md."""
    return _files("protocol.md").read_text(encoding="utf-8")


def _files(name: str) -> Path:
    installed = _PACKAGE / "shipped_files"
    return (installed if installed.is_dir() else _PACKAGE.parent) / name


def _path(kind: str, text: str | os.PathLike[str], known: dict[str, Path]) -> Path:
    name = os.fspath(text)
    if not name.startswith(PREFIX):
        return Path(name)
    if name.removeprefix(PREFIX) not in known:
        raise UnknownNameError(kind, name, sorted(f"{PREFIX}{example}" for example in known))
    return known[name.removeprefix(PREFIX)]
