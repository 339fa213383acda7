import os

from _wire import play


def hog(message):
    for number in range(20):
        descriptor = os.memfd_create(str(number))
        for _ in range(40):
            os.write(descriptor, b"x" * 1_000_000)
    raise SystemExit("enough: nobody held me")


play(hog)
