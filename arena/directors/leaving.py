"""How a program that keeps a tournament going ends on SIGTERM: the matches that are being played may end first."""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType

from arena.service_program import TerminatedError

LEAVING_SECONDS = 4.0
"""How long matches that are being played may still take; what then has no record is played by the next run."""

LOOK_SECONDS = 0.2


class Leaving:
    """Whether the program is to end.

    Attributes:
        is_asked: whether it is.
    """

    def __init__(self) -> None:
        self.is_asked = False

    def on_sigterm(self, seconds: float = LEAVING_SECONDS) -> None:
        """Take SIGTERM as the wish to end: after some seconds, or at the second one, by a KeyboardInterrupt."""

        def leave(number: int, frame: FrameType | None) -> None:
            if self.is_asked:
                raise TerminatedError
            self.is_asked = True
            timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGTERM))
            timer.daemon = True
            timer.start()

        signal.signal(signal.SIGTERM, leave)

    def sleep(self, seconds: float) -> None:
        """Wait, but not for longer than until the program is to end."""
        until = time.monotonic() + seconds
        while not self.is_asked and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_SECONDS))
