"""Builds sentences that name bots."""

from __future__ import annotations

from collections.abc import Mapping

from arena.site.frame.sentence import NamedBot, Sentence

_FIRST, _LAST = "\x02", "\x03"
"""Around names while a sentence is made; in names themselves they are not kept."""


def marked(name: str) -> str:
    """Return a name for a sentence that is still to be made."""
    return f"{_FIRST}{_unmarked(name)}{_LAST}"


def sentence(text: str, labels: Mapping[str, str]) -> Sentence:
    """Return a sentence.

    Args:
        text: with marked names.
        labels: ``name@version`` by name.
    """
    known = {_unmarked(name): label for name, label in labels.items()}
    plain, *pieces = text.split(_FIRST)
    bots = []
    for piece in pieces:
        name, _, rest = piece.partition(_LAST)
        bots.append(NamedBot(label=known[name], name=name, start=len(plain)))
        plain += name + rest
    return Sentence(text=plain, bots=tuple(bots))


def _unmarked(name: str) -> str:
    return name.replace(_FIRST, "").replace(_LAST, "")
