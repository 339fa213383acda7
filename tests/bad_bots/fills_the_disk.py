import os
from pathlib import Path

from _wire import play_hog


def hog():
    for number in range(100):
        Path(os.environ["TMPDIR"], str(number)).write_bytes(b"x" * 1_000_000)


play_hog(hog, 0.6)
