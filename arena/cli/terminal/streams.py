"""The terminal and its keys, the standard streams, which may be closed or full, and the exit codes."""

from __future__ import annotations

import io
import os
import select
import shutil
import sys
import termios
import tty
from types import TracebackType
from typing import Any

from arena.base.errors import UsageError

STDIN, STDOUT, STDERR = 0, 1, 2

OK, FAILED, WRONG_USE, INTERRUPTED, READER_GONE = 0, 1, 2, 130, 141
"""Exit codes: all is well; a check or a match failed; wrong use; interrupted; the reader of the output has gone."""

MIN_WIDTH = 40
USUAL_WIDTH = 80


def terminal_width() -> int:
    """Return the width of the terminal; 80 without one."""
    return max(MIN_WIDTH, shutil.get_terminal_size((USUAL_WIDTH, 24)).columns)


def terminal_height() -> int:
    """Return the height of the terminal; 24 without one."""
    return shutil.get_terminal_size((USUAL_WIDTH, 24)).lines


def has_colours() -> bool:
    """Return whether stdout is a terminal with colours, and $NO_COLOR is not set."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


def fill_closed_streams() -> bool:
    """Put the null device in the place of standard streams that are closed, or the next file we open, such as the
    database, would get the number of one of them and be printed into.
    """
    was_open = True
    for descriptor in (STDIN, STDOUT, STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
            was_open = was_open and descriptor != STDOUT
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - as long as the program
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    return was_open


class OutputError(UsageError):
    """The output can't be written: the disk is full, or the terminal is gone."""


class _Output(io.FileIO):
    """The standard output. After the first error the rest is discarded, so that the interpreter does not report it
    again when it ends."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
            if isinstance(error, BrokenPipeError):
                raise
            raise OutputError(f"the output can't be written: {error.strerror}") from error


def watch_output() -> None:
    """Replace the standard output by one whose errors can be distinguished from those of other files."""
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Output(STDOUT, "w", closefd=False)),
        encoding=sys.stdout.encoding,
        line_buffering=sys.stdout.isatty(),
    )


_NAMES_OF_KEYS = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1b[C": "right",
    "\x1b[D": "left",
    "\x1b[H": "home",
    "\x1b[F": "end",
    "\x1b[1~": "home",
    "\x1b[4~": "end",
    "\x1b": "escape",
    "\r": "enter",
    "\n": "enter",
    " ": "space",
    "\x7f": "backspace",
    "\b": "backspace",
    "\x04": "escape",
}


class Keys:
    """Reads keys one by one as long as it is entered, and puts the terminal back afterwards."""

    def __enter__(self) -> Keys:
        self._descriptor = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._descriptor)
        tty.setcbreak(self._descriptor, termios.TCSANOW)  # keeps what was typed ahead
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)

    def read(self, seconds: float | None = None) -> str | None:
        """Return the next key: a letter, or a name such as "left"; "escape" at the end of input."""
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return None
        text = os.read(self._descriptor, 1)
        if text == b"\x1b":
            while select.select([self._descriptor], [], [], 0.02)[0] and len(text) < 4:
                text += os.read(self._descriptor, 1)
                if text[-1:].isalpha() or text[-1:] == b"~":
                    break
        key = text.decode(errors="replace")
        return _NAMES_OF_KEYS.get(key, key) if key else "escape"
