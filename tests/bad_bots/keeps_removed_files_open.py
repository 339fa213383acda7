import os

from _wire import play_hog

kept = []


def hoard():
    for number in range(40):
        path = os.path.join(os.environ["TMPDIR"], str(number))
        kept.append(os.open(path, os.O_CREAT | os.O_WRONLY))
        os.unlink(path)
        os.write(kept[-1], b"x" * 1_000_000)


play_hog(hoard, 0.6)
