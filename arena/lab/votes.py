"""Votes between two sets of options of a game: kept in a file of the home, one a line, and counted."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from math import ceil, log, sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any

from arena.errors import StoreError, UsageError
from arena.folder import Folder
from arena.ratings.distributions import wilson_interval
from arena.stored import from_json_text, from_stored

VOTES = "votes"
"""The directory in a home."""

MAX_FILE_BYTES = 16 * 1024 * 1024
SHARE, POWER, LEVEL = 0.6, 0.8, 0.05
"""If 60 of 100 prefer one, enough votes say so with this probability; if 50 do, with the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """A vote: two matches were shown, and one of them was preferred.

    Attributes:
        voter: who voted; empty without a name.
        preferred: the game with its options that was preferred, as ``game_text`` writes it.
        other: the other one.
        matches: the tournament and the number of both matches, the preferred one first.
        at: UTC, ISO 8601.
    """

    voter: str
    preferred: str
    other: str
    matches: tuple[str, ...]
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What votes say of two sets of options.

    Attributes:
        first: votes for the first.
        second: votes for the second.
        voters: how many people have voted; those without a name are one.
    """

    first: int
    second: int
    voters: int

    @property
    def votes(self) -> int:
        """How many votes there are."""
        return self.first + self.second

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share that prefers the first (Wilson, 1927)."""
        if self.votes == 0:
            return 0.0, 1.0
        return wilson_interval(self.first / self.votes, self.votes, NormalDist().inv_cdf(1 - LEVEL / 2))

    @property
    def strength(self) -> tuple[float, float, float] | None:
        """The first one's Bradley-Terry strength less the second one's, with its interval; None without votes for both.

        Of two it is the logarithm of the odds: the first is preferred with probability 1 / (1 + exp(-strength)).
        """
        if not (self.first and self.second):
            return None
        low, high = self.interval
        return log(self.first / self.second), log(low / (1 - low)), log(high / (1 - high))

    @property
    def missing(self) -> int:
        """How many more votes are needed before they are judged."""
        return max(0, needed_votes() - self.votes)

    @property
    def is_decided(self) -> bool:
        """Whether there are enough votes, and their interval leaves out one half."""
        low, high = self.interval
        return self.missing == 0 and not low <= 0.5 <= high


def needed_votes(share: float = SHARE) -> int:
    """Return how many votes a test of one half needs to notice a share with the wanted power.

    >>> needed_votes()
    194
    """
    at_chance = NormalDist().inv_cdf(1 - LEVEL / 2) * 0.5
    at_share = NormalDist().inv_cdf(POWER) * sqrt(share * (1 - share))
    return ceil(((at_chance + at_share) / (share - 0.5)) ** 2)


def game_text(game: str, options: Mapping[str, Any]) -> str:
    """Return a game with all its options as a text.

    >>> game_text("differences", {"size": 6, "scoring": "once"})
    'differences scoring=once size=6'
    """
    return " ".join([game, *(f"{name}={value}" for name, value in sorted(options.items()))])


def tally(votes: Sequence[Vote], first: str, second: str) -> Tally:
    """Return what votes say of two games with options, each as ``game_text`` writes it."""
    pairs = [(vote.preferred, vote.other) for vote in votes]
    return Tally(
        first=pairs.count((first, second)),
        second=pairs.count((second, first)),
        voters=len({vote.voter for vote in votes}),
    )


def read_votes(directory: Path, first: str, second: str) -> list[Vote]:
    """Return the votes between two games with options, in either order.

    Args:
        directory: of the home.
        first: a game with its options.
        second: another one.

    Raises:
        StoreError: if the file is malformed.
    """
    name = _file_name(first, second)
    try:
        with Folder(directory / VOTES) as folder, folder.open(name) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (UsageError, OSError):
        return []
    where = f"{VOTES}/{name}"
    if len(data) > MAX_FILE_BYTES:
        raise StoreError(f"{where} is malformed: it has more than {MAX_FILE_BYTES:,} bytes")
    votes = []
    for number, line in enumerate(data.decode("ascii", "replace").splitlines(), 1):
        place = f"{where}: line {number}"
        vote = from_stored(Vote, from_json_text(line, place), place)
        if {vote.preferred, vote.other} != {first, second}:
            raise StoreError(f"{place} is malformed: it is a vote between others")
        votes.append(vote)
    return votes


def add_vote(directory: Path, vote: Vote) -> None:
    """Append a vote to the file of its two games with options.

    Raises:
        UsageError: if it can't be written.
    """
    path = directory / VOTES / _file_name(vote.preferred, vote.other)
    line = json.dumps(asdict(vote)).encode("ascii") + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
        try:
            os.write(descriptor, line)  # in one piece: votes of two processes do not mix
        finally:
            os.close(descriptor)
    except OSError as error:
        raise UsageError(f"{path}: can't be written: {error.strerror}") from error


def _file_name(first: str, second: str) -> str:
    both = "\n".join(sorted((first, second)))
    return f"{blake2b(both.encode(), digest_size=8).hexdigest()}.jsonl"
