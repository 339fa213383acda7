"""What was printed or served, as lines that can be compared: HTML without layout, JSON with a line for each value."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

ATTRIBUTES = ("href", "src", "action", "name", "value", "content", "title", "alt", "aria-label", "placeholder")
INLINE = {"a", "abbr", "b", "bdi", "code", "em", "i", "img", "input", "kbd", "mark", "small", "span", "strong", "sub"}
INLINE |= {"sup", "time", "tspan", "var", "wbr"}
CELLS = {"td", "th"}


class _Page(HTMLParser):
    """Collects the text and the addresses of a page.

    Attributes:
        lines: of text; what an attribute says is in brackets.
        links: to other pages.
        forms: the addresses that its forms are sent to.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.links: list[str] = []
        self.forms: list[str] = []
        self._line, self._skipped = "", ""
        self.feed(text)
        self._end_line()

    def _end_line(self) -> None:
        if line := " ".join(self._line.split()):
            self.lines.append(line)
        self._line = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in CELLS:
            self._line += " | "
        elif tag not in INLINE:
            self._end_line()
        values = {name: value or "" for name, value in attrs}
        if tag in ("script", "style"):
            self._skipped = "json" if "json" in values.get("type", "") else tag
        self._line += "".join(f" [{name}={values[name]}] " for name in ATTRIBUTES if values.get(name))
        if tag in ("a", "link", "img") and (link := values.get("href") or values.get("src")):
            self.links.append(link)
        if tag == "form" and values.get("method", "").lower() == "post":
            self.forms.append(values.get("action", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._skipped = ""
        if tag not in INLINE and tag not in CELLS:
            self._end_line()

    def handle_data(self, data: str) -> None:
        if self._skipped == "json":
            self.lines += _of_json(data) or []
        elif not self._skipped:
            self._line += data


def page_of(text: str) -> _Page:
    return _Page(text)


def _values(value: Any, path: str) -> Iterator[str]:
    """Yield a line for each value; places in lists are left out, so that an item more is one difference."""
    if isinstance(value, dict) and value:
        for key in sorted(value):
            yield from _values(value[key], f"{path}.{key}" if path else key)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for item in value:
            yield f"{path}[]"
            yield from _values(item, f"{path}[]")
    else:
        yield f"{path}: {json.dumps(value, ensure_ascii=False)}"


def _of_json(text: str) -> list[str] | None:
    """Return the lines of a JSON value, or of several below each other; None if it is neither."""
    try:
        try:
            return list(_values(json.loads(text), ""))
        except ValueError:
            return [line for one in text.splitlines() for line in [*_values(json.loads(one), ""), ""]]
    except ValueError:
        return None


def lines_of(data: bytes, kind: str = "") -> list[str]:
    """Return the lines of something, whose kind is a type or a name with a suffix."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ["(not a text)"]  # pictures and archives, whose bytes vary with libraries
    if "html" in kind or "xml" in kind or "atom" in kind or kind.endswith(".svg"):
        return page_of(text).lines
    if "javascript" in kind or kind.endswith((".js", ".css")) or "css" in kind:
        return ["(a file of the package)"]
    if text.lstrip().startswith(("{", "[")) and (lines := _of_json(text)) is not None:
        return [*lines, f"digest: {sha256(data).hexdigest()}"] if kind.endswith(".jsonl") else lines
    return text.splitlines()


RULES = [
    (r"(127\.0\.0\.1|localhost):\d+", "HOST", "any port that is free"),
    (r"(?<=/static/)[0-9a-f]{8,}", "DIGEST", "of files of the package, which change with their layout"),
    (r"\b(in |less than )?(about )?[\d.,]+ (second|minute|hour|day|week|month|year)s?( ago| left)", "AGE", "the clock"),
    (r"(?<![\w-])[\w-]{43}(?![\w-])", "SECRET", "tokens and links are random"),
    (r"\barena-[\w]+-\w{8}\b", "TEMPORARY", "names of temporary files"),
    (r".*Another arena on this machine plays on .*", "", "whatever else runs on the machine"),
    (r'"pid": \d+|process(es)? \d+', "PROCESS", "numbers of processes"),
]
"""What differs between two recordings of one version: pattern, replacement, reason."""

MEASURED = [
    (r"((?:seconds|bytes|cpu|wall|_ms|_at|load|memory)[\w.\[\]]*: ).*", r"\1MEASURED", "values of JSON"),
    (r"[\d.,]+ ?(?:µs|us|ms|s|min|KiB|MiB|GiB|kB|MB|B|bytes|matches/s|a second)\b", "MEASURED", "values in a text"),
    (r"\b\d+:\d\d(:\d\d)?\b", "MEASURED", "durations"),
]
"""What differs as well where matches are played or the machine is measured while it is recorded."""

TIME = re.compile(r"(20\d\d-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(?:Z|\+00:00| UTC)?")
EPOCH = re.compile(r"\b1[789]\d{8}(?:\.\d+)?\b")


class Normaliser:
    """Replaces what differs between recordings of one version.

    Attributes:
        checkout: the directory of the version, which paths in messages begin with.
    """

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self._since = datetime.now(UTC).timestamp() - 1

    def lines(self, lines: list[str], is_measured: bool = False) -> list[str]:
        text = "\n".join(lines).replace(str(self.checkout), "CHECKOUT")
        for pattern, replacement, _ in RULES + (MEASURED if is_measured else []):
            text = re.sub(pattern, replacement, text)
        text = EPOCH.sub(lambda found: self._now(found[0], float(found[0])), text)
        return TIME.sub(self._time, text).split("\n")

    def _time(self, found: re.Match[str]) -> str:
        at = datetime.fromisoformat(f"{found[1]} {found[2]}+00:00").timestamp()
        return self._now(found[0], at + (59 if len(found[2]) == len("00:00") else 0))

    def _now(self, text: str, at: float) -> str:
        """Replace times since the recording began; those of the homes stay."""
        return "NOW" if at >= self._since and at < self._since + 86_400 else text
