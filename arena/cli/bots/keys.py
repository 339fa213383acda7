"""Single keys from a terminal, with a time limit."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from types import TracebackType

_NAMES = {
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
        tty.setcbreak(self._descriptor, termios.TCSANOW)  # what was typed ahead is not lost
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)

    def read(self, seconds: float | None = None) -> str | None:
        """Return the next key: a letter, or a name such as "left"; "escape" at the end of input.

        Args:
            seconds: how long to wait; None for as long as it takes.

        Returns:
            None if none came in time.
        """
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return None
        text = os.read(self._descriptor, 1)
        if text == b"\x1b":
            while select.select([self._descriptor], [], [], 0.02)[0] and len(text) < 4:
                text += os.read(self._descriptor, 1)
                if text[-1:].isalpha() or text[-1:] == b"~":
                    break
        key = text.decode(errors="replace")
        return _NAMES.get(key, key) if key else "escape"
