"""Where the signed result of a contest is. The process that answers requests imports it, so it loads nothing."""

from __future__ import annotations

from pathlib import Path

RESULTS = "results"


def result_path(home: Path, contest: str) -> Path:
    """Return where the result of a contest is, or would be: it can be made again.

    Args:
        home: the directory of the arena's home.
        contest: its name.
    """
    return home / "cache" / RESULTS / f"{contest}.zip"
