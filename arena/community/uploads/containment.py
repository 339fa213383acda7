"""Whether this machine can contain uploads of strangers, and the note of the checker about it."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from arena.base.errors import UsageError, failing_as
from arena.base.folder import replace_file
from arena.sandbox.isolation.levels import choose_isolation, groups_problem, probe_level
from arena.sandbox.isolation.sandbox_policy import Isolation


@dataclass(frozen=True, slots=True)
class Containment:
    """Whether this machine contains uploads of strangers, why, and the isolation they would have (None without any)."""

    is_enough: bool
    reason: str
    isolation: Isolation | None


def can_contain_uploads(wanted: str = "auto") -> Containment:
    """Return whether strangers may submit bots: only where files, network and the sum of memory are confined."""
    try:
        isolation = choose_isolation(wanted)
    except UsageError as error:
        return Containment(False, f"uploads can't be contained: {error}", None)
    if not isolation.confines_files:
        return Containment(
            False,
            f"uploads can't be contained: at the level {isolation.label} a bot can read the files of the arena and use"
            " the network; landlock or bubblewrap is needed",
            isolation,
        )
    if not isolation.groups:
        reason = groups_problem(probe_level(isolation.level))
        return Containment(False, f"uploads can't be contained: {reason}", isolation)
    return Containment(True, f"uploads are contained: unpacked, built and run at {isolation.label}", isolation)


# The checker notes its finding for the web process, which can't test the machine itself.

MAX_CHARACTERS = 2000
NO_CHECKER = "nothing is taken before the checker has begun its work: arena serve --only work"


def note_containment(directory: str | os.PathLike[str], refusal: str) -> None:
    """Note in a home why no uploads are checked here; "" if they are."""
    path = _note_path(directory)
    with failing_as(UsageError, f"{path}: can't be written"):
        replace_file(path, refusal.encode())


def noted_refusal(directory: str | os.PathLike[str]) -> str:
    """Return why the checker of a home checks nothing; "" if it does."""
    with contextlib.suppress(OSError), _note_path(directory).open(encoding="utf-8", errors="replace") as file:
        return file.read(MAX_CHARACTERS)
    return NO_CHECKER


def _note_path(directory: str | os.PathLike[str]) -> Path:
    return Path(directory) / "parts" / "containment"
