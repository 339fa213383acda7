import os
import signal
from pathlib import Path

from _wire import play_hog

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def hog():
    with Path(os.environ["TMPDIR"], "huge").open("wb") as file:
        for _ in range(100):
            file.write(b"x" * 1_000_000)


play_hog(hog)
