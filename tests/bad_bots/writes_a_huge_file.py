import os
import signal
from pathlib import Path

from _wire import play

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def hog(message):
    with Path(os.environ["TMPDIR"], "huge").open("wb") as file:
        for _ in range(100):
            file.write(b"x" * 1_000_000)
    raise SystemExit("enough: nobody held me")


play(hog)
