"""Small pieces of sentences: counts with their nouns, and values as a TOML file shows them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, time
from typing import Any

MAX_SHOWN_CHARACTERS = 80


def counted(count: int, noun: str) -> str:
    """Return a count with its noun in the singular or plural.

    >>> counted(1, "match"), counted(1200, "match"), counted(0, "entry")
    ('1 match', '1,200 matches', '0 entries')
    """
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a regular noun."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in ("a", "e", "o", "u"):
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def size_text(size_bytes: int) -> str:
    """Return a size as a text: in MiB from 10 MiB on, in bytes below.

    >>> size_text(1000), size_text(2048 * 1024 * 1024)
    ('1,000 bytes', '2048 MiB')
    """
    return f"{size_bytes / 2**20:.0f} MiB" if size_bytes >= 10 * 2**20 else f"{size_bytes:,} bytes"


def short_size_text(size_bytes: int) -> str:
    """Return a size as a short text.

    >>> short_size_text(0), short_size_text(900), short_size_text(1500 * 1024), short_size_text(3 * 1024**3)
    ('0 KiB', '1 KiB', '1.5 MiB', '3.0 GiB')
    """
    kib = size_bytes / 2**10
    if kib < 1000:
        return f"{math.ceil(kib)} KiB"
    return f"{kib / 2**10:.1f} MiB" if kib < 1000 * 2**10 else f"{kib / 2**20:.1f} GiB"


def score_text(score: float) -> str:
    """Return a score with at most two decimals.

    >>> score_text(9), score_text(9.0), score_text(75.614), score_text(0.5)
    ('9', '9', '75.61', '0.5')
    """
    return f"{score:.2f}".rstrip("0").rstrip(".")


def halves_text(value: float) -> str:
    """Return points with quarters and halves as fractions.

    >>> halves_text(2.5), halves_text(0.5), halves_text(3), halves_text(0)
    ('2½', '½', '3', '0')
    """
    whole, rest = divmod(value, 1)
    fraction = {0.25: "¼", 0.5: "½", 0.75: "¾"}.get(rest)
    return score_text(value) if fraction is None else f"{int(whole) or ''}{fraction}"


def rate_text(per_second: float) -> str:
    """Return how fast matches are played.

    >>> rate_text(18.2), rate_text(2.25), rate_text(0.2)
    ('18 a second', '2.2 a second', '12 a minute')
    """
    if per_second < 1:
        return f"{60 * per_second:.0f} a minute" if per_second >= 1 / 6 else f"{60 * per_second:.1f} a minute"
    return f"{per_second:.0f} a second" if per_second >= 10 else f"{per_second:.1f} a second"


def duration_text(seconds: float) -> str:
    """Return a duration in a few characters.

    >>> duration_text(7.4), duration_text(750), duration_text(7200), duration_text(9000), duration_text(400_000)
    ('7 s', '12 min', '2 h', '2.5 h', '4.6 days')
    """
    for unit_seconds, unit in ((86400, "days"), (3600, "h")):
        if seconds >= 2 * unit_seconds:
            return f"{round(seconds / unit_seconds, 1):g} {unit}"
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"


def minute_text(time: str) -> str:
    """Return a stored time to the minute, as people read it.

    >>> minute_text("2026-01-31T12:00:59+00:00")
    '2026-01-31 12:00'
    """
    return time[:16].replace("T", " ")


def any_of(values: Sequence[object]) -> str:
    """Return values as a choice of one.

    >>> any_of(["wall", "cpu"]), any_of([1]), any_of(["run", "auto", "freeze"])
    ("'wall' or 'cpu'", '1', "'run', 'auto' or 'freeze'")
    """
    texts = [repr(str(value)) if isinstance(value, str) else repr(value) for value in values]
    return " or ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def all_of(texts: Sequence[str]) -> str:
    """Return texts as a list in a sentence.

    >>> all_of(["a", "b", "c"]), all_of(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def shortened_text(text: str, characters: int = MAX_SHOWN_CHARACTERS) -> str:
    """Return a text cut to a length, by default one that fits into a sentence."""
    return text if len(text) <= characters else f"{text[: characters - 1]}…"


def json_value(value: Any) -> str:
    """Return a value of JSON as JSON has it, cut to a length for a sentence; a text is quoted as elsewhere.

    >>> json_value("a"), json_value(None), json_value({"on": [1, True]})
    ("'a'", 'null', '{"on": [1, true]}')
    """
    return shortened_text(repr(value) if isinstance(value, str) else json.dumps(value, default=str))


def json_kind(value: object) -> str:
    """Return in words what a value of JSON is.

    >>> json_kind({}), json_kind(None), json_kind(2.5)
    ('an object', 'null', 'a number')
    """
    if isinstance(value, Mapping):
        return "an object"
    kinds = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def toml_value(value: Any) -> str:
    """Return a value in TOML syntax, cut to a length that fits into a sentence.

    >>> toml_value({"at": date(2020, 1, 1), "on": True, "names": ["a", "it's"]})
    '{ at = 2020-01-01, on = true, names = [\\'a\\', "it\\'s"] }'
    """
    return shortened_text(_whole(value, MAX_SHOWN_CHARACTERS))


def _whole(value: Any, room: int) -> str:
    """Return the text of a value; of long and of deep ones at least the first ``room`` characters."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value[: room + 1])
    if isinstance(value, date | time):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, int):
        return str(value) if abs(value) < 10**room else f"a number of more than {room} digits"
    if room <= 0 and isinstance(value, dict | list):
        return "…"
    if isinstance(value, dict):
        pairs = [f"{name} = {_whole(inner, room // 2)}" for name, inner in list(value.items())[:room]]
        return "{ " + ", ".join(pairs) + " }" if pairs else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(_whole(inner, room // 2) for inner in value[:room]) + "]"
    return str(value)


def toml_text(value: Any) -> str:
    """Return a text, number or truth value, or a list or table of them, in TOML syntax, to be read again.

    >>> print(toml_text({"size": 4, "names": ["it's", "b"], "on": True}))
    { "size" = 4, "names" = ["it's", "b"], "on" = true }

    Raises:
        ValueError: if there is a null in it, which TOML does not have.
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_basic(name)} = {toml_text(inner)}" for name, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_text, value)) + "]"
    if isinstance(value, str):
        return _basic(value)
    if value is None:
        raise ValueError("TOML has no null")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # inf or nan, where JSON has other words
    return json.dumps(value)  # of numbers and truth values, which TOML writes alike


def _basic(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _quoted(text: str) -> str:
    if "'" in text or not text.isprintable():
        return _basic(text)
    return f"'{text}'"
