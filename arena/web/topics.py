"""What readers of events can name: the arena, a tournament, a match. A topic is the path of its page."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

from arena.errors import UsageError
from arena.text import shortened_text

MAX_TOPICS = 20
"""Of a stream: a browser shares one among all its tabs."""

ACCEPTED = "expected arena, tournaments/NAME or tournaments/NAME/matches/NUMBER, separated by commas"

_MAX_MATCH = 2**31 - 1
"""As the pages of matches."""

_MAX_MATCH_DIGITS = len(str(_MAX_MATCH))
_MAX_ENCODED_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that changes.

    Attributes:
        tournament: the name of a tournament; None for all that is in the arena.
        match: the number of a match; None for the whole tournament.
    """

    tournament: str | None = None
    match: int | None = None

    @property
    def path(self) -> str:
        """Its name, in which a tournament's name is encoded as in an address."""
        if self.tournament is None:
            return "arena"
        path = f"tournaments/{quote(self.tournament, safe='')}"
        return path if self.match is None else f"{path}/matches/{self.match}"


ARENA = Topic()


def parse_topics(text: str) -> tuple[Topic, ...]:
    """Return the topics in a list with commas, each once.

    Raises:
        UsageError: if there are none or too many, or one is not the path of a topic.
    """
    parts = [part for part in text.split(",", MAX_TOPICS + 1) if part]
    if not parts:
        raise UsageError(f"no topics: {ACCEPTED}")
    if len(parts) > MAX_TOPICS:
        raise UsageError(f"too many topics: expected at most {MAX_TOPICS}")
    return tuple(dict.fromkeys(_parse_topic(part) for part in parts))


def _parse_topic(text: str) -> Topic:
    match text.split("/") if len(text) <= _MAX_ENCODED_CHARACTERS else []:
        case ["arena"]:
            return ARENA
        case ["tournaments", name] if name:
            return Topic(unquote(name))
        case ["tournaments", name, "matches", number] if name and _is_match(number):
            return Topic(unquote(name), int(number))
    raise UsageError(f"topic {shortened_text(text)!r}: {ACCEPTED}")


def _is_match(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _MAX_MATCH_DIGITS and 0 < int(text) <= _MAX_MATCH
