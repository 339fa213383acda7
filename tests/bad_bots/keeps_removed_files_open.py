import os
import time

from _wire import play

kept = []


def hoard(message):
    try:
        for number in range(40):
            path = os.path.join(os.environ["TMPDIR"], str(number))
            kept.append(os.open(path, os.O_CREAT | os.O_WRONLY))
            os.unlink(path)
            os.write(kept[-1], b"x" * 1_000_000)
    except OSError:
        pass
    time.sleep(0.6)
    raise SystemExit("enough: nobody held me")


play(hoard)
