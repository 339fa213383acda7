"""Two recordings beside each other: the same change on many pages is one difference."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import takewhile
from pathlib import Path
from urllib.parse import unquote

MAX_LINE = 240
MAX_ADDRESSES = 3


@dataclass
class Difference:
    """A change, wherever it is.

    Attributes:
        before: a line with it, or "".
        after: what became of the line, or "".
        addresses: where it is, each as often as it is there.
    """

    before: str
    after: str
    addresses: list[str] = field(default_factory=list)


def compare(old: Path, new: Path) -> list[Difference]:
    """Return the differences, the most frequent first."""
    found: dict[tuple[str, str], Difference] = {}
    texts = [{str(path.relative_to(root)): path for path in root.rglob("*") if path.is_file()} for root in (old, new)]
    for name in sorted(texts[0].keys() | texts[1].keys()):
        address = unquote(name)
        if name not in texts[0] or name not in texts[1]:
            shown = ("(is there)", "(is missing)") if name in texts[0] else ("(was missing)", "(is there)")
            key = (shown[1], re.sub(r"\d+", "#", address.partition("?")[0]))
            found.setdefault(key, Difference(*shown)).addresses.append(address)
            continue
        before, after = (side[name].read_text().split("\n") for side in texts)
        if before != after:
            for pair in _changed(before, after):
                found.setdefault(_key(*pair), Difference(*pair)).addresses.append(address)
    return sorted(found.values(), key=lambda one: -len(one.addresses))


def _changed(before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each line that has changed with what became of it."""
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=len(before) > 5000).get_opcodes():
        if tag == "replace" and j - i == m - k:
            yield from zip(before[i:j], after[k:m], strict=True)
        elif tag != "equal":
            yield from ((line, "") for line in before[i:j])
            yield from (("", line) for line in after[k:m])


def _key(before: str, after: str) -> tuple[str, str]:
    """Return the words that have changed, with any number alike."""
    sides = [re.findall(r"\w+|\W", line) for line in (before, after)]
    begin = _common(*sides)
    sides = [words[begin:] for words in sides]
    end = _common(*(words[::-1] for words in sides))
    first, second = (re.sub(r"\d+", "#", "".join(words[: len(words) - end])) for words in sides)
    return first, second


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how many items two sequences begin with alike."""
    return sum(1 for _ in takewhile(bool, (one == other for one, other in zip(first, second, strict=False))))


def printed(differences: list[Difference], has_all: bool = False) -> Iterator[str]:
    """Yield the lines that show differences."""
    for one in differences:
        places: dict[str, int] = defaultdict(int)
        for address in one.addresses:
            places[address] += 1
        shown = list(places)[: None if has_all else MAX_ADDRESSES]
        more = f" and {len(places) - len(shown)} more" if len(places) > len(shown) else ""
        yield f"{len(one.addresses)}× at {', '.join(shown)}{more}"
        begin = max(0, _common(one.before, one.after) - MAX_LINE // 2)
        yield f"  - {one.before[begin : begin + MAX_LINE]}"
        yield f"  + {one.after[begin : begin + MAX_LINE]}"
    count = sum(len(one.addresses) for one in differences)
    yield f"{len(differences)} differences, {count} lines and addresses"
