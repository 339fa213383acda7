"""The disk on which a backup, or a home from one, is written."""

from __future__ import annotations

import shutil
from pathlib import Path

from arena.base.errors import UsageError
from arena.base.text import size_text

PIECE_BYTES = 2**20
"""Of a file that is copied, at once."""
SPARE_BYTES = 64 * 2**20
"""Left on the disk."""
REMOVAL_SECONDS = 600.0
"""To remove what was written, if it can't be finished."""


def require_space(directory: Path, size_bytes: int) -> None:
    """Raise UsageError if there is too little space for a file in a directory."""
    free_bytes = shutil.disk_usage(directory).free
    if size_bytes + SPARE_BYTES > free_bytes:
        raise UsageError(
            f"the disk has {size_text(free_bytes)} left, and the next file has {size_text(size_bytes)};"
            " nothing was kept of what was written"
        )
