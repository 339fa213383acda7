import os

from _wire import play_hog


def hog():
    for number in range(20):
        descriptor = os.memfd_create(str(number))
        for _ in range(40):
            os.write(descriptor, b"x" * 1_000_000)


play_hog(hog)
