import os
import time

from _wire import play


def nest(message):
    os.chdir(os.environ["TMPDIR"])
    for _ in range(3000):
        os.mkdir("d")
        os.chdir("d")
    time.sleep(0.6)
    raise SystemExit("enough: nobody held me")


play(nest)
