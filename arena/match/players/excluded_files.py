"""What lies in a bot's directory and is no part of the bot, for whoever submits it to know."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from arena.match.players.bot_files import left_out_as

MAX_ENTRIES = 20_000
"""The number of files and directories that are examined; a bot may not have more."""

MAX_NAMES = 12
"""The number of names that are shown."""

LIBRARY_NAMES = frozenset({".venv", "node_modules"})
"""What a bot may have wanted to bring along."""


def describe_left_out(directory: Path) -> list[str]:
    """Return sentences that name what a copy of a bot's directory leaves out; none if it leaves out nothing.

    Args:
        directory: the bot's; for anything else there are no sentences.
    """
    counts = _left_out(directory)
    if not counts:
        return []
    names = [name if count == 1 else f"{name} ({count} times)" for name, count in sorted(counts.items())]
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    sentences = [f"left out, as no part of the bot: {', '.join(names[:MAX_NAMES])}{more}"]
    libraries = sorted(name for name in LIBRARY_NAMES if f"{name}/" in counts)
    if libraries:
        sentences.append(
            f"{' and '.join(libraries)}: made for one place, so the bot can't use it from its copy;"
            " docs/dependencies.md has ways to bring libraries along"
        )
    return sentences


def _left_out(directory: Path) -> Counter[str]:
    """Count what is left out, by its name or, for what is no file, its path. No link is followed."""
    counts: Counter[str] = Counter()
    waiting = [directory] if directory.is_dir() else []
    entries = 0
    while waiting and entries < MAX_ENTRIES:
        try:
            with os.scandir(waiting.pop()) as inside:
                for entry in inside:
                    entries += 1
                    if entries > MAX_ENTRIES:
                        break
                    is_directory = entry.is_dir(follow_symlinks=False)
                    if pattern := left_out_as(entry.name):
                        counts[(pattern if "*" in pattern else entry.name) + "/" * is_directory] += 1
                    elif is_directory:
                        waiting.append(Path(entry.path))
                    elif not entry.is_file():
                        what = "a link to no file" if entry.is_symlink() else "not a file"
                        counts[f"{Path(entry.path).relative_to(directory)} ({what})"] += 1
        except OSError:  # what can't be read is refused when it is copied
            continue
    return counts
