"""How a program that keeps a tournament going ends on SIGTERM: the matches that are being played may end first."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from types import FrameType

from arena.base.programs.service_program import TerminatedError

LEAVING_SECONDS = 0.75
"""How long matches that are being played may still take; what then has no record is played by the next run. Whoever
upgrades or restarts the arena waits for it.
"""


class Leaving:
    """Whether the program is to end.

    Attributes:
        is_asked: whether it is.
    """

    def __init__(self) -> None:
        self.is_asked = False
        self._pipe: tuple[int, int] | None = None

    def on_sigterm(self, seconds: float = LEAVING_SECONDS) -> None:
        """Take SIGTERM as the wish to end: after some seconds, or at the second one, as it would without this."""
        earlier = signal.getsignal(signal.SIGTERM)
        interrupt = earlier if callable(earlier) else _interrupt

        def leave(number: int, frame: FrameType | None) -> None:
            if self.is_asked:
                interrupt(number, frame)
                return
            self.is_asked = True
            os.write(into, b".")  # else what waits would wait on: Python resumes it
            timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGTERM))
            timer.daemon = True
            timer.start()

        self._pipe = _, into = os.pipe()
        signal.signal(signal.SIGTERM, leave)

    def sleep(self, seconds: float) -> None:
        """Wait, but not for longer than until the program is to end."""
        if self._pipe is None:
            time.sleep(0.0 if self.is_asked else seconds)
            return
        woken = select.poll()
        woken.register(self._pipe[0], select.POLLIN)
        woken.poll(1000.0 * max(0.0, seconds))


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise TerminatedError
