"""A sentence that names bots."""

from __future__ import annotations

from collections.abc import Iterator

from arena.site.models.model import Model


class NamedBot(Model):
    """A bot as a sentence names it.

    Attributes:
        label: ``name@version``.
        name: what the sentence has.
    """

    label: str
    name: str


class Sentence(Model):
    """A sentence that names bots.

    Attributes:
        text: the whole sentence.
        bots: those it names, in the order they occur.
    """

    text: str
    bots: tuple[NamedBot, ...] = ()

    def parts(self) -> Iterator[str | NamedBot]:
        """Yield the pieces of the sentence: texts, and the bots between them."""
        rest = self.text
        for bot in self.bots:
            before, found, after = rest.partition(bot.name)
            if found:
                yield before
                yield bot
                rest = after
        yield rest
