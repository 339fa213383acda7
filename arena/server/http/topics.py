"""What readers of events can name: all there is, a tournament, a match, a bot, two bots, a game, the contests.

A topic is the path of its page, but for that of all there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from urllib.parse import quote, unquote

from arena.base.errors import UsageError
from arena.base.text import shortened_text

MAX_TOPICS = 20
"""Of a stream: a browser shares one among all its tabs."""

ACCEPTED = (
    "expected arena, tournaments/NAME, tournaments/NAME/matches/NUMBER, bots/NAME, bots/NAME/versus/RIVAL,"
    " games/NAME or contests, separated by commas"
)

ARENA_LOG = "a"
"""The log that counts all changes."""

CONTESTS_LOG = "k"
"""What stands in cursors for how contests are."""

_MAX_MATCH = 2**31 - 1
"""As the pages of matches."""

_MAX_MATCH_DIGITS = len(str(_MAX_MATCH))
_MAX_ENCODED_CHARACTERS = 2_000


@dataclass(frozen=True)
class Topic:
    """Something that changes.

    Attributes:
        tournament: the name of a tournament; None for all that the others leave.
        match: the number of a match; None for the whole tournament.
        bots: the names of one bot or two, with or without versions: the tournaments that all of them entered.
        game: the name of a game: the tournaments in which it is played.
        is_contests: whether it is what everybody may know of contests, which are in no tournament.
    """

    tournament: str | None = None
    match: int | None = None
    bots: tuple[str, ...] = ()
    game: str | None = None
    is_contests: bool = False

    @cached_property
    def path(self) -> str:
        """Its name, in which other names are encoded as in an address."""
        if self.tournament is not None:
            path = f"tournaments/{_quoted(self.tournament)}"
            return path if self.match is None else f"{path}/matches/{self.match}"
        if self.game is not None:
            return f"games/{_quoted(self.game)}"
        if self.is_contests:
            return "contests"
        return f"bots/{'/versus/'.join(map(_quoted, self.bots))}" if self.bots else "arena"

    @cached_property
    def counter(self) -> str:
        """The name in cursors of what counts the changes of several tournaments together; not for one tournament."""
        if self.is_contests:
            return CONTESTS_LOG
        return ARENA_LOG if self == ARENA else f"c{blake2b(self.path.encode(), digest_size=6).hexdigest()}"


def _quoted(name: str) -> str:
    return quote(name, safe="")


ARENA = Topic()
CONTESTS = Topic(is_contests=True)


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
        case ["contests"]:
            return CONTESTS
        case ["tournaments", name] if name:
            return Topic(unquote(name))
        case ["tournaments", name, "matches", number] if name and _is_match(number):
            return Topic(unquote(name), int(number))
        case ["bots", name] if name:
            return Topic(bots=(unquote(name),))
        case ["bots", name, "versus", rival] if name and rival:
            return Topic(bots=(unquote(name), unquote(rival)))
        case ["games", name] if name:
            return Topic(game=unquote(name))
    raise UsageError(f"topic {shortened_text(text)!r}: {ACCEPTED}")


def _is_match(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _MAX_MATCH_DIGITS and 0 < int(text) <= _MAX_MATCH
