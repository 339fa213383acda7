"""The files of the arena, and the user's directory for what the arena computes from them."""

from __future__ import annotations

import contextlib
import functools
import os
from hashlib import blake2b
from pathlib import Path

from arena.base.errors import UnknownNameError, UsageError
from arena.base.version import __version__

# The files of the arena: its code, and the example bots, example tournaments and pages of documentation with it.
#
# ``arena:greedy`` is an example bot wherever a bot is named, and ``arena:quickstart`` an example tournament wherever a
# tournament file is. An installed package has the files inside itself, a checkout next to the package.
#
# No other module uses ``__file__``, so modules can be moved to another room.

PREFIX = "arena:"


def package_directory() -> Path:
    """Return the directory of this package."""
    return Path(__file__).parents[__name__.count(".") - 1]


def path_of(name: str) -> Path:
    """Return the file of a module of this package, or the directory of a room, by its dotted name."""
    path = package_directory().joinpath(*name.split(".")[1:])
    return path if path.is_dir() else path.with_suffix(".py")


@functools.cache
def code_digest() -> str:
    """Return the digest of the version, and of names, sizes and times of all Python files of this package.

    Keys of cached values have it: a value may depend on any module. A process computes it once, as it loads its code.
    """
    digest = blake2b(__version__.encode(), digest_size=16)
    package = os.fspath(package_directory())
    waiting = [package]
    while waiting:
        with os.scandir(waiting.pop()) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
        for entry in entries:
            if entry.name.endswith(".py"):
                with contextlib.suppress(FileNotFoundError):  # a link of an editor, to nothing
                    status = entry.stat()
                    name = entry.path.removeprefix(package)
                    digest.update(f"\0{name}\0{status.st_size}\0{status.st_mtime_ns}".encode())
            elif entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
    return digest.hexdigest()


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
    """Return the directory of the example bot ``arena:NAME``, or raise UnknownNameError; other texts are paths."""
    return _path("bot", text, example_bots())


def example_hint(text: str | os.PathLike[str]) -> str:
    """Return the end of a sentence about a bot that is not there: the example bot that may be meant, if any."""
    name = os.path.basename(text)  # noqa: PTH119 - takes text and paths alike
    return f"; did you mean '{PREFIX}{name}'?" if name in example_bots() else ""


def tournament_path(text: str | os.PathLike[str]) -> Path:
    """Return the file of the example tournament ``arena:NAME``, or raise UnknownNameError; other texts are paths."""
    return _path("tournament", text, example_tournaments())


def protocol_text() -> str:
    """Return the text of protocol.md."""
    return _files("protocol.md").read_text(encoding="utf-8")


def documents() -> dict[str, Path]:
    """Return the pages of the documentation, in Markdown, by their places in the checkout, as ``docs/time.md``."""
    root = _files("")
    paths = [root / name for name in ("README.md", "protocol.md", "SECURITY.md", "bots/README.md")]
    paths += [path for path in sorted(root.glob("docs/**/*.md")) if path.parent.name != "repository"]  # they include
    return {path.relative_to(root).as_posix(): path for path in paths if path.is_file()}


def _files(name: str) -> Path:
    package = package_directory().resolve()
    installed = package / "shipped_files"
    return (installed if installed.is_dir() else package.parent) / name


def _path(kind: str, text: str | os.PathLike[str], path_of_example: dict[str, Path]) -> Path:
    name = os.fspath(text)
    if not name:
        raise UsageError(f"{kind} '': expected a path, such as . for this directory, or {PREFIX}NAME")
    if not name.startswith(PREFIX):
        return Path(name)
    if name.removeprefix(PREFIX) not in path_of_example:
        raise UnknownNameError(kind, name, sorted(f"{PREFIX}{example}" for example in path_of_example))
    return path_of_example[name.removeprefix(PREFIX)]


# The user's cache directory of the arena: kernels and tables, all of which can be computed again.

CACHE_VARIABLE = "ARENA_CACHE"
"""The environment variable that says where it is, instead of ``$XDG_CACHE_HOME/arena``, for bots that may read it."""

KERNELS, TABLES = "kernels", "tables"


def cache_directory() -> Path | None:
    """Return the directory, there or not: in ``$XDG_CACHE_HOME``, or ``~/.cache``; None if this user has no home."""
    chosen = os.environ.get(CACHE_VARIABLE, "")
    if chosen.startswith("/"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base.startswith("/"):  # a relative one counts as unset
        return Path(base) / "arena"
    try:
        return Path.home() / ".cache" / "arena"
    except RuntimeError:
        return None
