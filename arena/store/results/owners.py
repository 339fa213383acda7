"""Whose bots are: of a bot that was handed in, the person; of any other, what its ``bot.toml`` says, as its words.

Tables name a bot by ``name@version``, which anybody may enter, so the digest of its files decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from arena.base.records import Bot


class OwnedBot(NamedTuple):
    """A bot that a person has handed in.

    Attributes:
        bot: ``name@version``.
        digest: of its files.
        person: whose it is; "" for somebody who has left.
    """

    bot: str
    digest: str
    person: str


class Authorship(NamedTuple):
    """Who wrote a bot, as far as that is known.

    Attributes:
        author: whose it is; without an owner, what its ``bot.toml`` says.
        words: what its ``bot.toml`` says, unless its owner has left.
        is_owned: whether a person has handed it in.
    """

    author: str = ""
    words: str = ""
    is_owned: bool = False

    @property
    def is_claimed(self) -> bool:
        """Whether the author is known by the words of the bot alone."""
        return bool(self.author) and not self.is_owned


@dataclass(frozen=True, slots=True)
class Owners:
    """Whose bots are.

    Attributes:
        by_bot: by ``name@version``.
    """

    by_bot: Mapping[str, OwnedBot] = field(default_factory=dict)

    def owner(self, label: str, digest: str) -> str | None:
        """Return whose a bot is: "" for somebody who has left, None for a bot that nobody has handed in.

        Args:
            label: ``name@version``.
            digest: of its files.
        """
        found = self.by_bot.get(label)
        return found.person if found is not None and found.digest == digest else None

    def authorship(self, bot: Bot) -> Authorship:
        """Return who wrote a bot."""
        owner = self.owner(bot.label, bot.digest)
        if owner is None and bot.submitted:  # under another name, which a tournament file gives it
            same = {one.person for one in self.by_bot.values() if one.digest == bot.digest}
            owner = next(iter(same)) if len(same) == 1 else None
        if owner is None:
            return Authorship(author=bot.author, words=bot.author)
        return Authorship(author=owner, words=bot.author if owner else "", is_owned=True)
