import os
import time
from pathlib import Path

from _wire import play


def hog(message):
    try:
        for number in range(100):
            Path(os.environ["TMPDIR"], str(number)).write_bytes(b"x" * 1_000_000)
    except OSError:
        pass
    time.sleep(0.6)
    raise SystemExit("enough: nobody held me")


play(hog)
