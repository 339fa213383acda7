import os
import time

from _wire import play


def hide(message):
    place = os.path.join(os.environ["TMPDIR"], "closed")
    os.mkdir(place)
    try:
        for number in range(40):
            with open(os.path.join(place, str(number)), "wb") as file:
                file.write(b"x" * 1_000_000)
                os.chmod(place, 0o300)
    except OSError:
        pass
    os.chmod(place, 0)
    time.sleep(0.6)
    raise SystemExit("enough: nobody held me")


play(hide)
