"""Whether this machine can contain what strangers hand in: unpacked, built and run."""

from __future__ import annotations

from dataclasses import dataclass

from arena.base.errors import UsageError
from arena.sandbox.isolation.levels import choose_isolation, probe_level, why_no_groups
from arena.sandbox.isolation.sandbox_policy import Isolation


@dataclass(frozen=True, slots=True)
class Containment:
    """Whether uploads of strangers can be contained.

    Attributes:
        is_enough: whether they can.
        reason: why, in a sentence.
        isolation: the isolation that they would have; None without any.
    """

    is_enough: bool
    reason: str
    isolation: Isolation | None


def can_contain_uploads(wanted: str = "auto") -> Containment:
    """Return whether strangers may hand in bots: only where files, network and the sum of memory are confined.

    Args:
        wanted: the isolation that bots would have, as for ``choose_isolation``.
    """
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
        why = why_no_groups(probe_level(isolation.level))
        return Containment(False, f"uploads can't be contained: {why}", isolation)
    return Containment(True, f"uploads are contained: unpacked, built and run at {isolation.label}", isolation)
