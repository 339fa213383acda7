import os

from _wire import play_hog


def nest():
    os.chdir(os.environ["TMPDIR"])
    for _ in range(3000):
        os.mkdir("d")
        os.chdir("d")


play_hog(nest, 0.6)
