"""Lines of a log for a program's operator: text or JSON, one line for each event, with the request it belongs to.

A message may have text of strangers: control characters are escaped, and everything is bounded.
"""

from __future__ import annotations

import json
import logging
import os
from contextvars import ContextVar
from datetime import UTC, datetime

from arena.base.errors import UsageError
from arena.base.programs.systemd import is_journal

TEXT, JSON = "text", "json"
FORMATS = (TEXT, JSON)
FORMAT_VARIABLE = "ARENA_LOG_FORMAT"
"""The environment variable by which a program passes its log format on to the programs that it starts."""

FIELDS = "arena_fields"
"""The attribute of a log record with more fields for JSON."""

STDERR = 2
"""The descriptor."""

PRIORITIES = ((logging.CRITICAL, 2), (logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6))
LEAST_PRIORITY = 7
"""As syslog numbers them."""

MAX_CHARACTERS = 16 * 1024

REQUEST: ContextVar[str] = ContextVar("request", default="")
"""The id of the request that is being answered."""


def set_up_logging(level: int, log_format: str | None = None) -> None:
    """Send warnings of the arena to stderr, in lines of "text" or "json"; None for what the environment says.

    Raises:
        UsageError: if the environment names another format.
    """
    log_format = log_format or os.environ.get(FORMAT_VARIABLE) or TEXT
    if log_format not in FORMATS:
        raise UsageError(f"${FORMAT_VARIABLE} {log_format!r:.40}: expected 'text' or 'json'")
    handler = logging.StreamHandler()
    lines = JsonLines() if log_format == JSON else TextLines()
    handler.setFormatter(JournalLines(lines) if is_journal(STDERR) else lines)
    handler.setLevel(level)
    handler.addFilter(is_no_interruption)
    logging.basicConfig(handlers=[handler])


def is_no_interruption(record: logging.LogRecord) -> bool:
    """Return False for a library's complaint that Ctrl-C or SIGTERM interrupted its work."""
    return not (record.exc_info and isinstance(record.exc_info[1], KeyboardInterrupt | SystemExit))


def escaped(text: str) -> str:
    """Return a text in one line, bounded, and without anything that a terminal would obey."""
    shown = text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in shown
    )


class TextLines(logging.Formatter):
    """A line of text for each event; the lines of a traceback follow it, indented."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of an event."""
        request = f" [{REQUEST.get()}]" if REQUEST.get() else ""
        head = f"{_time_of(record)} {record.levelname} {record.name}{request}: {escaped(record.getMessage())}"
        return "\n    ".join([head, *(escaped(line) for line in self._traceback(record).splitlines())])

    def _traceback(self, record: logging.LogRecord) -> str:
        return self.formatException(record.exc_info)[-MAX_CHARACTERS:] if record.exc_info else ""


class JsonLines(logging.Formatter):
    """A JSON object in a line for each event."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of an event."""
        fields = {
            "at": _time_of(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": escaped(record.getMessage()),
            **({"request": REQUEST.get()} if REQUEST.get() else {}),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)[-MAX_CHARACTERS:]
        return json.dumps(fields)


class JournalLines(logging.Formatter):
    """The lines of another formatter, each with the priority by which ``journalctl -p`` finds it."""

    def __init__(self, lines: logging.Formatter) -> None:
        super().__init__()
        self._lines = lines

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of an event."""
        priority = next((number for level, number in PRIORITIES if record.levelno >= level), LEAST_PRIORITY)
        return "\n".join(f"<{priority}>{line}" for line in self._lines.format(record).split("\n"))


def _time_of(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
