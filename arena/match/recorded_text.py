"""What of a bot's text a record keeps: less where nothing went wrong, and no path of this machine."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from arena.base.records import Bot
from arena.base.shipped import package_directory

FAULTLESS_BYTES = 4096
"""Of stderr, in a match without a fault: its first and its last half."""

GAP = "\n[...]\n"
"""Between the beginning and the end of what was kept."""

_SYSTEM = {"/", "/usr", "/usr/local"}
_BOTS = "bots"
"""The directory of submitted bots in a home."""

_END = r"(?![\w-]|\.\w)"
"""Of a place: with more behind it, as ``/opt/python3`` has after ``/opt/python``, it is another one."""


def shortened_stderr(text: str) -> str:
    """Return what is kept of stderr if the match has no fault."""
    data, half = text.encode(errors="replace"), FAULTLESS_BYTES // 2
    if len(data) <= FAULTLESS_BYTES:
        return text
    return data[:half].decode(errors="ignore") + GAP + data[-half:].decode(errors="ignore")


class Places:
    """Where bots and the arena are on this machine: a record that others read does not say it."""

    def __init__(self, bots: Iterable[Bot]) -> None:
        """Note the places of the bots of a match, and what stands for each."""
        named = dict(_named(bots))
        self._named = sorted(named.items(), key=lambda pair: -len(pair[0]))

    def removed(self, text: str) -> str:
        """Return a text with paths as a reader elsewhere can use them: ``x.py`` for ``/home/me/bots/ab12/x.py``."""
        for place, name in self._named:
            whole = re.escape(place) + _END
            text = re.sub(whole + "/", f"{name}/" if name else "", text)
            text = re.sub(whole, name or ".", text)
        head, gap, tail = text.partition(GAP)
        return self._without_beginning(head) + gap + self._without_end(tail) if gap else text

    def _without_beginning(self, head: str) -> str:
        """Return a text without the beginning of a place at its end, where the middle was cut out."""
        ends = [place[:size] for place, _ in self._named for size in range(len(place), 1, -1)]
        return head.removesuffix(max(filter(head.endswith, ends), key=len, default=""))

    def _without_end(self, tail: str) -> str:
        """Return a text without the rest of a place at its beginning."""
        rests = [f"{place}/"[start:] for place, _ in self._named for start in range(1, len(place))]
        return tail.removeprefix(max(filter(tail.startswith, rests), key=len, default=""))


def _named(bots: Iterable[Bot]) -> Iterator[tuple[str, str]]:
    if sys.prefix not in _SYSTEM:
        yield sys.prefix.rstrip("/"), "<python>"
    yield str(package_directory()), "<arena>"
    for bot in bots:
        place = Path(bot.directory)
        if not place.is_absolute() or str(place) in _SYSTEM:
            continue
        if place.parent.name == _BOTS and str(place.parents[1]) not in _SYSTEM:
            yield str(place.parents[1]), "<home>"
        yield str(place), ""
