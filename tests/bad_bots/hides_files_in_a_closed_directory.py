import os

from _wire import play_hog


def hide():
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


play_hog(hide, 0.6)
