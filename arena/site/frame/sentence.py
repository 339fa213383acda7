"""A sentence that names bots."""

from __future__ import annotations

from collections.abc import Iterator

from arena.site.frame.model import Model


class NamedBot(Model):
    """A bot as a sentence names it.

    Attributes:
        label: ``name@version``.
        name: what the sentence has.
        start: where the name begins in the sentence.
    """

    label: str
    name: str
    start: int


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
        end = 0
        for bot in self.bots:
            yield self.text[end : bot.start]
            yield bot
            end = bot.start + len(bot.name)
        yield self.text[end:]

    def followed_by(self, between: str, other: Sentence) -> Sentence:
        """Return this sentence, a text, and another one, as one."""
        text = self.text + between
        moved = (bot.model_copy(update={"start": bot.start + len(text)}) for bot in other.bots)
        return Sentence(text=text + other.text, bots=(*self.bots, *moved))
